import HTTPTypes
import Primitives

/// Keeps what a program said about authorization, and asks it again when an origin refuses that.
///
/// Requests for one resource that are refused together ask once. A request is repeated once, so that nothing loops.
final class Authorizer: Sendable {
    private typealias Answer = Promise<Result<Numbered?, RepriseError>>

    private struct Numbered: Sendable {
        let authorization: Authorization
        let number: Int
    }

    private struct State {
        var known: [CacheKey: Numbered] = [:]
        var questions: [CacheKey: Answer] = [:]
        var lastNumber = 0
    }

    /// Resources whose authorization is kept; beyond it, all are forgotten and asked for again when they are refused.
    private static let capacity = 1024
    private static let statuses: Set<Int> = [401, 403, 407]

    private let ask: @Sendable (AuthorizationRequest) async throws -> Authorization?
    /// A leaf lock.
    private let state = Mutex(State())

    init(_ ask: @escaping @Sendable (AuthorizationRequest) async throws -> Authorization?) { self.ask = ask }

    /// A request as it is sent, and which authorization it has; `nil` for none.
    struct Authorized {
        var request: OriginRequest
        let number: Int?
    }

    /// `request` with what is known of its resource.
    func apply(to request: OriginRequest) -> Authorized {
        guard let key = request.key, let known = state.withLock({ $0.known[key] }) else {
            return Authorized(request: request, number: nil)
        }
        return Self.apply(known, to: request)
    }

    private static func apply(_ known: Numbered, to request: OriginRequest) -> Authorized {
        var request = request
        for name in Set(known.authorization.fields.map(\.name)) {
            request.fields[values: name] = known.authorization.fields[values: name]
        }
        if let url = known.authorization.url { request.url = url }
        return Authorized(request: request, number: known.number)
    }

    /// `request` with another authorization than that with which `response` was refused; `nil` if it was not refused,
    /// or if there is no other.
    ///
    /// Throws what the program throws, as ``RepriseError`` with code `originRefused`, or `CancellationError`.
    func renewal(
        of request: OriginRequest, sentAs sent: Authorized, after response: OriginResponse
    ) async throws -> OriginRequest? {
        let status = response.head.status.code
        guard Self.statuses.contains(status), let key = request.key else { return nil }
        if let known = state.withLock({ $0.known[key] }), known.number != sent.number {
            // It was renewed while this request was under way.
            return Self.apply(known, to: request).request
        }
        guard let known = try await answer(request, for: key, because: .refused(status: status)) else { return nil }
        return Self.apply(known, to: request).request
    }

    /// Asks before a download begins.
    ///
    /// Throws as ``renewal(of:sentAs:after:)`` does.
    func prepare(_ request: OriginRequest) async throws {
        guard let key = request.key else { return }
        _ = try await answer(request, for: key, because: .downloadStarts)
    }

    /// The program's answer; those who ask while it is being asked get the same.
    private func answer(
        _ request: OriginRequest, for key: CacheKey, because reason: AuthorizationRequest.Reason
    ) async throws -> Numbered? {
        let (answer, isFirst) = state.withLock { state in
            if let answer = state.questions[key] { return (answer, false) }
            let answer = Answer()
            state.questions[key] = answer
            return (answer, true)
        }
        if isFirst {
            // Not the task of the request, which may be canceled while others wait.
            Task { [self] in
                let question = AuthorizationRequest(key: key, url: request.url, reason: reason)
                let result: Result<Authorization?, RepriseError>
                do { result = .success(try await ask(question)) } catch {
                    result = .failure(
                        RepriseError(
                            .originRefused, "There is no authorization for \(request.url.redacted).", cause: error))
                }
                answer.fulfill(result.map { note($0, for: key) })
                state.withLock { $0.questions[key] = nil }
            }
        }
        return try await answer.wait().get()
    }

    private func note(_ authorization: Authorization?, for key: CacheKey) -> Numbered? {
        guard let authorization else { return nil }
        return state.withLock { state in
            if state.known.count >= Self.capacity { state.known = [:] }
            state.lastNumber += 1
            let known = Numbered(authorization: authorization, number: state.lastNumber)
            state.known[key] = known
            return known
        }
    }
}
