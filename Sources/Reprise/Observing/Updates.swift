/// A value now and after each change, as an asynchronous sequence.
///
/// Changes that occur while the consumer is busy are merged. Ends when the cache is closed or the consumer's task is
/// canceled.
public struct Updates<Element: Sendable>: AsyncSequence, Sendable {
    /// The sequence never fails.
    public typealias Failure = Never

    private let interval: Duration
    private let clock: CacheClock
    private let changes: @Sendable () -> AsyncStream<Void>
    private let value: @Sendable (_ isUpdate: Bool) async -> Element?

    init(
        every interval: Duration, clock: CacheClock, changes: @escaping @Sendable () -> AsyncStream<Void>,
        value: @escaping @Sendable (_ isUpdate: Bool) async -> Element?
    ) {
        (self.interval, self.clock, self.changes, self.value) = (interval, clock, changes, value)
    }

    /// Iterates over the changes.
    public struct Iterator: AsyncIteratorProtocol {
        private let sequence: Updates
        private var changes: AsyncStream<Void>.Iterator
        private var isFirst = true

        fileprivate init(_ sequence: Updates) {
            self.sequence = sequence
            changes = sequence.changes().makeAsyncIterator()
        }

        /// The value after the next change; `nil` at the end.
        public mutating func next() async -> Element? {
            let isUpdate = !isFirst
            isFirst = false
            if isUpdate {
                guard await changes.next() != nil else { return nil }
                // A canceled sleep ends the sequence at its next step, because the stream ends with its task too.
                try? await sequence.clock.sleep(sequence.interval)
                if Task.isCancelled { return nil }
            }
            return await sequence.value(isUpdate)
        }
    }

    /// Starts with the current value.
    public func makeAsyncIterator() -> Iterator { Iterator(self) }
}
