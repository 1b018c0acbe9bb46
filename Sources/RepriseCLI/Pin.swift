import ArgumentParser
import Foundation
import Reprise
import RepriseProxy

/// `reprise pin`.
struct Pin: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Keep the stored bytes of URLs, so that they are never evicted.",
        discussion: """
            Fetches nothing: bytes that players and fetch have stored, or store later, are kept. Give a stream's \
            outermost playlist to keep all of its files. With --first, the beginning is fetched and kept, and the rest \
            may be evicted. To fetch and keep everything: reprise download URL.

            What is kept counts toward the limit of the cache. If one URL fails, it stays as it was, and the others \
            follow.

            Examples:
              reprise pin https://example.com/film.mp4
              reprise pin https://example.com/film.mp4 --for 30d
              reprise pin --first 10s https://example.com/show.m3u8
            """)

    @Argument(help: "URLs to keep.")
    var urls: [String]
    @Option(
        name: .customLong("for"),
        help: ArgumentHelp(
            "How long, such as 12h or 30d; more than 0, at most \(TimeSpan(Self.longest).defaultValueDescription).",
            valueName: "time"), transform: TimeSpan.read)
    var time: TimeSpan?
    @Option(
        help: ArgumentHelp(
            "Fetch and keep the beginning only: seconds such as 10s, or bytes such as 5MB.", valueName: "amount"),
        transform: Beginning.read)
    var first: Beginning?
    @Flag(help: "The outcome of each URL that is kept as one JSON object.")
    var json = false
    @OptionGroup var headers: HeaderOptions
    @OptionGroup var store: StoreOptions
    @OptionGroup var cache: CacheOptions

    /// A line of `--json`.
    private struct Report: Encodable {
        let url: String
        let outcome: PinOperation.Outcome
    }

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
        if headers.isGiven, first == nil {
            throw ValidationError("--header goes with --first, which asks the origin.")
        }
        if let first {
            guard time == nil else {
                throw ValidationError("--first keeps a beginning until it is released: leave --for out.")
            }
            guard !first.isNothing else {
                throw ValidationError("--first takes more than nothing, such as 10s or 5MB.")
            }
        }
    }

    func run() async throws {
        let signals = StopSignals()
        try await Failure.reporting {
            let run = try TransferRun(cache: cache, store: store)
            // Before the cache is opened: --reset empties it then.
            let urls = try await cache.behindOwn(urls)
            for url in urls { _ = try ResourceURL(url) }
            let until = time.map { (Date() + $0.duration / .seconds(1)).timeIntervalSince1970 }
            try await run(signals) { access in
                try await TransferRun.each(urls, in: access) { url, meter in
                    try await pin(url, until: until, in: access, meter: meter)
                }
            }
        }
    }

    /// Keeps the stored bytes of one URL, and prints the outcome.
    private func pin(_ url: String, until: Double?, in access: CacheAccess, meter: FetchMeter) async throws {
        let names = try cache.names(store.dropQueryItem)
        let shown = URLText.redacted(url)
        let operation = PinOperation(url: url, until: until, first: first?.text, fields: headers.lines, names: names)
        guard let first else {
            let outcome = try await access.perform(operation)
            return try json
                ? Terminal.printJSON(Report(url: shown, outcome: outcome))
                : Terminal.print(Self.report(outcome, url: shown))
        }
        let outcome = try await access.perform(
            operation, shownBy: meter, of: url, names: names,
            advice: "Run the same command again to go on.")
        if let failure = outcome.failure { throw failure.reason }
        try json
            ? Terminal.printJSON(Report(url: shown, outcome: outcome))
            : Terminal.print(Self.report(outcome, first: first, url: shown))
    }

    /// How much of a beginning is kept.
    private static func report(_ outcome: PinOperation.Outcome, first: Beginning, url shown: String) -> String {
        let stored = "\(shown), \(StoredAmount(outcome.storedBytes))"
        if outcome.staysDownload { return "Kept as a download already: \(stored)" }
        let beginning = "First \(first.amount.text) kept: "
        let report =
            outcome.isWhole
            ? "\(beginning)\(shown). All of it is stored (\(ByteCount(outcome.storedBytes))); the rest may be evicted."
            : beginning + stored
        guard outcome.wasPinned else { return report }
        return report + "\nIt was pinned as a whole: the rest may go now when room is needed."
    }

    /// What is kept of a URL without fetching, and what is not there to be kept.
    private static func report(_ outcome: PinOperation.Outcome, url: String) -> String {
        let stored = "\(url), \(ByteCount(outcome.storedBytes)) stored"
        guard !outcome.staysDownload else { return "Kept as a download already: \(stored)" }
        let limit = outcome.until.map { " until \(TimeSpan.date(Date(timeIntervalSince1970: $0)))" } ?? ""
        let nothing =
            "Pinned\(limit): \(url)\nNothing of it is stored yet, and nothing was fetched: what a player or fetch stores "
            + "of it will be kept. To fetch it: reprise download URL"
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
        abstract: "Allow pinned URLs to be evicted again.",
        discussion: """
            Examples:
              reprise unpin https://example.com/film.mp4
              reprise unpin --drop-query-item sig "https://example.com/film.mp4?sig=1f"
            """)

    @OptionGroup var cache: CacheOptions
    @OptionGroup var names: NameOptions
    @Argument(help: "URLs of the files.")
    var urls: [String]
    @Flag(help: "The outcome as one JSON object.")
    var json = false

    func run() async throws {
        try await Failure.reporting {
            let outcome = try await cache.perform(
                UnpinOperation(urls: try await cache.behindOwn(urls), names: try names.names(cache)))
            if json {
                try Terminal.printJSON(outcome)
            } else {
                for released in outcome.released { try Terminal.print(Self.report(released)) }
            }
            if let missing = outcome.missing {
                throw RepriseError(.notStored, "Nothing is kept under \(URLText.redacted(missing)). See: reprise list")
            }
        }
    }

    /// What was released, and what remains of it.
    private static func report(_ released: UnpinOperation.Outcome.Released) -> String {
        let stored = released.storedBytes > 0 ? "\(ByteCount(released.storedBytes)) stored" : "nothing stored"
        let line = "Released: \(URLText.redacted(released.url)) [\(released.kept)], \(stored)"
        guard released.wasDownload else { return line }
        return line + "\nIt was a download: what is missing is no longer fetched."
    }
}
