import Locks

/// Blocks writers from a range whose blocks are being freed; bytes written during that time would be lost.
///
/// The lock is a leaf.
final class PunchGate: Sendable {
    private struct State {
        var ranges: [Range<Int64>] = []
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// Blocks writing in `ranges` from now on.
    func close(_ ranges: [Range<Int64>]) { state.withLock { $0.ranges += ranges } }

    /// Allows writing everywhere again.
    func open() {
        let waiters = state.withLock { state in
            state.ranges = []
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Returns when `range` may be written.
    func pass(_ range: Range<Int64>) async {
        while state.withLock({ $0.ranges.contains { $0.overlaps(range) } }) {
            await withCheckedContinuation { continuation in
                let isClosed = state.withLock { state in
                    guard state.ranges.contains(where: { $0.overlaps(range) }) else { return false }
                    state.waiters.append(continuation)
                    return true
                }
                if !isClosed { continuation.resume() }
            }
        }
    }
}
