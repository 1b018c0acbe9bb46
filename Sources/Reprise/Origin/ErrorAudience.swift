import HTTPSemantics
import HTTPTypes

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
