import Locks

/// Keys whose generations are being removed from the index; their records must not be loaded until that is done.
///
/// The lock is a leaf.
final class RemovalGate: Sendable {
    private struct State {
        var counts: [CacheKey: Int] = [:]
        var waiters: [CacheKey: [CheckedContinuation<Void, Never>]] = [:]
    }

    private let state = Mutex(State())

    /// Begins a removal of the entry under `key`; must be called before another live resource for the key can be made.
    func begin(_ key: CacheKey) { state.withLock { $0.counts[key, default: 0] += 1 } }

    /// Ends that removal.
    func end(_ key: CacheKey) {
        let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            guard let count = state.counts[key] else { return [] }
            state.counts[key] = count > 1 ? count - 1 : nil
            return count > 1 ? [] : state.waiters.removeValue(forKey: key) ?? []
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Returns when nothing under `key` is being removed.
    func pass(_ key: CacheKey) async {
        while state.withLock({ $0.counts[key] != nil }) {
            await withCheckedContinuation { continuation in
                let isClosed = state.withLock { state in
                    guard state.counts[key] != nil else { return false }
                    state.waiters[key, default: []].append(continuation)
                    return true
                }
                if !isClosed { continuation.resume() }
            }
        }
    }
}
