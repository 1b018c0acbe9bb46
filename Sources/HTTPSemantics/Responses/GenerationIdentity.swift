/// The identity of the representation whose bytes are stored; every response is checked against it.
public struct GenerationIdentity: Sendable, Hashable {
    /// Entity tag, Last-Modified and Date of the response that began it.
    public var validators: Validators
    /// Complete length in bytes; `nil` while unknown.
    public var completeLength: Int64?
    /// Media type as the origin gave it, with or without parameters; `nil` if it gave none.
    public var mediaType: String?
    /// Host that answered, after redirects; `nil` if it was not recorded.
    public var finalHost: String?

    /// Creates an identity from its parts.
    public init(
        validators: Validators = Validators(), completeLength: Int64? = nil, mediaType: String? = nil,
        finalHost: String? = nil
    ) {
        self.validators = validators
        self.completeLength = completeLength
        self.mediaType = mediaType
        self.finalHost = finalHost
    }

    /// Bodies shorter than this need a validator to replace the stored one.
    ///
    /// In bytes, at most 64 KiB; `nil` if the stored length is unknown.
    package var shortLength: Int64? { completeLength.map { min($0 / 16, 64 << 10) } }
}
