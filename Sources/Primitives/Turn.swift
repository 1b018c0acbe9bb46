/// Admits one caller at a time, in order of arrival.
///
/// The lock is a leaf; continuations are resumed outside it.
package final class Turn: Sendable {
    private struct State {
        var isTaken = false
        var lastNumber: UInt64 = 0
        var waiting: [(number: UInt64, continuation: CheckedContinuation<Void, any Error>)] = []
    }

    private let state = Mutex(State())

    /// Creates a turn that is free.
    package init() {}

    /// Waits until no other caller is admitted; the caller must then call ``leave()``.
    ///
    /// Throws `CancellationError` when the task is canceled during the wait.
    package func take() async throws {
        let number = state.withLock { state -> UInt64? in
            guard state.isTaken else {
                state.isTaken = true
                return nil
            }
            state.lastNumber += 1
            return state.lastNumber
        }
        guard let number else { return }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { wait($0, number: number) }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0) }
            }
            waiter?.continuation.resume(throwing: CancellationError())
        }
    }

    private func wait(_ continuation: CheckedContinuation<Void, any Error>, number: UInt64) {
        let result = state.withLock { state -> Result<Void, any Error>? in
            // A later cancellation finds the caller in the queue; an earlier one is detected here.
            if Task.isCancelled { return .failure(CancellationError()) }
            guard state.isTaken else {
                state.isTaken = true
                return .success(())
            }
            state.waiting.append((number, continuation))
            return nil
        }
        if let result { continuation.resume(with: result) }
    }

    /// Admits the next caller.
    package func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, any Error>? in
            guard !state.waiting.isEmpty else {
                state.isTaken = false
                return nil
            }
            return state.waiting.removeFirst().continuation
        }
        next?.resume()
    }
}
