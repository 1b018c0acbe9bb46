public import Foundation
public import Reprise

extension MediaCache {
    /// Whether every byte of the media at `url`, played with `options`, is on disk; looks into the index, never at the
    /// network.
    ///
    /// False for URLs that are not http or https. Without options `isCached(_:partition:)` of Reprise tells the same.
    public func isCached(_ url: URL, options: PlaybackOptions) async -> Bool {
        guard let resource = try? AssetSource.resource(self, url, options) else { return false }
        return await resource.storedProgress().isComplete
    }

    /// What is stored of the media at `url`, now and after each change: for a buffer bar.
    ///
    /// ```swift
    /// for await progress in cache.progress(of: url) { bar.spans = progress.fractions }
    /// ```
    /// At most one element in 100 ms; ends when the task is cancelled or the cache closed, and at once for URLs that are
    /// not http or https and for options whose headers cannot be sent.
    public func progress(of url: URL, options: PlaybackOptions = PlaybackOptions()) -> PlaybackProgress {
        PlaybackProgress(updates: (try? AssetSource.resource(self, url, options))?.storedProgressUpdates())
    }

    /// Begins to fetch `amount` of the media at `url`, in the background.
    ///
    /// Playback that begins meanwhile joins the fetch. `options` must be those with which it is played.
    @discardableResult
    public func prefetch(
        _ url: URL, _ amount: PrefetchAmount = .first(1 << 20), options: PlaybackOptions = PlaybackOptions()
    ) -> Prefetch {
        let resource = Result { () throws(RepriseError) in try AssetSource.resource(self, url, options) }
        return Prefetch(
            Task(executorPreference: DiskExecutor.shared) {
                guard let resource = try resource.get() else {
                    throw RepriseError(.invalidURL, "Only http and https URLs of single files can be fetched ahead.")
                }
                try await resource.prefetch(amount)
            })
    }

    /// Writes all of the media at `url` to a new file, fetching what is missing.
    ///
    /// Throws ``RepriseError``, `invalidArgument` for headers that cannot be sent among it, or `CancellationError`.
    public func export(_ url: URL, to file: URL, options: PlaybackOptions = PlaybackOptions()) async throws {
        guard let resource = try AssetSource.resource(self, url, options) else {
            throw RepriseError(.invalidURL, "Only http and https URLs of single files can be exported.")
        }
        try await resource.export(to: file.path)
    }

    /// Removes the stored bytes of the media at `url`, played with `options`, also while it plays: its player then fails at
    /// the next hole.
    ///
    /// Returns the bytes freed. Without options `remove(_:partition:)` of Reprise does the same.
    @discardableResult
    public func remove(_ url: URL, options: PlaybackOptions) async throws -> Int64 {
        guard let resource = try AssetSource.resource(self, url, options) else { return 0 }
        return try await remove(resource.key)
    }
}

extension AssetSource {
    /// The resource that plays at `url`; `nil` for what is not cached.
    ///
    /// Throws `invalidArgument` for headers that cannot be sent, and `closed`.
    static func resource(
        _ cache: MediaCache, _ url: URL, _ options: PlaybackOptions
    ) throws(RepriseError) -> MediaResource? {
        guard case .cached(let resourceURL, _) = SourceURL(url) else { return nil }
        return try AssetSource(cache, resourceURL, options).resource()
    }
}

/// What is stored of one file, over time.
public struct PlaybackProgress: AsyncSequence, Sendable {
    /// What is stored.
    public typealias Element = StoredProgress
    /// It never fails.
    public typealias Failure = Never

    let updates: StoredProgressSequence?

    /// Walks through the changes.
    public struct Iterator: AsyncIteratorProtocol {
        var base: StoredProgressSequence.Iterator?

        /// What is stored after the next change; `nil` at the end.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> StoredProgress? {
            await base?.next(isolation: actor)
        }

        /// What is stored after the next change; `nil` at the end.
        public mutating func next() async -> StoredProgress? { await next(isolation: nil) }
    }

    /// Starts with what is stored now.
    public func makeAsyncIterator() -> Iterator { Iterator(base: updates?.makeAsyncIterator()) }
}

/// A fetch ahead of playback.
public struct Prefetch: Sendable {
    private let task: Task<Void, any Error>

    init(_ task: Task<Void, any Error>) { self.task = task }

    /// Ends it; what arrived stays stored.
    public func cancel() { task.cancel() }

    /// Returns when everything wanted is stored.
    ///
    /// Throws ``RepriseError`` or `CancellationError`.
    public func finished() async throws { try await task.value }
}
