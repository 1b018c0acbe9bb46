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
        case confirmed(LiveGeneration, Confirmation)
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
        let place = state.withLock { state in
            defer { state.next += 1 }
            state.demands[state.next] = request.demand
            return state.next
        }
        noteDemand()
        return try await wait(at: place, request: request)
    }

    /// Waits on behalf of the reader that began the lookup.
    func waitAsLeader() async throws -> Found { try await wait(at: Self.leader, request: request) }

    /// Passes the highest demand on; once the lookup is over, the interest belongs to the fetch that has the response.
    private func noteDemand() {
        let demand = state.withLock { $0.demands.values.max() }
        if !result.isFulfilled { interest.change(to: demand) }
    }

    private func wait(at id: UInt64, request: OriginRequest) async throws -> Found {
        defer {
            state.withLock { $0.demands[id] = nil }
            noteDemand()
        }
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
