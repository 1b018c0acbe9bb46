import ByteRanges

extension MediaResource {
    /// Stores `amount`, and returns when it is on disk.
    ///
    /// Fetches only holes, and pauses while a reader waits for bytes from the same origin in order to play them
    /// (``Demand``). A read that begins during the fetch joins it. Canceling the task ends the fetch; bytes that have
    /// arrived stay stored. Returns immediately if `amount` is empty.
    ///
    /// Streams are preloaded as such if the configuration reads playlists (`downloadsStreams` of `RepriseStreams`);
    /// otherwise a playlist is the file that it is.
    ///
    /// Throws the errors of ``read(_:fields:directives:demand:onInterim:)``, such as `invalidArgument` for a negative
    /// offset; `notStored` if the response must not be stored, and `storageFull` or `storageUnavailable` if it cannot
    /// be; `notDownloadable` for a stream that is live or protected, and for what is no playlist although its
    /// name or media type says so.
    public func preload(_ amount: PreloadAmount) async throws {
        try await preload(amount, arrived: nil)
    }

    /// As ``preload(_:)``; `arrived` is told the length of each piece that the origin sends, also of what is under way
    /// when `amount` is stored.
    ///
    /// Returns which bytes of which files are stored then.
    @discardableResult
    package func preload(
        _ amount: PreloadAmount, arrived: (@Sendable (Int) -> Void)?
    ) async throws -> [CacheKey: ByteRangeSet] {
        let tally = arrived.map { FetchTally($0) }
        let run = PreloadRun(key: key, request: originRequest, amount: amount, engine: engine, tally: tally)
        let stored = try await run.fetch()
        await tally?.settle(within: Self.longestSettling, engine.clock)
        return stored
    }

    /// An origin that is slow to send what is under way is waited for no longer.
    private static let longestSettling = Duration.seconds(1)
}
