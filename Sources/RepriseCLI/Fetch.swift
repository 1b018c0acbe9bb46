import ArgumentParser
import ByteRanges
import Foundation
import HTTPTypes
import Reprise
import RepriseHTTPClient

/// `reprise fetch`.
struct Fetch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Download URLs into the cache; only what is missing is fetched.",
        discussion: """
            Stop it at any time: the next run goes on from there. A file that cannot be stored as a whole is not fetched,
            unless --output names where to write it; the exit code is 74 in both cases.

            Examples:
              reprise fetch https://example.com/film.mp4
              reprise fetch https://example.com/song.mp3 --output song.mp3
              reprise fetch https://example.com/song.mp3 --output - | ffprobe -
              reprise fetch --first 10s https://example.com/show.m3u8
              reprise fetch --json https://example.com/a.mp3 https://example.com/b.mp3
              reprise fetch --rate 20Mbit --while 02:00-06:00 --from album.m3u
              sort -u urls.txt | reprise fetch --from -
            """)

    @OptionGroup var cache: CacheOptions
    @OptionGroup var store: StoreOptions

    @Argument(help: "URLs to fetch.")
    var urls: [String] = []

    @Option(
        help: ArgumentHelp(
            "Also fetch the URLs in this file, one on each line; - for standard input. May be repeated.",
            discussion: "Blank lines and lines that begin with # are skipped, so that an .m3u of songs is such a file.",
            valueName: "file"))
    var from: [String] = []

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Also write the media file here, for a single URL; - for standard output.",
            discussion: "A file appears when it is whole. A pipe or a device is written in place.", valueName: "file"))
    var output: String?

    @Option(
        help: ArgumentHelp(
            "Only what so many seconds from the beginning need, such as 10s, or the first bytes, such as 5MB.",
            discussion: "Of a stream, the playlists, keys and first segments of the variant that is listed first.",
            valueName: "amount"))
    var first: Beginning?

    @OptionGroup var options: OutputOptions
    @OptionGroup var pace: DownloadOptions

    @Option(
        name: .customLong("header"),
        help: ArgumentHelp(
            "Field sent to the origin, such as \"Authorization: Bearer …\"; may be repeated.", valueName: "field"))
    var headers: [String] = []

    @Flag(help: "Progress and results as one JSON object per line on standard output.")
    var json = false

    func validate() throws {
        if let first, first.isNothing { throw ValidationError("--first takes more than nothing, such as 10s or 5MB.") }
        if output != nil, first != nil {
            throw ValidationError("--output writes whole files, and --first stores beginnings; take one of them.")
        }
        if first != nil, pace.isGiven {
            throw ValidationError(
                "--rate and --while hold for whole files, and --first stores beginnings; take one or the other.")
        }
        if urls.isEmpty, from.isEmpty {
            throw ValidationError("Name the URLs to fetch, or a file of them with --from.")
        }
        if from.contains("") { throw ValidationError("--from is empty; name a file, or - for standard input.") }
        if from.count(where: { $0 == "-" }) > 1 { throw ValidationError("Standard input can be read only once.") }
        if let output {
            if urls.count != 1 || !from.isEmpty { throw ValidationError("--output goes with a single URL.") }
            if output.isEmpty { throw ValidationError("--output is empty; name a file, or - for standard output.") }
            if json, Output.isStandardOutput(output) {
                throw ValidationError("Standard output takes either the media or --json.")
            }
        }
        _ = try HeaderFields.parse(headers)
    }

    func run() async throws {
        let signals = StopSignals()
        try await Failure.reporting {
            var settings = try self.store.configuration(cache)
            try pace.apply(to: &settings, from: cache.settings())
            let aging = Aging(&settings)
            // What can be wrong without a look at the cache comes before it is opened: --reset empties it then.
            let list = try signals.get(await signals.interrupting { try await listed() })
            try check(list)
            let output = try output.map { try Output($0, force: options.force, cache: cache) }
            let file = try signals.get(await signals.interrupting { try await output?.open(signals) })
            let origin = try OriginClient.make(for: cache)
            let store: MediaCache
            do { store = try await cache.open(settings, origin: origin, mayDoWithout: output != nil) } catch {
                file?.discard()
                throw error
            }
            if let reason = store.storeProblem.flatMap({ Failure.reason($0) }) { Failure.report(reason) }
            let result = await signals.interrupting {
                try await fetchAll(list, in: store, to: output.flatMap { output in file.map { (output, $0) } })
            }
            // A limit under which nothing was done is not the cache's.
            if case .success(let outcome) = result, outcome.isVain { try await store.restoreLimit() }
            if case .success(let outcome) = result, !outcome.isVain { await aging.apply(to: store) }
            await store.close()
            await origin.shutdown()
            if let code = try signals.get(result.mapError { stopped($0) }).code { throw code }
        }
    }

    /// The URLs of the command line and of the files.
    private func listed() async throws -> [URLList.Item] {
        var list = URLList(urls)
        for path in from { try await list.add(from: path) }
        guard !list.items.isEmpty else {
            throw RepriseError(
                .invalidArgument,
                "There is no URL in \(from.map { $0 == "-" ? "standard input" : $0 }.joined(separator: ", ")).")
        }
        return list.items
    }

    /// Throws if one of the URLs is none.
    private func check(_ list: [URLList.Item]) throws {
        for item in list {
            do throws(RepriseError) { _ = try ResourceURL(item.url) } catch {
                guard let reason = Failure.reason(error) else { throw error }
                let message = (item.place.map { "\($0): " } ?? "") + reason.message
                let meter = FetchMeter(url: item.url, isJSON: json)
                if json { try Terminal.printJSON(meter.report("failed", error: "\(reason.name): \(message)")) }
                Failure.report(
                    Failure.Reason(code: reason.code, name: reason.name, message: message), of: item.url,
                    amongOthers: list.count > 1 && item.place == nil)
                throw reason.code
            }
        }
    }

    private func stopped(_ error: any Error) -> any Error {
        (error as? StopSignals.StoppedTransfer)?.interruption(cache) ?? error
    }

    private struct Outcome: Sendable {
        /// The first failure's exit code.
        var code: ExitCode?
        /// Nothing was fetched.
        var isVain = true
    }

    /// Fetches one after the other.
    private func fetchAll(
        _ list: [URLList.Item], in cache: MediaCache, to output: (Output, OutputFile)?
    ) async throws -> Outcome {
        var outcome = Outcome()
        for (index, url) in list.map(\.url).enumerated() {
            let turn = list.count > 1 ? FetchMeter.Turn(number: index + 1, count: list.count) : nil
            let meter = FetchMeter(url: url, turn: turn, isJSON: json)
            do {
                try await fetch(url, in: cache, meter: meter, to: output)
                outcome.isVain = false
            } catch {
                // Nothing more can be said where the results go.
                if error is OutputFile.Failure, output == nil { throw error }
                if let failure = error as? OutputFile.Failure, failure.reason == .readerIsGone { throw error }
                guard let reason = Failure.reason(error) else { throw error }
                if json { try Terminal.printJSON(meter.report("failed", error: "\(reason.name): \(reason.message)")) }
                Failure.report(reason, of: url, amongOthers: list.count > 1)
                outcome.code = outcome.code ?? reason.code
            }
        }
        return outcome
    }

    private func fetch(
        _ url: String, in cache: MediaCache, meter: FetchMeter, to output: (place: Output, file: OutputFile)?
    ) async throws {
        let resource = try cache.resource(for: url, fields: HeaderFields.parse(headers))
        if let first { return try await first.fetch(resource, in: cache, name: URLText.name(of: url), meter: meter) }
        let transfer = Transfer(
            resource: resource, name: URLText.name(of: url), meter: meter, downloads: cache.downloads)
        let obstacle: StorageObstacle?
        do {
            obstacle = try await meter.showing { try await transfer.run(into: output?.file) }
            try output?.file.finish()
        } catch {
            output?.file.discard()
            // What a canceled task fails with is no failure of the origin's.
            guard error is CancellationError || Task.isCancelled else { throw error }
            if json { try Terminal.printJSON(meter.report("interrupted")) }
            throw StopSignals.StoppedTransfer(
                key: resource.key, name: transfer.name, advice: "Run the same command again to go on.")
        }
        // That nothing can be stored was said when the cache was opened; then the file is all that is wanted.
        if let obstacle, output == nil || cache.storeProblem == nil {
            let written = output.map { "\($0.place.name) is complete, but " } ?? ""
            throw Failure.Reason.notStored("\(written)\(transfer.name) is not stored as a whole: \(obstacle.advice)")
        }
        if json { return try Terminal.printJSON(meter.report("done")) }
        if let output { try output.place.print(meter.summary) } else { try Terminal.print(meter.summary) }
    }
}

/// One file on its way into the cache and, where one is named, into a file.
private struct Transfer: Sendable {
    let resource: MediaResource
    let name: String
    let meter: FetchMeter
    /// Their hours are those of this file, too.
    let downloads: Downloads

    /// A body whose length is not known is compared with the limits after so many bytes each.
    private static let judgedBytes: Int64 = 1 << 20

    /// Fetches what is missing; returns why not all of it is stored, or `nil` if all of it is.
    ///
    /// Without `file` it ends as soon as that is known: nothing else wants the bytes.
    func run(into file: OutputFile?) async throws -> StorageObstacle? {
        try await waitForHours()
        let stored = await resource.storedProgress().ranges.byteCount
        let whole = try await resource.readWhole()
        let read = whole.read
        defer { read.cancel() }
        // Of an empty file there is nothing to store, whatever the store makes of it.
        if read.passedThrough?.isEmptyFile == true {
            meter.begin(total: 0, stored: 0)
            while try await read.next() != nil {}
            return nil
        }
        meter.begin(total: read.count, stored: whole.obstacle == nil ? stored : 0)
        var obstacle = whole.obstacle
        var (bytes, judged): (Int64, Int64) = (0, 0)
        while true {
            if let obstacle, file == nil {
                throw Failure.Reason.notStored("\(name) cannot be stored as a whole: \(obstacle.advice)")
            }
            guard let count = try await step(read, to: file) else { break }
            bytes += Int64(count)
            meter.note(bytes: bytes, fromStore: read.servedBytes(from: .store))
            try meter.checkOutput()
            if obstacle == nil { obstacle = await resource.obstacle(of: read) }
            if obstacle == nil, read.count == nil, bytes - judged >= Self.judgedBytes {
                judged = bytes
                if await resource.obstacle(toStoring: bytes) != nil { obstacle = await resource.obstacleToMore() }
            }
        }
        if obstacle == nil, await !resource.storedProgress().isComplete {
            obstacle = await resource.obstacle(toStoring: bytes) ?? .store(reason: "parts of it were evicted.")
        }
        if obstacle == nil { obstacle = await resource.loss() }
        return obstacle
    }

    /// Waits until something may be downloaded: what is not read is not fetched far ahead.
    private func waitForHours() async throws {
        guard let reason = downloads.closing else { return }
        meter.wait(because: reason)
        try await downloads.waitUntilOpen()
        meter.goOn()
    }

    /// Takes the next piece, and writes it if there is a file; returns its length, or `nil` at the end.
    private func step(_ read: MediaRead, to file: OutputFile?) async throws -> Int? {
        try await waitForHours()
        guard let file else { return try await read.next()?.count }
        guard let bytes = try await read.nextBytes() else { return nil }
        try await file.append(bytes)
        return bytes.count
    }
}

extension HTTPResponse {
    /// A response that says that there is a file, and that it has no bytes.
    fileprivate var isEmptyFile: Bool { status == .ok && headerFields[.contentLength] == "0" }
}
