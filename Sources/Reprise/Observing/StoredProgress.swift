public import ByteRanges
import Primitives

/// How much of a resource is on disk, for a buffer bar or a download mark.
public struct StoredProgress: Sendable, Equatable {
    /// The stored bytes.
    public var ranges = ByteRangeSet()
    /// Complete length in bytes; `nil` while unknown.
    public var completeLength: Int64?
    /// The counts of the whole cache since it was opened, ``CacheStatistics/bytesSaved`` among them.
    public var statistics = CacheStatistics()

    /// Creates the progress of a resource of which nothing is stored.
    public init() {}

    /// Whether every byte is stored.
    public var isComplete: Bool { completeLength.map { ranges.contains(0..<$0) } ?? false }

    /// The stored fraction of the whole, 0 to 1; 0 while the length is unknown.
    public var fraction: Double {
        guard let completeLength, completeLength > 0 else { return 0 }
        return min(Double(ranges.byteCount) / Double(completeLength), 1)
    }

    /// The stored ranges as fractions of the whole, ascending, each within 0...1; empty while the length is unknown.
    public var fractions: [ClosedRange<Double>] {
        guard let completeLength, completeLength > 0 else { return [] }
        let whole = Double(completeLength)
        return ranges.map { min(Double($0.lowerBound) / whole, 1)...min(Double($0.upperBound) / whole, 1) }
    }
}

extension MediaResource {
    /// The stored progress, without asking the origin; consults the index if the resource has not been used yet.
    ///
    /// If the index cannot be read, nothing counts as stored, and playback fetches.
    public func storedProgress() async -> StoredProgress {
        var progress = StoredProgress()
        progress.statistics = engine.reporter.current
        if let stored = await stored() {
            progress.ranges = stored.ranges
            progress.completeLength = stored.information.completeLength
        }
        return progress
    }

    /// ``storedProgress()`` now and after each change, at most once per `interval`; 100 ms by default.
    public func storedProgressUpdates(every interval: Duration = .milliseconds(100)) -> Updates<StoredProgress> {
        Updates(
            every: interval, clock: engine.clock, changes: { [self] in engine.progress.changes(of: key) }
        ) { [self] isUpdate in
            let progress = await storedProgress()
            // The state of a closed cache is not a change.
            return isUpdate && engine.isClosed ? nil : progress
        }
    }
}

/// Signals listeners when the stored bytes of a resource have changed.
///
/// Without listeners a change costs one lock, which is a leaf.
final class ProgressBoard: Sendable {
    private struct State {
        var listeners: [CacheKey: [UInt64: AsyncStream<Void>.Continuation]] = [:]
        var next: UInt64 = 0
        var isClosed = false
    }

    private let state = Mutex(State())

    /// Reports a change of `key` to the listeners of its resource, whichever variant they follow.
    func changed(_ key: CacheKey) {
        let listeners = state.withLock { state -> [AsyncStream<Void>.Continuation] in
            guard !state.listeners.isEmpty, let listeners = state.listeners[key.primary] else { return [] }
            return Array(listeners.values)
        }
        for listener in listeners { listener.yield() }
    }

    /// A signal for each change from now on; pending changes are merged into one.
    func changes(of key: CacheKey) -> AsyncStream<Void> {
        let key = key.primary
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let id = state.withLock { state -> UInt64? in
            guard !state.isClosed else { return nil }
            state.next += 1
            state.listeners[key, default: [:]][state.next] = continuation
            return state.next
        }
        guard let id else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in self?.remove(id, for: key) }
        return stream
    }

    private func remove(_ id: UInt64, for key: CacheKey) {
        state.withLock { state in
            state.listeners[key]?[id] = nil
            if state.listeners[key]?.isEmpty == true { state.listeners[key] = nil }
        }
    }

    /// Ends every signal.
    func finish() {
        let all = state.withLock { state in
            state.isClosed = true
            defer { state.listeners = [:] }
            return state.listeners.values.flatMap(\.values)
        }
        for listener in all { listener.finish() }
    }
}
