/// The stored progress of a resource, now and after each change, as an asynchronous sequence.
///
/// Changes that occur while the consumer is busy are merged. Ends when the cache is closed or the consumer's task is
/// canceled.
public struct StoredProgressSequence: AsyncSequence, Sendable {
    /// The stored progress.
    public typealias Element = StoredProgress
    /// The sequence never fails.
    public typealias Failure = Never

    let resource: MediaResource
    let interval: Duration

    /// Iterates over the changes.
    public struct Iterator: AsyncIteratorProtocol {
        private let resource: MediaResource
        private let interval: Duration
        private var changes: AsyncStream<Void>.Iterator
        private var isFirst = true

        init(_ sequence: StoredProgressSequence) {
            resource = sequence.resource
            interval = sequence.interval
            changes = resource.engine.progress.changes(of: resource.key).makeAsyncIterator()
        }

        /// The progress after the next change; `nil` at the end.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> StoredProgress? {
            let isUpdate = !isFirst
            isFirst = false
            if isUpdate {
                guard await changes.next(isolation: actor) != nil else { return nil }
                // A canceled sleep ends the sequence at its next step, because the stream ends with its task too.
                try? await resource.engine.clock.sleep(interval)
                if Task.isCancelled { return nil }
            }
            let progress = await resource.storedProgress()
            // The state of a closed cache is not a change.
            return isUpdate && resource.engine.isClosed ? nil : progress
        }

        /// The progress after the next change; `nil` at the end.
        public mutating func next() async -> StoredProgress? { await next(isolation: nil) }
    }

    /// Starts with the current progress.
    public func makeAsyncIterator() -> Iterator { Iterator(self) }
}
