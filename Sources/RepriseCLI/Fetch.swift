import ArgumentParser
import ByteRanges
import Foundation
import HTTPTypes
import Primitives
import Reprise

/// `reprise fetch`.
struct Fetch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Download URLs into the cache; only what is missing is fetched.",
        discussion: """
            Stop it at any time: the next run goes on from there. Of a stream, everything is fetched that download \
            takes, and nothing is kept when room is needed; --first takes the beginning, and --playlist-only the \
            playlist. A web page is an error. A file that cannot be stored as a whole is not fetched \
            (exit code 74), unless --output names where to write it.

            Examples:
              reprise fetch https://example.com/film.mp4
              reprise fetch https://example.com/song.mp3 --output song.mp3
              reprise fetch https://example.com/song.mp3 --output - | ffprobe -
              reprise fetch https://example.com/show.m3u8
              reprise fetch --first 10s https://example.com/show.m3u8
              reprise fetch --refresh https://example.com/news.mp3
              reprise fetch --json https://example.com/a.mp3 https://example.com/b.mp3
              reprise fetch --rate 20Mbit --while 02:00-06:00 --from album.m3u
              sort -u urls.txt | reprise fetch --from -
            """)

    @OptionGroup var sources: URLSources

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
            valueName: "amount"), transform: Beginning.read)
    var first: Beginning?

    @Flag(help: "Of a stream, only the playlist itself.")
    var playlistOnly = false

    @Flag(help: "Ask the origin whether a stored file has changed, however fresh it is; of a stream, its playlist.")
    var refresh = false

    @OptionGroup var options: OutputOptions

    @OptionGroup var printed: TransferOutput
    @OptionGroup var headers: HeaderOptions
    @OptionGroup var pace: DownloadOptions
    @OptionGroup var store: StoreOptions
    @OptionGroup var cache: CacheOptions

    func validate() throws {
        if sources.isEmpty { throw ValidationError("Name the URLs to fetch, or a file of them with --from.") }
        if let first, first.isNothing { throw ValidationError("--first takes more than nothing, such as 10s or 5MB.") }
        if output != nil, first != nil {
            throw ValidationError("--output writes whole files, and --first stores beginnings; take one of them.")
        }
        if first != nil, refresh { throw ValidationError("--refresh goes with whole files; leave --first out.") }
        if first != nil, pace.isGiven {
            throw ValidationError(
                "--rate and --while hold for whole files, and --first stores beginnings; take one or the other.")
        }
        if let output {
            if !sources.isSingle { throw ValidationError("--output goes with a single URL.") }
            if output.isEmpty { throw ValidationError("--output is empty; name a file, or - for standard output.") }
            if printed.json, Output.isStandardOutput(output) {
                throw ValidationError("Standard output takes either the media or --json.")
            }
            try Output.refuseTerminal(output)
        }
    }

    func run() async throws {
        let signals = StopSignals()
        try await Failure.reporting {
            let run = try TransferRun(cache: cache, store: store, pace: pace)
            // What can be wrong without a look at the cache comes before it is opened: --reset empties it then.
            let urls = try signals.get(
                await signals.interrupting { try await sources.checked(in: cache, output: printed) })
            let output = try output.map { try Output($0, force: options.force, cache: cache) }
            let file = try signals.get(await signals.interrupting { try await output?.open(signals) })
            let destination = output.flatMap { output in file.map { Destination(place: output, file: $0) } }
            do {
                try await run(signals, mayDoWithout: output != nil) { access in
                    try await TransferRun.each(urls, in: access, output: printed) { url, meter in
                        try await fetch(url, in: access, meter: meter, to: destination)
                    }
                }
            } catch {
                file?.discard()
                throw error
            }
        }
    }

    /// Where the bytes go besides the cache.
    private struct Destination: Sendable {
        let place: Output
        let file: OutputFile
        private let hasBegun = Mutex(false)

        init(place: Output, file: OutputFile) { (self.place, self.file) = (place, file) }

        /// Writes `bytes`.
        ///
        /// Throws if they begin a playlist and the output file has the extension of a media file.
        func append(_ bytes: [UInt8], of url: String) async throws {
            let isFirst = hasBegun.withLock { hasBegun in
                defer { hasBegun = true }
                return !hasBegun
            }
            if isFirst, MediaContainer(extension: place.nameExtension) != nil, StreamText.begins(bytes) {
                throw Failure.Reason(
                    code: ExitCode(64), name: "\(RepriseError.Code.invalidArgument)",
                    message: "\(URLText.name(of: url)) is a playlist and not a film, so nothing is written to "
                        + "\(place.name). To have the film: reprise download URL --output \(place.name)")
            }
            try await file.append(bytes)
        }
    }

    private func fetch(
        _ url: String, in access: CacheAccess, meter: FetchMeter, to output: Destination?
    ) async throws {
        let (names, name) = (try cache.names(store.dropQueryItem), URLText.name(of: url))
        let operation = FetchOperation(
            url: url, first: first?.text, fields: headers.lines, body: output != nil, refresh: refresh ? true : nil,
            names: names)
        let outcome: FetchOperation.Outcome
        do {
            outcome = try await access.perform(
                operation, shownBy: meter, of: url, names: names, advice: "Run the same command again to go on."
            ) { bytes in try await output?.append(bytes, of: url) }
            if let failure = outcome.failure { throw failure.reason }
            try output?.file.finish()
        } catch {
            output?.file.discard()
            if output != nil, let failure = error as? OutputFile.Failure, failure.reason != .readerIsGone {
                throw Failure.reason(failure) ?? error
            }
            throw error
        }
        meter.take(outcome.progress)
        // That nothing can be stored was said when the cache was opened; then the file is all that is wanted.
        let obstacle = access.storeProblem == nil ? outcome.obstacle : nil
        let unstored = obstacle.map { "\(name) is not stored as a whole: \($0)" }
        if let output {
            if printed.json {
                try Terminal.printJSON(meter.report("done"))
            } else {
                try output.place.print(meter.summary)
            }
            guard let unstored else { return }
            throw TransferRun.Unstored(reason: .notStored("\(output.place.name) is complete, but \(unstored)"))
        }
        if let unstored { throw Failure.Reason.notStored(unstored) }
        if outcome.isPlaylist == true, !playlistOnly {
            meter.beginFiles(afterFetching: outcome.progress.bytes - outcome.progress.fromStore)
            try await fetchStream(url, names: names, in: access, meter: meter)
        }
        if printed.json { return try Terminal.printJSON(meter.report("done")) }
        if let first, outcome.isEmpty != true, let count = outcome.fetchedBytes {
            let fetched = count == 0 ? "all of it was stored" : "\(ByteCount(count)) fetched"
            return try Terminal.print("\(name)  first \(first.text): \(fetched)")
        }
        try Terminal.print(meter.summary)
    }

    /// Fetches the files of the stream whose playlist is at `url`, and keeps none of them.
    private func fetchStream(_ url: String, names: Names, in access: CacheAccess, meter: FetchMeter) async throws {
        let operation = DownloadOperation(
            url: url, quality: nil, codec: nil, audio: nil, subtitles: nil, pause: nil, releases: true,
            fields: headers.lines, names: names)
        let outcome = try await access.perform(
            operation, shownBy: meter, of: url, names: names, advice: "Run the same command again to go on.")
        if let failure = outcome.failure { throw failure.reason }
    }
}
