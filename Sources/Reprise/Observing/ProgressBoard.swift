import Primitives

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
