import HTTPSemantics
public import HTTPTypes

/// A final response without media: 3xx without a target, 4xx, 5xx.
///
/// Passed on, never stored as media.
public struct OriginRefusal: Sendable {
    /// Status and fields as they came.
    public let head: HTTPResponse
    /// The body, cut after ``maximumBody`` bytes.
    public let body: [UInt8]
    /// Time since the origin generated it, if it was kept from an earlier request; `nil` if it has just arrived.
    public internal(set) var age: Duration?

    /// Maximum number of bytes kept of an error page: 1 MiB.
    public static let maximumBody = 1 << 20

    /// Whether asking again may help: 429, 500, 502, 503, 504.
    var isTransient: Bool { [429, 500, 502, 503, 504].contains(head.status.code) }

    /// `Retry-After` as a duration of at most a day, if the origin sent one in seconds (RFC 9110 §10.2.3).
    package var retryAfter: Duration? {
        guard let value = head.headerFields[.retryAfter], let seconds = CacheControl.seconds(value) else { return nil }
        return .seconds(min(seconds, 86_400))
    }

    /// Reads the body of `response` to its end or to the limit; what comes is counted to `host`.
    static func collect(
        _ response: OriginResponse, of host: String, _ reporter: Reporter
    ) async throws -> OriginRefusal {
        var body: [UInt8] = []
        while body.count < maximumBody, let chunk = try await response.body.next() {
            reporter.countFetched(chunk.count, from: host)
            chunk.withUnsafeBytes { body.append(contentsOf: $0.prefix(maximumBody - body.count)) }
        }
        response.body.cancel()
        return OriginRefusal(head: response.head, body: body, age: nil)
    }
}

extension OriginRequest {
    /// Whether `other` asks the origin for the same: the same URL with the same fields, whatever the range.
    ///
    /// Fields that the engine itself sets are ignored.
    func asksTheSame(as other: OriginRequest) -> Bool {
        url == other.url && networkPolicy == other.networkPolicy && ownFields == other.ownFields
    }

    /// Whether both carry the same credentials, of the kinds defined by HTTP.
    func hasCredentials(of other: OriginRequest) -> Bool {
        [HTTPField.Name.authorization, .proxyAuthorization, .cookie].allSatisfy {
            fields[values: $0] == other.fields[values: $0]
        }
    }

    private var ownFields: HTTPFields {
        var own = fields
        for name in [HTTPField.Name.range, .ifRange, .ifNoneMatch, .ifModifiedSince, .acceptEncoding] {
            own[values: name] = []
        }
        return own
    }

    fileprivate func hasOrigin(of other: OriginRequest) -> Bool {
        url.scheme == other.url.scheme && url.authority == other.url.authority && networkPolicy == other.networkPolicy
    }
}

extension RepriseError {
    /// Whether the error concerns one range only, so that another range may still be available.
    var isOfOneRange: Bool { code == .rangeNotSatisfiable || code == .notStored }

    /// Whether this error, received for `asked`, also applies to a reader who would have sent `other`.
    ///
    /// Failures to make or keep a connection apply to every reader of the same host. The origin's answer applies to
    /// readers who would have sent the same request: credentials, cookies and signed URLs belong to one reader. In a
    /// shared cache a refusal that must not be stored applies to no other reader.
    func concerns(_ other: OriginRequest, asked: OriginRequest, isShared: Bool) -> Bool {
        switch code {
        case .rangeNotSatisfiable, .notStored: false
        case .originUnreachable, .originNotFound, .originTimedOut, .originNotTrusted, .originBodyTruncated,
            .networkUnavailable:
            asked.hasOrigin(of: other)
        case .originRefused:
            asked.asksTheSame(as: other) && (!isShared || refusal?.mayBeShared(asked) == true)
        case .originMisbehaved, .originRedirectRefused, .originForbidden, .invalidURL: asked.asksTheSame(as: other)
        default: true
        }
    }
}

extension OriginRefusal {
    /// Whether a shared cache may give it to another client that sent the same request (RFC 9111 §3, §3.5).
    func mayBeShared(_ request: OriginRequest) -> Bool {
        let storage = StoragePolicy(isShared: true, hasAuthorization: request.fields[.authorization] != nil)
        return head.headerFields[.setCookie] == nil
            && storage.objection(to: CacheControl(head.headerFields, isShared: true)) == nil
    }
}

/// What HTTP clients report about connections, in one wording; `name` is a host with its port, never a query.
extension RepriseError {
    package static func originNotFound(_ host: String, cause: any Error) -> RepriseError {
        RepriseError(
            .originNotFound, "The name \(host) cannot be resolved; check its spelling and the network.", cause: cause)
    }

    package static func originUnreachable(_ name: String, cause: (any Error)?) -> RepriseError {
        RepriseError(
            .originUnreachable, "\(name) cannot be reached; check that it is up and that nothing blocks the way.",
            cause: cause)
    }

    package static func originNotTrusted(_ name: String, cause: (any Error)?) -> RepriseError {
        RepriseError(
            .originNotTrusted,
            "TLS with \(name) failed: its certificate is not trusted for that name, or it speaks no TLS 1.2. "
                + "Check the name, the clock and the trusted roots.", cause: cause)
    }

    /// `what` is what it did not do: "did not answer".
    package static func originTimedOut(_ name: String, what: String, within time: Duration) -> RepriseError {
        RepriseError(.originTimedOut, "\(name) \(what) within \(time / .seconds(1)) s; try again later.")
    }

    package static func originBodyTruncated(_ name: String, cause: (any Error)?) -> RepriseError {
        RepriseError(
            .originBodyTruncated,
            "\(name) ended the connection before the end of the body; try again later.",
            cause: cause)
    }
}

/// The cause of an `originTimedOut` error when no connection became free: the request was never sent.
package struct ConnectionQueueTimeout: Error, CustomStringConvertible {
    /// Whether the process has no file descriptor left for a connection.
    package let isLackOfDescriptors: Bool

    /// The name used in messages.
    package var description: String { isLackOfDescriptors ? "no file descriptor" : "queue" }

    /// Creates the cause.
    package init(isLackOfDescriptors: Bool = false) { self.isLackOfDescriptors = isLackOfDescriptors }
}

extension RepriseError {
    /// The error for a response that cannot be used, in words.
    static func unusable(_ action: ResponseAction) -> RepriseError {
        let what =
            switch action {
            case .reject(let reason): reason.words
            case .passThrough(.contradictoryRange):
                "it sent a whole file (200) that says that it is a part (Content-Range). Only its operator can correct that."
            case .retryWithoutRange: "it refuses the requested range (416) without a reason."
            default: "it does not fit the request."
            }
        return RepriseError(.originMisbehaved, "The origin's response cannot be used: \(what)")
    }
}

extension RejectionReason {
    /// What the origin did, and what helps.
    fileprivate var words: String {
        switch self {
        case .unrequestedPartialContent:
            "it sent a part (206) although the whole file was requested. Only its operator can correct that."
        case .invalidContentRange:
            "it sent a part (206) without saying correctly which part it is (Content-Range). Only its operator can "
                + "correct that."
        case .multipart: "it sent several parts (206) although one was requested. Only its operator can correct that."
        case .wrongStart: "it sent another part (206) than the requested one. Only its operator can correct that."
        case .contentLength: "it contradicts itself about the length (206 or 200). Only its operator can correct that."
        case .unrequestedNotModified:
            "it answered that nothing has changed (304), which was not the question. Try again later."
        case .invalidStatus: "its status code is not valid. Only its operator can correct that."
        }
    }
}
