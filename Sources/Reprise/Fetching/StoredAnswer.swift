import HTTPSemantics
import HTTPTypes

/// A response without media that answers further requests for a while: kept in memory only.
///
/// Errors with a lifetime of their own, and for a few seconds those without, so that a player that asks again at once
/// does not hammer the origin.
struct StoredAnswer: Sendable {
    private let refusal: OriginRefusal
    private let freshness: Freshness
    private let lifetime: Int64

    /// Longest body that is kept, in bytes.
    static let maximumBody = 32 << 10
    /// How long a failing origin is left alone, in seconds.
    private static let breakerTime: Int64 = 2

    /// `nil` if the response must not answer other requests.
    init?(
        _ refusal: OriginRefusal, to request: OriginRequest, requestTime: Int64, now: Int64, storage: StoragePolicy,
        policy: ReusePolicy
    ) {
        let fields = refusal.head.headerFields
        let control = CacheControl(fields, isShared: policy.isShared)
        guard refusal.body.count <= Self.maximumBody, Vary(fields)?.isEmpty == true,
            storage.objection(to: control, statusIsUnderstood: Self.understood.contains(refusal.head.status.code))
                == nil
        else { return nil }
        freshness = Freshness(
            fields, requestTime: HTTPDate(secondsSince1970: requestTime), responseTime: HTTPDate(secondsSince1970: now),
            isShared: policy.isShared)
        guard !freshness.requiresValidation else { return nil }
        let code = refusal.head.status.code
        if freshness.hasExplicitLifetime || freshness.isHeuristic && Self.mayGuess(code, control) {
            lifetime = freshness.lifetime
        } else {
            guard let pause = Self.pause(after: code, of: request.url, policy) else { return nil }
            lifetime = pause
        }
        guard lifetime > 0 else { return nil }
        self.refusal = refusal
    }

    /// How long an origin is not asked again that said this without telling how long it holds, in seconds.
    static func pause(after code: Int, of url: ResourceURL, _ policy: ReusePolicy) -> Int64? {
        switch code {
        case 404, 410:
            let seconds = Int64(policy.negativeLifetime.components.seconds)
            return url.namesPlaylist ? min(1, seconds) : seconds
        case 500, 502, 503, 504: return policy.isShared ? nil : breakerTime
        default: return nil
        }
    }

    /// Whether a lifetime may be guessed for a response with this status (RFC 9110 §15.1, RFC 9111 §4.2.2).
    private static func mayGuess(_ code: Int, _ control: CacheControl) -> Bool {
        control.isPublic || [203, 204, 300, 301, 308, 404, 405, 410, 414, 501].contains(code)
    }

    /// Final status codes whose meaning for caching is known (RFC 9111 §5.2.2.3).
    private static let understood: Set<Int> = [
        200, 203, 204, 206, 300, 301, 302, 303, 307, 308, 400, 401, 403, 404, 405, 410, 414, 416, 500, 501, 502, 503,
        504,
    ]

    /// Whether the response may be kept for others at all, judged before its body is read.
    static func isWorthKeeping(_ head: HTTPResponse) -> Bool {
        let isSmall = head.headerFields[.contentLength].flatMap { contentLength($0) }.map { $0 <= maximumBody }
        guard isSmall ?? (head.status.code == 204) else { return false }
        let control = CacheControl(head.headerFields)
        let isExplicit = control.maxAge != nil || control.sharedMaxAge != nil || head.headerFields[.expires] != nil
        return isExplicit || head.headerFields[.lastModified] != nil && mayGuess(head.status.code, control)
    }

    /// The answer for a request at `now`; `nil` when its time is over.
    func answer(now: Int64) -> OriginRefusal? {
        let age = freshness.currentAge(now: HTTPDate(secondsSince1970: now))
        guard age < lifetime else { return nil }
        var refusal = refusal
        refusal.age = age
        return refusal
    }
}
