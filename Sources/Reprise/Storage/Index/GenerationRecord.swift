import HTTPSemantics
import HTTPTypes

/// The record of one generation in the index, without its chunks.
struct GenerationRecord: Sendable {
    /// Never reused, ascending; part of the data file's name.
    let id: Int64
    /// The key that selects it.
    let key: CacheKey
    /// The URL as requested, not the redirect's target.
    let url: ResourceURL
    /// End-to-end fields of the response that began it.
    var fields: HTTPFields
    /// Complete length in bytes; `nil` while unknown.
    var completeLength: Int64?
    /// Whether the origin supports range requests; `nil` while unknown.
    var rangesSupported: Bool?
    /// The host that answered, after redirects.
    var finalHost: String
    /// The URL that answered, after redirects; `nil` if it is ``url``.
    var finalURL: ResourceURL?
    /// When the request was sent and the response received, in seconds since 1970 (RFC 9111 §4.2.3); both 0 once the
    /// response was invalidated (§4.4), so that it is stale for good.
    var requestTime: Int64
    var responseTime: Int64
    /// Derives the keys of this generation in an encrypted cache; empty in a plain one.
    var salt: [UInt8] = []

    var isInvalidated: Bool { responseTime == 0 }
    var isMedia: Bool {
        !url.namesPlaylist && MediaType(fields[.contentType])?.isMedia ?? true
    }

    /// How long it may be used without asking the origin.
    func freshness(_ policy: ReusePolicy) -> Freshness {
        var fields = fields
        let isForced = policy.forces(url.host)
        if isForced {
            fields[.expires] = nil
            if let targeted = HTTPField.Name("CDN-Cache-Control") { fields[targeted] = nil }
            fields[.cacheControl] = "max-age=\(ReusePolicy.unverifiableLifetime)"
        }
        let isUnverifiable = fields[.eTag] == nil && fields[.lastModified] == nil
        let guess = isMedia && isUnverifiable && !policy.isShared ? ReusePolicy.unverifiableLifetime : 0
        return Freshness(
            fields, requestTime: HTTPDate(secondsSince1970: requestTime),
            responseTime: HTTPDate(secondsSince1970: responseTime), isShared: policy.isShared, guess: guess)
    }

    /// Whether a strong tag, or a strong date alone or beside a weak tag, can show that a response continues this
    /// generation (RFC 9110 §15.3.7.3).
    ///
    /// Covers more than If-Range, which carries neither a weak tag nor a date beside one.
    var hasStrongValidator: Bool {
        let validators = Validators(fields)
        return validators.stronglyMatches(validators)
    }

    /// The identity that new responses are checked against.
    var identity: GenerationIdentity {
        GenerationIdentity(
            validators: Validators(fields), completeLength: completeLength,
            mediaType: fields[.contentType], finalHost: finalHost)
    }
}
