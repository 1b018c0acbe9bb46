import Locks

/// Keys whose generations are being taken out of the catalogue: what it still says of them must not be loaded.
///
/// The lock is a leaf.
final class RemovalGate: Sendable {
    private struct State {
        var counts: [CacheKey: Int] = [:]
        var waiters: [CacheKey: [CheckedContinuation<Void, Never>]] = [:]
    }

    private let state = Mutex(State())

    /// A removal of what is stored under `key` begins, before anybody can make another core for it.
    func begin(_ key: CacheKey) { state.withLock { $0.counts[key, default: 0] += 1 } }

    /// That removal is over.
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
