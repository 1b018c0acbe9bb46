import HTTPSemantics
import Primitives

/// How a stored response came to be used after the origin was asked.
struct Confirmation: Sendable {
    /// Why the origin was asked.
    let reason: CacheStatus.ForwardReason
    /// The status of its answer; `nil` if it did not answer.
    let status: Int?
}

/// The wait for the response head that determines what a resource is.
///
/// Its lock is a leaf.
final class Lookup: Sendable {
    /// The result of a lookup.
    enum Found: Sendable {
        /// The state changed: look again.
        case changed
        /// It failed with an error that applies to another reader only: ask the origin yourself.
        case failed
        /// The stored generation was just validated and may be used.
        case confirmed(Generation, Confirmation)
    }

    private struct State {
        /// The demand classes of the readers that need it, by place; the leader has the first place.
        var demands: [UInt64: Demand]
        var next: UInt64 = leader + 1
    }

    private static let leader: UInt64 = 0

    /// The request to the origin.
    private let request: OriginRequest
    private let isShared: Bool
    private let result = Promise<Result<Found, RepriseError>>()
    private let state: Mutex<State>
    /// How much the response is wanted; a request that was not sent yet is withdrawn when the last waiter leaves.
    let interest: RequestInterest

    /// Creates a lookup for a leader that sends `request` and then calls ``waitAsLeader()``.
    init(asking request: OriginRequest, isShared: Bool) {
        self.request = request
        self.isShared = isShared
        state = Mutex(State(demands: [Self.leader: request.demand]))
        interest = RequestInterest(request.demand)
    }

    /// Whether the origin is asked the same as by `other`.
    func asksTheSame(as other: OriginRequest) -> Bool { request.asksTheSame(as: other) }

    /// Number of readers that wait for it.
    var waiters: Int { state.withLock { $0.demands.count } }

    /// Returns when the lookup is over; throws its error if that applies to a reader who would have sent `request`.
    func wait(_ request: OriginRequest) async throws -> Found {
        let place = changeWaiters { state in
            defer { state.next += 1 }
            state.demands[state.next] = request.demand
            return state.next
        }
        return try await wait(at: place, request: request)
    }

    /// Waits on behalf of the reader that began the lookup.
    func waitAsLeader() async throws -> Found { try await wait(at: Self.leader, request: request) }

    /// Changes who waits, and passes the highest class on; once a fetch has the response, the interest belongs to it.
    ///
    /// The class is set under the lock: of two changes at once, the request must not keep that of the first.
    private func changeWaiters<Result: Sendable>(_ change: (inout State) -> Result) -> Result {
        let (result, notice) = state.withLock { state in
            let result = change(&state)
            return (result, interest.propose(state.demands.values.max()))
        }
        notice?.tell()
        return result
    }

    private func wait(at id: UInt64, request: OriginRequest) async throws -> Found {
        defer { changeWaiters { $0.demands[id] = nil } }
        return try outcome(try await result.wait(), for: request).get()
    }

    func finish(_ result: Result<Found, RepriseError>) { self.result.fulfill(result) }

    private func outcome(
        _ result: Result<Found, RepriseError>, for other: OriginRequest
    ) -> Result<Found, any Error> {
        if case .failure(let error) = result, !error.concerns(other, asked: request, isShared: isShared) {
            return .success(error.isOfOneRange ? .changed : .failed)
        }
        return result.mapError { $0 }
    }
}
