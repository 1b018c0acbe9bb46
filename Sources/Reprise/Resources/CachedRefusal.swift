import HTTPSemantics
import HTTPTypes

/// A response without media that answers further requests for a while; kept in memory only.
///
/// Covers errors with a lifetime of their own and, for a few seconds, those without, so that a player that retries at
/// once does not hammer the origin. It answers requests for the same URL with the same fields. Other fields may differ
/// only in a shared cache, if the origin stated a lifetime and the error is not about authorization (RFC 9111 §4).
struct CachedRefusal: Sendable {
    private enum Term {
        /// The response's own lifetime, in seconds of age.
        case lifetime(Int64)
        /// A pause that the cache chose, on the monotonic clock.
        case pause(until: Duration)
    }

    private let refusal: OriginRefusal
    private let request: OriginRequest
    private let freshness: Freshness
    private let term: Term
    private let needsSameFields: Bool
    /// How many times in a row the origin has failed, including this one.
    private let failures: Int

    /// Maximum length of a body that is kept, in bytes.
    static let maximumBody = 32 << 10

    /// `nil` if the response must not answer other requests.
    ///
    /// `previous` is the answer kept until now; it carries the count of consecutive failures.
    init?(
        _ refusal: OriginRefusal, to request: OriginRequest, after previous: CachedRefusal?, requestTime: Int64,
        at moment: Moment, storage: StoragePolicy, policy: ReusePolicy
    ) {
        let fields = refusal.head.headerFields
        let code = refusal.head.status.code
        let control = CacheControl(fields, isShared: policy.isShared)
        guard refusal.body.count <= Self.maximumBody, Vary(fields)?.isEmpty == true,
            storage.objection(to: control, statusIsUnderstood: Self.understood.contains(code)) == nil,
            !policy.isShared || fields[.setCookie] == nil
        else { return nil }
        freshness = Freshness(
            fields, requestTime: HTTPDate(secondsSince1970: requestTime),
            responseTime: HTTPDate(secondsSince1970: moment.date),
            isShared: policy.isShared)
        guard !freshness.requiresValidation else { return nil }
        failures = Backoff.isFailure(code) ? 1 + (previous?.failures ?? 0) : 0
        if freshness.hasExplicitLifetime || freshness.isHeuristic && Self.mayGuess(code, control: control) {
            guard freshness.lifetime > 0 else { return nil }
            term = .lifetime(freshness.lifetime)
            needsSameFields = !policy.isShared || [401, 403, 407].contains(code)
        } else {
            guard let pause = Backoff.pause(after: code, failures: failures, of: request.url, policy: policy) else {
                return nil
            }
            term = .pause(until: moment.elapsed + pause)
            needsSameFields = true
        }
        self.refusal = refusal
        self.request = request
    }

    /// Whether a heuristic lifetime is allowed for a response with this status (RFC 9110 §15.1, RFC 9111 §4.2.2).
    private static func mayGuess(_ code: Int, control: CacheControl) -> Bool {
        control.isPublic || [203, 204, 300, 301, 308, 404, 405, 410, 414, 501].contains(code)
    }

    /// Final status codes whose caching behavior is understood (RFC 9111 §5.2.2.3).
    private static let understood: Set<Int> = [
        200, 203, 204, 206, 300, 301, 302, 303, 307, 308, 400, 401, 403, 404, 405, 410, 414, 416, 500, 501, 502, 503,
        504,
    ]

    /// Whether the response may be kept at all, judged before its body is read.
    static func isWorthKeeping(_ head: HTTPResponse) -> Bool {
        let isSmall = head.headerFields[.contentLength].flatMap { contentLength($0) }.map { $0 <= maximumBody }
        guard isSmall ?? (head.status.code == 204) else { return false }
        let control = CacheControl(head.headerFields)
        let isExplicit = control.maxAge != nil || control.sharedMaxAge != nil || head.headerFields[.expires] != nil
        return isExplicit || head.headerFields[.lastModified] != nil && mayGuess(head.status.code, control: control)
    }

    /// The answer to `request`; `nil` when its time is over or it belongs to another request.
    func answer(to request: OriginRequest, at moment: Moment) -> OriginRefusal? {
        let age = freshness.currentAge(now: HTTPDate(secondsSince1970: moment.date))
        let isTimely =
            switch term {
            case .lifetime(let lifetime): age < lifetime
            // Downloads and preloads have pauses of their own, and a person who asks for one once more wants an answer.
            case .pause(let end): moment.elapsed < end && request.demand > .preload
            }
        let isMeant =
            needsSameFields
            ? request.asksTheSame(as: self.request)
            : request.url == self.request.url && request.hasCredentials(of: self.request)
        guard isTimely, isMeant else { return nil }
        var refusal = refusal
        refusal.age = .seconds(age)
        return refusal
    }
}
