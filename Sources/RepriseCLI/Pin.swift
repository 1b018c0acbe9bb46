import ArgumentParser
import ByteRanges
import Foundation
import Reprise
import RepriseProxy

/// `reprise pin`.
struct Pin: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Keep the stored bytes of URLs, whatever else needs room.",
        discussion: """
            Without --download nothing is fetched: what players and fetch store of a URL is kept. With the URL of a
            stream's outermost playlist, that is all its files. With --download, a stream's playlists, segments and keys
            are fetched, of the variant and the languages that the options name. With --first, the beginning is fetched
            and kept, and the rest may be evicted. What is kept counts against the limit like the rest. When it
            fails, a URL is kept as it was before, and the others follow all the same; a download for which there is no
            room at present waits, with what has come of it.

            Examples:
              reprise pin https://example.com/film.mp4
              reprise pin https://example.com/film.mp4 --for 30d
              reprise pin --first 10s https://example.com/film.mp4 https://example.com/show.m3u8
              reprise pin --download https://example.com/film.mp4
              reprise pin --download --while 02:00-06:00 https://example.com/film.mp4
              reprise pin --download --quality 1080p --audio en,de --subtitles all https://example.com/film.m3u8
            """)

    @OptionGroup var cache: CacheOptions
    @OptionGroup var store: StoreOptions
    @Argument(help: "URLs of the files.")
    var urls: [String]
    @Option(
        name: .customLong("for"),
        help: ArgumentHelp(
            "How long, such as 12h or 30d; more than 0, at most \(TimeSpan(Self.longest).defaultValueDescription).",
            valueName: "time"), transform: TimeSpan.read)
    var time: TimeSpan?
    @Flag(help: "Fetch what is missing, now and, if that is broken off, whenever the cache is opened.")
    var download = false
    @Option(
        help: ArgumentHelp(
            "Fetch and keep the beginning only: seconds such as 10s, or bytes such as 5MB.", valueName: "amount"),
        transform: Beginning.read)
    var first: Beginning?
    @OptionGroup var stream: StreamOptions
    @OptionGroup var headers: HeaderOptions
    @OptionGroup var pace: DownloadOptions

    /// A thousand years: calendars and the formats of dates go on for longer.
    private static let longest = Duration.seconds(365_000 * 86_400)

    func validate() throws {
        if urls.isEmpty { throw ValidationError("Name the URLs to keep.") }
        if let time, time.duration <= .zero {
            throw ValidationError("--for takes a time above zero, such as 12h or 30d.")
        }
        if let time, time.duration > Self.longest {
            throw ValidationError(
                "--for takes at most \(TimeSpan(Self.longest).defaultValueDescription); leave it out to keep the URLs "
                    + "until they are released.")
        }
        if stream.isGiven, !download {
            throw ValidationError("--quality, --codec, --audio and --subtitles choose what --download fetches.")
        }
        if pace.isGiven, !download { throw ValidationError("--rate and --while go with --download.") }
        if headers.isGiven, !download, first == nil {
            throw ValidationError("--header goes with --download and --first, which ask the origin.")
        }
        if let first {
            guard !download, time == nil else {
                throw ValidationError("--first keeps a beginning until it is released: leave --download and --for out.")
            }
            guard !first.isNothing else {
                throw ValidationError("--first takes more than nothing, such as 10s or 5MB.")
            }
        }
        if download, time != nil { throw ValidationError("A download is kept until it is released: leave --for out.") }
    }

    func run() async throws {
        let signals = StopSignals()
        try await Failure.reporting {
            let run = try TransferRun(cache: cache, store: store, pace: pace)
            // Before the cache is opened: --reset empties it then.
            let urls = try await cache.behindOwn(urls)
            for url in urls { _ = try ResourceURL(url) }
            try await run(signals) { access in try await pinAll(urls, in: access) }
        }
    }

    /// Why a download waits; it stays one.
    private struct Waiting: Error { let reason: Failure.Reason }

    /// Keeps one after the other; one that fails does not stop the others.
    private func pinAll(_ urls: [String], in access: CacheAccess) async throws -> TransferRun.Outcome {
        var outcome = TransferRun.Outcome()
        let until = time.map { (Date() + $0.duration / .seconds(1)).timeIntervalSince1970 }
        for url in urls {
            let report: String
            do {
                report = try await pin(url, until: until, in: access)
                outcome.noteSuccess()
            } catch {
                let waiting = error as? Waiting
                if waiting != nil { outcome.noteSuccess() }
                guard let reason = waiting?.reason ?? Failure.reason(error) else { throw error }
                Failure.report(reason, of: url, amongOthers: urls.count > 1)
                outcome.note(reason)
                continue
            }
            try Terminal.print(report)
        }
        return outcome
    }

    /// Keeps the stored bytes of one URL, or downloads it; returns the line to print.
    private func pin(_ url: String, until: Double?, in access: CacheAccess) async throws -> String {
        let names = try cache.names(store.dropQueryItem)
        let shown = URLText.redacted(url)
        if download { return try await self.download(url, names: names, in: access) }
        let operation = PinOperation(url: url, until: until, first: first?.text, fields: headers.lines, names: names)
        guard let first else { return Self.report(try await access.perform(operation), url: shown) }
        let outcome = try await transfer(
            operation, of: url, names: names, in: access, advice: "Run the same command again to go on.")
        if let failure = outcome.failure { throw failure.reason }
        let stored = "\(shown), \(Self.amount(outcome.storedBytes))"
        if outcome.staysDownload { return "Kept as a download already: \(stored)" }
        let report = "First \(first.amount.text) kept: \(stored)"
        guard outcome.wasPinned else { return report }
        return report + "\nIt was pinned as a whole: the rest may go now when room is needed."
    }

    private func download(_ url: String, names: Names, in access: CacheAccess) async throws -> String {
        let isAlone = if case .opened = access { true } else { false }
        let operation = DownloadOperation(
            url: url, quality: stream.quality, codec: stream.codec, audio: stream.audio, subtitles: stream.subtitles,
            pause: isAlone ? nil : true, fields: headers.lines, names: names)
        let advice =
            isAlone
            ? "The download goes on whenever the cache is opened; or run the same command again."
            : "A download that this command began is paused, unless another one waits for it: to go on, run the same "
                + "command again."
        let outcome = try await transfer(operation, of: url, names: names, in: access, advice: advice)
        if let failure = outcome.failure {
            throw outcome.isWaiting == true ? Waiting(reason: failure.reason) : failure.reason
        }
        return "Downloaded: \(URLText.redacted(url)), \(Self.amount(outcome.storedBytes))"
    }

    /// How much is stored of what was fetched.
    private static func amount(_ bytes: Int64) -> String {
        bytes == 0 ? "the file is empty" : "\(ByteCount(bytes)) stored"
    }

    /// Has `operation` done, and shows how far it is.
    private func transfer<Operation: ControlOperation>(
        _ operation: Operation, of url: String, names: Names, in access: CacheAccess, advice: String
    ) async throws -> Operation.Outcome where Operation.Progress == TransferReport {
        let meter = FetchMeter(url: url, isJSON: false)
        do { return try await access.perform(operation, shownBy: meter) } catch {
            guard error is CancellationError || Task.isCancelled else { throw error }
            if error is StopSignals.Interruption { throw error }
            throw StopSignals.StoppedTransfer(
                key: try meter.key ?? names.policy.key(for: ResourceURL(url)), name: URLText.name(of: url),
                policy: names.policy, advice: advice)
        }
    }

    /// What is kept of a URL without fetching, and what is not there to be kept.
    private static func report(_ outcome: PinOperation.Outcome, url: String) -> String {
        let stored = "\(url), \(ByteCount(outcome.storedBytes)) stored"
        guard !outcome.staysDownload else { return "Kept as a download already: \(stored)" }
        let limit = outcome.until.map { " until \(TimeSpan.date(Date(timeIntervalSince1970: $0)))" } ?? ""
        let nothing =
            "Pinned\(limit): \(url)\nNothing of it is stored yet, and nothing was fetched: what a player or fetch stores "
            + "of it will be kept. To fetch it: reprise pin --download URL"
        let line = outcome.storedBytes > 0 ? "Pinned\(limit): \(stored)" : nothing
        guard outcome.wasDownload else { return line }
        return line + "\nIt was a download and is a pin now: what is missing is no longer fetched."
    }

    /// In the words of the command's options, where `error` says that something cannot be stored.
    ///
    /// `isDownload` says that a download of `resource` waits for that, or has failed.
    static func reason(
        _ error: RepriseError, of resource: MediaResource, isDownload: Bool = false
    ) async -> any Error {
        guard let obstacle = await obstacle(error, to: resource, isDownload: isDownload) else { return error }
        return Failure.Reason.notStored(await unstorable(resource, because: obstacle))
    }

    /// Why `resource` cannot be stored, where `error` says that something cannot; `nil` for other errors.
    static func obstacle(
        _ error: RepriseError, to resource: MediaResource, isDownload: Bool
    ) async -> StorageObstacle? {
        if let obstacle = error.obstacle { return obstacle }
        guard error.code == .storageFull || error.code == .storageUnavailable else { return nil }
        let progress = await resource.storedProgress()
        // The playlist of a stream is there, and another file finds no room. How large the stream is, is not known.
        if isDownload, progress.isComplete, error.code == .storageFull,
            let obstacle = await resource.obstacleToMore(needing: error.range?.upperBound ?? 0)
        {
            return obstacle
        }
        let length = progress.completeLength ?? error.range?.upperBound
        if let obstacle = await resource.obstacle(toStoring: length) { return obstacle }
        guard error.code == .storageFull, let obstacle = await resource.obstacleToMore() else {
            return .store(reason: error.explanation)
        }
        return obstacle
    }

    /// The line that says why `resource` is not stored.
    static func unstorable(_ resource: MediaResource, because obstacle: StorageObstacle) async -> String {
        let advice = await obstacle.advice(for: resource)
        return "\(URLText.name(of: resource.url.description)) cannot be stored as a whole: \(advice)"
    }
}

/// `reprise unpin`.
struct Unpin: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Let URLs go again when room is needed.",
        discussion: """
            Examples:
              reprise unpin https://example.com/film.mp4
              reprise unpin --drop-query-item signature "https://example.com/film.mp4?signature=1f"
            """)

    @OptionGroup var cache: CacheOptions
    @OptionGroup var names: NameOptions
    @Argument(help: "URLs of the files.")
    var urls: [String]

    func run() async throws {
        try await Failure.reporting {
            let outcome = try await cache.perform(
                UnpinOperation(urls: try await cache.behindOwn(urls), names: try names.names(cache)))
            if let missing = outcome.missing {
                throw RepriseError(.notStored, "Nothing is kept under \(URLText.redacted(missing)). See: reprise list")
            }
        }
    }
}
