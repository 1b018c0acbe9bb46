import HTTPSemantics
import HTTPTypes

/// What the catalogue keeps of one generation besides its chunks.
struct GenerationRecord: Sendable {
    /// Random, never reused; part of the data file's name.
    let id: Int64
    /// The key that selects it.
    let key: CacheKey
    /// The URL as asked, not the redirect's target.
    let url: ResourceURL
    /// End-to-end fields of the response that began it.
    var fields: HTTPFields
    /// Complete length in bytes; `nil` while unknown.
    var completeLength: Int64?
    /// Whether the origin answers ranges; `nil` while nobody knows.
    var rangesSupported: Bool?
    /// Host that answered, after redirects.
    var finalHost: String
    /// When the request left and the response came, in seconds since 1970 (RFC 9111 §4.2.3).
    var requestTime: Int64
    var responseTime: Int64

    /// What new responses are checked against.
    var identity: GenerationIdentity {
        GenerationIdentity(
            validators: Validators(fields), completeLength: completeLength,
            mediaType: fields[.contentType], finalHost: finalHost)
    }
}
