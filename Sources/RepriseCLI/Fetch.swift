import ArgumentParser
import ByteRanges
import Foundation
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
              reprise fetch --json https://example.com/a.mp3 https://example.com/b.mp3
            """)

    @OptionGroup var cache: CacheOptions
    @OptionGroup var store: StoreOptions

    @Argument(help: "URLs to fetch.")
    var urls: [String]

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Also write the media file here, for a single URL; - for standard output.",
            discussion: "A file appears when it is whole. A pipe or a device is written in place.", valueName: "file"))
    var output: String?

    @OptionGroup var options: OutputOptions

    @Option(
        name: .customLong("header"),
        help: ArgumentHelp(
            "Field sent to the origin, such as \"Authorization: Bearer …\"; may be repeated.", valueName: "field"))
    var headers: [String] = []

    @Flag(help: "Progress and results as one JSON object per line on standard output.")
    var json = false

    func validate() throws {
        if let output {
            if urls.count != 1 { throw ValidationError("--output goes with a single URL.") }
            if output.isEmpty { throw ValidationError("--output is empty; name a file, or - for standard output.") }
            if json, Output(output, force: false).isStandardOutput {
                throw ValidationError("Standard output takes either the media or --json.")
            }
        }
        _ = try HeaderFields.parse(headers)
    }

    func run() async throws {
        try await Failure.reporting {
            let signals = StopSignals()
            let origin = NIOOrigin()
            let cache = try await cache.open(store.configuration(cache), origin, mayDoWithout: output != nil)
            if let reason = cache.storeProblem.flatMap({ Failure.reason($0) }) { Failure.report(reason) }
            let result = await signals.interrupting { try await fetchAll(cache, signals) }
            await cache.close()
            await origin.shutdown()
            if let code = try signals.get(result) { throw code }
        }
    }

    /// Fetches one after the other; returns the first failure's exit code.
    private func fetchAll(_ cache: MediaCache, _ signals: StopSignals) async throws -> ExitCode? {
        var code: ExitCode?
        for url in urls {
            let meter = FetchMeter(url: url, isJSON: json)
            do {
                try await fetch(url, cache, meter, signals)
            } catch {
                if let failure = error as? OutputFile.Failure, failure.reason == .readerIsGone { throw error }
                guard let reason = Failure.reason(error) else { throw error }
                if json { try Terminal.printJSON(meter.report("failed", error: "\(reason.name): \(reason.message)")) }
                Failure.report(reason)
                code = code ?? reason.code
            }
        }
        return code
    }

    private func fetch(
        _ url: String, _ cache: MediaCache, _ meter: FetchMeter, _ signals: StopSignals
    ) async throws {
        let resource = try cache.resource(for: url, fields: HeaderFields.parse(headers))
        let output = output.map { Output($0, force: options.force) }
        let file = try await output?.open(signals)
        let transfer = Transfer(resource: resource, name: FetchMeter.name(of: url), meter: meter)
        let obstacle: StorageObstacle?
        do {
            obstacle = try await meter.showing { try await transfer.run(into: file) }
            try file?.finish()
        } catch {
            file?.discard()
            // What a cancelled task fails with is no failure of the origin's.
            guard error is CancellationError || Task.isCancelled else { throw error }
            let message = await transfer.interruption
            if json { try Terminal.printJSON(meter.report("interrupted")) }
            throw StopSignals.Interruption(message: message)
        }
        // That nothing can be stored was said when the cache was opened; then the file is all that is wanted.
        if let obstacle, output == nil || cache.storeProblem == nil {
            let written = output.map { "\($0.name) is complete, but " } ?? ""
            throw Failure.Reason.notStored("\(written)\(transfer.name) is not stored as a whole: \(obstacle.advice)")
        }
        if json { return try Terminal.printJSON(meter.report("done")) }
        if let output { output.print(meter.summary) } else { Terminal.print(meter.summary) }
    }
}

/// One file on its way into the cache and, where one is named, into a file.
private struct Transfer: Sendable {
    let resource: MediaResource
    let name: String
    let meter: FetchMeter

    /// Fetches what is missing; returns why not all of it is stored, or `nil` if all of it is.
    ///
    /// Without `file` it ends as soon as that is known: nothing else wants the bytes.
    func run(into file: OutputFile?) async throws -> StorageObstacle? {
        let stored = await resource.storedProgress().ranges.byteCount
        let whole = try await resource.readWhole()
        let read = whole.read
        defer { read.cancel() }
        meter.begin(total: read.count, stored: whole.obstacle == nil ? stored : 0)
        var obstacle = whole.obstacle
        var bytes: Int64 = 0
        while true {
            if let obstacle, file == nil {
                throw Failure.Reason.notStored("\(name) cannot be stored as a whole: \(obstacle.advice)")
            }
            guard let count = try await step(read, file) else { break }
            bytes += Int64(count)
            meter.note(bytes: bytes, fromStore: read.servedBytes(from: .store))
            if obstacle == nil { obstacle = await resource.obstacle(of: read) }
        }
        if obstacle == nil, await !resource.storedProgress().isComplete {
            obstacle = await resource.obstacle(toStoring: bytes) ?? .store(reason: "parts of it were evicted.")
        }
        return obstacle
    }

    /// Takes the next piece, and writes it if there is a file; returns its length, or `nil` at the end.
    private func step(_ read: MediaRead, _ file: OutputFile?) async throws -> Int? {
        guard let file else { return try await read.next()?.count }
        guard let bytes = try await read.nextBytes() else { return nil }
        try await file.append(bytes)
        return bytes.count
    }

    /// How much is stored, for a run that ended early.
    var interruption: String {
        get async { "Stopped. \(await StoredShare(resource, name)) Run the same command again to go on." }
    }
}
