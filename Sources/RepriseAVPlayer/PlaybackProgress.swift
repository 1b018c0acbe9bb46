public import Reprise

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
