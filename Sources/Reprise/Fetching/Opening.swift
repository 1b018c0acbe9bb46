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
        /// It came to an error that is another reader's own: ask for yourself.
        case failed
        /// The stored generation was asked about just now and may be used.
        case confirmed(GenerationCore, Confirmation)
    }

    private struct Waiter {
        let request: OriginRequest
        let continuation: CheckedContinuation<Found, any Error>
    }

    private struct State {
        var result: Result<Found, RepriseError>?
        var waiters: [UInt64: Waiter] = [:]
        /// The classes of those who need it, by their places; the leader has the first.
        var demands: [UInt64: Demand]
        var next: UInt64 = leader + 1
    }

    private static let leader: UInt64 = 0

    /// What the origin is asked.
    private let request: OriginRequest
    private let isShared: Bool
    private let state: Mutex<State>
    /// How much the response is wanted: what was not sent when the last waiter leaves is withdrawn.
    let interest: RequestInterest

    /// An opening for a leader who asks `request` and is going to call ``waitAsLeader()``.
    init(asking request: OriginRequest, isShared: Bool) {
        self.request = request
        self.isShared = isShared
        state = Mutex(State(demands: [Self.leader: request.demand]))
        interest = RequestInterest(request.demand)
    }

    /// Whether the origin is asked the same as by `other`.
    func asksTheSame(as other: OriginRequest) -> Bool { request.asksTheSame(as: other) }

    /// Returns when the opening is over; throws its error if that concerns a reader who would have asked `request`.
    func wait(_ request: OriginRequest) async throws -> Found {
        let place = state.withLock { state in
            defer { state.next += 1 }
            state.demands[state.next] = request.demand
            return state.next
        }
        noteDemand()
        return try await wait(at: place, request)
    }

    /// The same for the reader that began it.
    func waitAsLeader() async throws -> Found { try await wait(at: Self.leader, request) }

    /// Once it is over, the response belongs to a fetch, which goes on with the interest.
    private func noteDemand() {
        let (isOver, demand) = state.withLock { ($0.result != nil, $0.demands.values.max()) }
        if !isOver { interest.change(to: demand) }
    }

    private func wait(at id: UInt64, _ request: OriginRequest) async throws -> Found {
        defer {
            state.withLock { $0.demands[id] = nil }
            noteDemand()
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Found, any Error>) in
                let result: Result<Found, any Error>? = state.withLock { state in
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if let result = state.result { return outcome(result, for: request) }
                    state.waiters[id] = Waiter(request: request, continuation: continuation)
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.continuation.resume(throwing: CancellationError())
        }
    }

    func finish(_ result: Result<Found, RepriseError>) {
        let waiters = state.withLock { state in
            state.result = result
            defer { state.waiters = [:] }
            return state.waiters
        }
        for waiter in waiters.values { waiter.continuation.resume(with: outcome(result, for: waiter.request)) }
    }

    private func outcome(
        _ result: Result<Found, RepriseError>, for other: OriginRequest
    ) -> Result<Found, any Error> {
        if case .failure(let error) = result, !error.concerns(other, asked: request, isShared: isShared) {
            return .success(error.isOfOneRange ? .changed : .failed)
        }
        return result.mapError { $0 }
    }
}
