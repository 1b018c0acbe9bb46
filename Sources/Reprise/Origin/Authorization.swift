public import HTTPTypes
import Primitives

/// What a request to an origin needs besides its own URL and fields: a fresh token, or a URL with a new signature.
public struct Authorization: Sendable {
    /// Request fields that replace those of the same name.
    public var fields: HTTPFields
    /// The URL that is asked instead; `nil` for the resource's own.
    ///
    /// The cache key stays the same.
    public var url: ResourceURL?

    /// Creates an authorization.
    public init(fields: HTTPFields = [:], url: ResourceURL? = nil) { (self.fields, self.url) = (fields, url) }
}

/// Asks a program for an ``Authorization`` (``MediaCache/Configuration/authorize``).
public struct AuthorizationRequest: Sendable {
    /// Why it is asked.
    public enum Reason: Sendable, Hashable {
        /// A download begins, or goes on after a restart: request fields are not recorded.
        case downloadStarts
        /// The origin answered with this status: 401, 403 or 407.
        case refused(status: Int)
    }

    /// The key of the resource.
    public let key: CacheKey
    /// The URL of the resource, as the program named it.
    public let url: ResourceURL
    /// Why it is asked.
    public let reason: Reason

    /// Creates a question, as a test of a program's answers needs it.
    public init(key: CacheKey, url: ResourceURL, reason: Reason) {
        (self.key, self.url, self.reason) = (key, url, reason)
    }
}

/// The URLs that request fields are good for which were given for one of them: those in its folder and below it, at the
/// same origin, as for Basic authentication (RFC 7617 §2.2), and in the same partition.
struct AuthorizationScope: Hashable, Sendable {
    private let partition: String?
    private let scheme: ResourceURL.Scheme
    private let authority: String
    /// The path up to its last slash.
    private let folder: Substring

    /// Folders around a URL that are looked at: the innermost ones count in a path with more.
    private static let mostFolders = 32

    private init(_ url: ResourceURL, partition: String?, folder: Substring) {
        (self.partition, self.folder) = (partition, folder)
        (scheme, authority) = (url.scheme, url.authority)
    }

    /// The scope of what is given for `url`.
    init(of url: ResourceURL, in partition: String?) {
        self.init(url, partition: partition, folder: Self.folder(Self.path(of: url)))
    }

    /// The scopes that `url` lies in, from its own folder outwards.
    static func scopes(of url: ResourceURL, in partition: String?) -> [Self] {
        var scopes: [Self] = []
        var rest = path(of: url)
        while scopes.count < mostFolders, rest.contains("/") {
            let folder = folder(rest)
            scopes.append(Self(url, partition: partition, folder: folder))
            rest = folder.dropLast()
        }
        return scopes
    }

    private static func path(of url: ResourceURL) -> Substring { url.target.prefix { $0 != "?" } }

    private static func folder(_ path: Substring) -> Substring {
        path.lastIndex(of: "/").map { path[...$0] } ?? ""
    }
}

/// Keeps what a program said about authorization, and asks it again when an origin refuses that.
///
/// Requests for one resource that are refused together ask once. Request fields hold for the folder of the URL that was
/// asked about (``AuthorizationScope``): the segments of a stream do not ask one by one. A request is repeated with
/// what is known by then, and once with an answer of its own, so that nothing loops.
final class Authorizer: Sendable {
    private typealias Answer = Promise<Result<Numbered?, RepriseError>>

    private struct Numbered: Sendable {
        let authorization: Authorization
        let number: Int
    }

    private struct State {
        var known: [CacheKey: Numbered] = [:]
        /// The fields that were given for each folder last.
        var fields: [AuthorizationScope: Numbered] = [:]
        var questions: [CacheKey: Question] = [:]
        var lastNumber = 0

        /// The newest authorization for `request`: its own, or the fields of a folder that it lies in.
        func newest(for request: OriginRequest, with key: CacheKey) -> Numbered? {
            var newest = known[key]
            // A signed URL is better than fields that were given for another one.
            if newest?.authorization.url != nil { return newest }
            for scope in AuthorizationScope.scopes(of: request.url, in: key.partition) {
                guard let other = fields[scope], other.number > newest?.number ?? 0 else { continue }
                newest = other
            }
            return newest
        }

        /// The answer that is awaited for another file, in whose folder `request` lies.
        func question(covering request: OriginRequest, except key: CacheKey) -> Answer? {
            guard questions[key] == nil else { return nil }
            let scopes = Set(AuthorizationScope.scopes(of: request.url, in: key.partition))
            return questions.values.first { scopes.contains($0.scope) }?.answer
        }
    }

    private struct Question {
        let answer: Answer
        let scope: AuthorizationScope
    }

    /// Resources and folders whose authorization is kept; beyond it, all are forgotten and asked for again when they
    /// are refused.
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

    /// `request` with what is known of its resource, or of its folder if it has no such fields itself.
    func apply(to request: OriginRequest) -> Authorized {
        guard let key = request.context.key else { return Authorized(request: request, number: nil) }
        let (own, newest) = state.withLock { ($0.known[key], $0.newest(for: request, with: key)) }
        guard let newest else { return Authorized(request: request, number: nil) }
        let names = Set(newest.authorization.fields.map(\.name))
        if own != nil || names.allSatisfy({ request.fields[$0] == nil }) { return Self.apply(newest, to: request) }
        return Authorized(request: request, number: nil)
    }

    private static func apply(_ known: Numbered, to request: OriginRequest) -> Authorized {
        var request = request
        for name in Set(known.authorization.fields.map(\.name)) {
            request.fields[values: name] = known.authorization.fields[values: name]
        }
        if let url = known.authorization.url { request.url = url }
        return Authorized(request: request, number: known.number)
    }

    /// Another authorization for a request that was refused.
    struct Renewal {
        let authorized: Authorized
        /// Whether it was given for this request, so that there is nothing to ask if it is refused, too.
        let isFinal: Bool
    }

    /// `request` with another authorization than that with which `response` was refused; `nil` if it was not refused,
    /// or if there is no other.
    ///
    /// Throws what the program throws, as ``RepriseError`` with code `originRefused`, or `CancellationError`.
    func renewal(
        of request: OriginRequest, sentAs sent: Authorized, after response: OriginResponse
    ) async throws -> Renewal? {
        let status = response.head.status.code
        guard Self.statuses.contains(status), let key = request.context.key else { return nil }
        // It may have been renewed while this request was under way, or is being renewed for another file.
        if let other = state.withLock({ $0.question(covering: request, except: key) }) {
            // What it throws is the other request's.
            do { _ = try await other.wait() } catch { try Task.checkCancellation() }
        }
        let (own, newest) = state.withLock { ($0.known[key], $0.newest(for: request, with: key)) }
        if let newest, newest.number > sent.number ?? 0 {
            return Renewal(authorized: Self.apply(newest, to: request), isFinal: newest.number == own?.number)
        }
        guard let known = try await answer(request, for: key, because: .refused(status: status)) else { return nil }
        return Renewal(authorized: Self.apply(known, to: request), isFinal: true)
    }

    /// Asks before a download begins.
    ///
    /// Throws as ``renewal(of:sentAs:after:)`` does.
    func prepare(_ request: OriginRequest) async throws {
        guard let key = request.context.key else { return }
        _ = try await answer(request, for: key, because: .downloadStarts)
    }

    /// The program's answer; those who ask while it is being asked get the same.
    private func answer(
        _ request: OriginRequest, for key: CacheKey, because reason: AuthorizationRequest.Reason
    ) async throws -> Numbered? {
        let (answer, isFirst) = state.withLock { state in
            if let question = state.questions[key] { return (question.answer, false) }
            let answer = Answer()
            state.questions[key] = Question(
                answer: answer, scope: AuthorizationScope(of: request.url, in: key.partition))
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
                answer.fulfill(result.map { note($0, for: key, at: request.url) })
                state.withLock { $0.questions[key] = nil }
            }
        }
        return try await answer.wait().get()
    }

    private func note(_ authorization: Authorization?, for key: CacheKey, at url: ResourceURL) -> Numbered? {
        guard let authorization else { return nil }
        return state.withLock { state in
            if state.known.count >= Self.capacity { state.known = [:] }
            state.lastNumber += 1
            let known = Numbered(authorization: authorization, number: state.lastNumber)
            state.known[key] = known
            // A URL is one file's, and its fields go with it.
            if authorization.url == nil {
                if state.fields.count >= Self.capacity { state.fields = [:] }
                state.fields[AuthorizationScope(of: url, in: key.partition)] = known
            }
            return known
        }
    }
}
