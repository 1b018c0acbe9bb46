public import HTTPTypes

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
