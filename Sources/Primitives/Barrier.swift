/// Keeps callers out of areas that are being changed, until they are opened again.
///
/// Areas are keys, or ranges: `isBlocked` says which closed areas block a caller. The lock is a leaf; continuations are
/// resumed outside it.
package final class Barrier<Area: Hashable & Sendable>: Sendable {
    private struct State {
        /// How often each closed area was closed.
        var closed: [Area: Int] = [:]
        var waiters: [(area: Area, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())
    /// Whether a caller of an area has to wait while these are closed.
    private let isBlocked: @Sendable (Area, [Area: Int]) -> Bool

    /// Creates a barrier at which a closed area blocks callers of exactly that area.
    package init() { isBlocked = { area, closed in closed[area] != nil } }

    /// Creates a barrier at which a closed area blocks callers of all areas that `blocks` names for it.
    package init(where blocks: @escaping @Sendable (_ closed: Area, _ area: Area) -> Bool) {
        isBlocked = { area, closed in closed.keys.contains { blocks($0, area) } }
    }

    /// Closes `area` from now on; an area that is closed twice must be opened twice.
    package func close(_ area: Area) { state.withLock { $0.closed[area, default: 0] += 1 } }

    /// Opens `area`; does nothing if it is not closed.
    package func open(_ area: Area) {
        let waiters = state.withLock { state -> [(area: Area, continuation: CheckedContinuation<Void, Never>)] in
            guard let count = state.closed[area] else { return [] }
            state.closed[area] = count > 1 ? count - 1 : nil
            guard count == 1, !state.waiters.isEmpty else { return [] }
            let closed = state.closed
            let end = state.waiters.partition { !isBlocked($0.area, closed) }
            defer { state.waiters.removeSubrange(end...) }
            return Array(state.waiters[end...])
        }
        for waiter in waiters { waiter.continuation.resume() }
    }

    /// Returns when nothing blocks `area`.
    package func pass(_ area: Area) async {
        while state.withLock({ isBlocked(area, $0.closed) }) {
            await withCheckedContinuation { continuation in
                let mustWait = state.withLock { state in
                    guard isBlocked(area, state.closed) else { return false }
                    state.waiters.append((area, continuation))
                    return true
                }
                if !mustWait { continuation.resume() }
            }
        }
    }
}
