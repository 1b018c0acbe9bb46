import HTTPSemantics
import Locks

/// How a stale response came to be used.
struct Confirmation: Sendable {
    /// Why the origin was asked.
    let reason: CacheStatus.ForwardReason
    /// What it answered; `nil` if it did not.
    let status: Int?
}

/// The wait for the head of the response that tells what a resource is.
///
/// Its lock is a leaf.
final class Opening: Sendable {
    /// What is known when it is over.
    enum Found: Sendable {
        /// Look again.
        case changed
        /// The stored generation was asked about just now and may be used.
        case confirmed(GenerationCore, Confirmation)
    }

    private struct State {
        var result: Result<Found, RepriseError>?
        var waiters: [UInt64: CheckedContinuation<Found, any Error>] = [:]
        var next: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Returns when the opening is over; throws its error.
    func wait() async throws -> Found {
        let id = state.withLock { state in
            state.next += 1
            return state.next
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Found, any Error>) in
                let result: Result<Found, any Error>? = state.withLock { state in
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if let result = state.result { return result.mapError { $0 } }
                    state.waiters[id] = continuation
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.resume(throwing: CancellationError())
        }
    }

    func finish(_ result: Result<Found, RepriseError>) {
        let waiters = state.withLock { state in
            state.result = result
            defer { state.waiters = [:] }
            return state.waiters
        }
        for waiter in waiters.values { waiter.resume(with: result.mapError { $0 as any Error }) }
    }
}
