import HTTPSemantics
import HTTPTypes

extension OriginRequest {
    /// Whether the origin is asked the same by `other`: for the same URL with the same fields, whatever the range.
    ///
    /// Fields that the engine itself sets do not count.
    func asksTheSame(as other: OriginRequest) -> Bool {
        url == other.url && networkPolicy == other.networkPolicy && ownFields == other.ownFields
    }

    /// Whether both carry the same credentials, of the kinds that HTTP knows.
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
    /// Says nothing of the origin's will: another range may be had.
    var isOfOneRange: Bool { code == .rangeNotSatisfiable || code == .notStored }

    /// Whether this error, to which `asked` came, is that of a reader who would have asked `other`.
    ///
    /// What keeps a connection from being made or kept concerns everybody who wants the same host. What the origin said
    /// concerns those who would have said the same to it: credentials, cookies and signed URLs are one reader's own. In a
    /// shared cache a refusal that must not be stored concerns no other reader at all.
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
    /// Whether a shared cache may give it to another client that asked the same as `request` (RFC 9111 §3, §3.5).
    func mayBeShared(_ request: OriginRequest) -> Bool {
        let storage = StoragePolicy(isShared: true, hasAuthorization: request.fields[.authorization] != nil)
        return head.headerFields[.setCookie] == nil
            && storage.objection(to: CacheControl(head.headerFields, isShared: true)) == nil
    }
}
