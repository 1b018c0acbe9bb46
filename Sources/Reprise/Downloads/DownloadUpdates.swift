/// The downloads of a cache, now and after each change, as an asynchronous sequence.
///
/// Changes that occur while the consumer is busy are merged. Ends when the cache is closed or the consumer's task is
/// canceled.
public struct DownloadUpdates: AsyncSequence, Sendable {
    /// All downloads, in their order.
    public typealias Element = [Download]
    /// The sequence never fails.
    public typealias Failure = Never

    let downloads: Downloads
    let interval: Duration

    /// Iterates over the changes.
    public struct Iterator: AsyncIteratorProtocol {
        private let downloads: Downloads
        private let interval: Duration
        private var changes: AsyncStream<Void>.Iterator
        private var isFirst = true

        init(_ sequence: DownloadUpdates) {
            downloads = sequence.downloads
            interval = sequence.interval
            changes = downloads.changes.makeAsyncIterator()
        }

        /// The downloads after the next change; `nil` at the end.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> [Download]? {
            if isFirst {
                isFirst = false
            } else {
                guard await changes.next(isolation: actor) != nil else { return nil }
                // A canceled sleep ends the sequence at its next step, because the stream ends with its task too.
                await downloads.wait(interval)
                if Task.isCancelled { return nil }
            }
            return await downloads.list()
        }

        /// The downloads after the next change; `nil` at the end.
        public mutating func next() async -> [Download]? { await next(isolation: nil) }
    }

    /// Starts with the current state.
    public func makeAsyncIterator() -> Iterator { Iterator(self) }
}
