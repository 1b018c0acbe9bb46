/// Counts what is under way, and wakes those who wait until nothing is.
///
/// The lock is a leaf; continuations are resumed outside it.
package final class IdleWait: Sendable {
    private struct State {
        var count = 0
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// Begins with nothing under way.
    package init() {}

    /// Whether nothing is under way.
    package var isIdle: Bool { state.withLock { $0.count == 0 } }

    /// Something begins.
    package func begin() { state.withLock { $0.count += 1 } }

    /// Something that began has ended.
    package func end() {
        let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            precondition(state.count > 0, "Only what began can end.")
            state.count -= 1
            guard state.count == 0 else { return [] }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Returns at a moment at which nothing is under way; something may have begun again by then.
    package func idle() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if state.count > 0 { state.waiters.append(continuation) }
                return state.count == 0
            }
            if isIdle { continuation.resume() }
        }
    }
}
