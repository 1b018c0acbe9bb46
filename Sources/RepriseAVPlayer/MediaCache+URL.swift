public import Foundation
public import Reprise

extension MediaCache {
    /// Whether every byte of the media at `url`, played with `options`, is on disk; consults the index, never the
    /// network.
    ///
    /// Of an HLS stream, in a cache that downloads streams as ``forPlayback(directory:origin:configuration:)`` makes
    /// it: whether it plays to its end without a network in at least one quality. False for URLs that are not http or
    /// https, and for HLS without the package's trait `Streams`. Without options, use `isCached(_:partition:)` of
    /// Reprise.
    public func isCached(_ url: URL, options: PlaybackOptions) async -> Bool {
        await (try? AssetSource.playable(self, url: url, options: options))?.isCached ?? false
    }

    /// The stored progress of the file at `url`, now and after each change, for a buffer bar.
    ///
    /// ```swift
    /// for await progress in cache.progress(of: url) { bar.spans = progress.fractions }
    /// ```
    /// At most one element every 100 ms. Ends when the task is canceled or the cache closed, and immediately for URLs
    /// that are not http or https, for HLS streams, or options whose headers cannot be sent. Of a stream, ``downloads``
    /// say how much of its download is stored, and the player's `loadedTimeRanges` what is buffered.
    public func progress(of url: URL, options: PlaybackOptions = PlaybackOptions()) -> PlaybackProgress {
        PlaybackProgress(
            updates: (try? AssetSource.resource(self, url: url, options: options))?.storedProgressUpdates())
    }

    /// The stored progress of the file at `url` in a partition; see ``progress(of:options:)``.
    public func progress(of url: URL, partition: String?) -> PlaybackProgress {
        progress(of: url, options: PlaybackOptions(partition: partition))
    }

    /// Starts to fetch `amount` of the media at `url` in the background.
    ///
    /// Playback that begins during the fetch joins it. `options` must be those used for playback.
    @discardableResult
    public func preload(
        _ url: URL, _ amount: PreloadAmount = .bytes(1 << 20), options: PlaybackOptions = PlaybackOptions()
    ) -> PreloadTask {
        let resource = Result { () throws(RepriseError) in
            try AssetSource.playable(self, url: url, options: options)
        }
        return PreloadTask(
            Task(priority: .userInitiated) {
                guard let resource = try resource.get() else {
                    throw RepriseError(
                        .invalidURL, "Only http and https URLs that play through the cache can be fetched ahead.")
                }
                try await resource.preload(amount)
            })
    }

    /// Writes all of the file at `url` to a new file, fetching missing bytes.
    ///
    /// Throws ``RepriseError``, including `invalidArgument` for headers that cannot be sent and for HLS streams, which
    /// are many files, or `CancellationError`.
    public func export(_ url: URL, to file: URL, options: PlaybackOptions = PlaybackOptions()) async throws {
        if case .stream = SourceURL(url, fileType: options.fileType) {
            throw RepriseError(
                .invalidArgument,
                "A stream is many files, and cannot be exported as one. To play it without a network, add it to the "
                    + "cache's downloads; StreamExport of RepriseStreams writes a folder.")
        }
        guard let resource = try AssetSource.resource(self, url: url, options: options) else {
            throw RepriseError(.invalidURL, "Only http and https URLs can be exported.")
        }
        try await resource.export(to: file.path)
    }

    /// Removes the stored media at `url`, played with `options`, even while it plays; its player then fails at the next
    /// hole.
    ///
    /// Of an HLS stream, in a cache that downloads streams as ``forPlayback(directory:origin:configuration:)`` makes
    /// it, the segments go, too, unless they belong to another one. Returns the bytes freed. Without options
    /// `remove(_:partition:)` of Reprise does the same.
    @discardableResult
    public func remove(_ url: URL, options: PlaybackOptions) async throws -> Int64 {
        guard let resource = try AssetSource.playable(self, url: url, options: options) else { return 0 }
        return try await remove(resource)
    }
}

extension AssetSource {
    /// The file that plays at `url`; `nil` for a stream, and if it is not cached.
    ///
    /// Throws `invalidArgument` for headers that cannot be sent, and `closed`.
    static func resource(
        _ cache: MediaCache, url: URL, options: PlaybackOptions
    ) throws(RepriseError) -> MediaResource? {
        guard case .cached(let resourceURL, _) = SourceURL(url, fileType: options.fileType) else { return nil }
        return try AssetSource(cache, url: resourceURL, options: options).resource()
    }
}

/// A fetch ahead of playback.
public struct PreloadTask: Sendable {
    private let task: Task<Void, any Error>

    init(_ task: Task<Void, any Error>) { self.task = task }

    /// Ends the fetch; bytes that have arrived stay stored.
    public func cancel() { task.cancel() }

    /// Returns when everything requested is stored.
    ///
    /// Throws ``RepriseError`` or `CancellationError`.
    public func finished() async throws { try await task.value }
}

/// The stored progress of one file, over time.
public struct PlaybackProgress: AsyncSequence, Sendable {
    /// The stored progress.
    public typealias Element = StoredProgress
    /// The sequence never fails.
    public typealias Failure = Never

    let updates: Updates<StoredProgress>?

    /// Iterates over the changes.
    public struct Iterator: AsyncIteratorProtocol {
        var base: Updates<StoredProgress>.Iterator?

        /// The progress after the next change; `nil` at the end.
        public mutating func next() async -> StoredProgress? { await base?.next() }
    }

    /// Starts with the current progress.
    public func makeAsyncIterator() -> Iterator { Iterator(base: updates?.makeAsyncIterator()) }
}
