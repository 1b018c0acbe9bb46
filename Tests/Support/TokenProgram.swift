import HTTPTypes
import Primitives
public import Reprise

/// A program that gives the same token to all that asks, and notes what it was asked.
public final class TokenProgram: Sendable {
    private struct State {
        var token: String
        var questions: [AuthorizationRequest] = []
        var pause: (@Sendable () async -> Void)?
    }
    private let state: Mutex<State>

    /// Creates one that gives `token`.
    public init(_ token: String) { state = Mutex(State(token: token)) }

    /// The reasons of all questions, in their order.
    public var reasons: [AuthorizationRequest.Reason] { state.withLock { $0.questions.map(\.reason) } }

    /// Gives another token from now on, after `pause`.
    public func give(_ token: String, after pause: (@Sendable () async -> Void)? = nil) {
        state.withLock { ($0.token, $0.pause) = (token, pause) }
    }

    /// The answer to a question of the cache.
    public func answer(_ question: AuthorizationRequest) async -> Authorization? {
        let pause = state.withLock { state in
            state.questions.append(question)
            return state.pause
        }
        await pause?()
        return Authorization(fields: [.authorization: state.withLock { $0.token }])
    }
}
