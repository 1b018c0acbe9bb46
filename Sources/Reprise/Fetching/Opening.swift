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
        /// The classes of those who need it, by their places; the leader has the first.
        var demands: [UInt64: Demand]
        var next: UInt64 = leader + 1
    }

    private static let leader: UInt64 = 0

    private let state: Mutex<State>
    /// How much the response is wanted: what was not sent when the last waiter leaves is withdrawn.
    let interest: RequestInterest

    /// An opening for a leader of that class, who is going to call ``waitAsLeader()``.
    init(_ demand: Demand) {
        state = Mutex(State(demands: [Self.leader: demand]))
        interest = RequestInterest(demand)
    }

    /// Returns when the opening is over; throws its error.
    func wait(_ demand: Demand) async throws -> Found {
        let place = state.withLock { state in
            defer { state.next += 1 }
            state.demands[state.next] = demand
            return state.next
        }
        noteDemand()
        return try await wait(at: place)
    }

    /// The same for the reader that began it.
    func waitAsLeader() async throws -> Found { try await wait(at: Self.leader) }

    /// Once it is over, the response belongs to a fetch, which goes on with the interest.
    private func noteDemand() {
        let (isOver, demand) = state.withLock { ($0.result != nil, $0.demands.values.max()) }
        if !isOver { interest.change(to: demand) }
    }

    private func wait(at id: UInt64) async throws -> Found {
        defer {
            state.withLock { $0.demands[id] = nil }
            noteDemand()
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
