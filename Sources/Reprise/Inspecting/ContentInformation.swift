public import Foundation
public import HTTPSemantics
public import HTTPTypes

/// The metadata of a representation.
public struct ContentInformation: Sendable {
    /// Complete length in bytes; `nil` while unknown (a chunked response that has not ended).
    public var completeLength: Int64?
    /// Media type as the origin gave it, parameters included.
    public var mediaType: String?
    /// Whether the origin supports range requests; `nil` while unknown.
    public var rangesSupported: Bool?
    /// Entity tag, modification date and date of the response.
    public var validators: Validators
    /// The response's end-to-end fields, including unknown ones.
    public var fields: HTTPFields
    /// Identifies the generation; changes whenever the representation does.
    ///
    /// Empty for a response that is not stored.
    public var generation: String
    /// The URL that answered after redirects, to which relative links of the representation refer; `nil` without
    /// redirects, and where it is unknown.
    public var finalURL: ResourceURL?
    /// When the response arrived, or was last confirmed; `nil` for a response that is not stored, or that must be
    /// validated before it is used again.
    public var responseTime: Date?

    /// How long the stored response may be used without asking the origin; `nil` for a response that is not stored.
    public var freshness: Freshness?

    /// Whether this is, or may be, audio or video; false for a playlist.
    public var isMedia: Bool

    /// Whether the cache can serve ranges of the representation.
    ///
    /// That is the case if it is completely stored, if the origin is believed to support ranges, or if a validator
    /// allows another response to continue it. Otherwise, all bytes must come from a single response.
    package var servesRanges = true

    /// What a playlist says about it.
    package var role: StreamRole?
    /// The role of the response that it replaces, until it gets one of its own.
    package var formerRole: StreamRole?

    /// Whether it replaces the playlist of a stream that had ended, and what both name is still to be validated: it may
    /// be other bytes by now.
    package var replacesEndedPlaylist: Bool {
        guard let formerRole, formerRole.kind == .playlist, !formerRole.isLive else { return false }
        return formerRole.term == .media || formerRole.term == .permanent
    }

    /// The first content coding that changes the bytes, such as `gzip`; `nil` if there is none.
    package var contentCoding: String? { fields.contentCoding }

    init(_ record: GenerationRecord, freshness: Freshness? = nil) {
        role = record.role
        formerRole = record.formerRole
        self.freshness = freshness
        isMedia = record.isMedia
        completeLength = record.completeLength
        mediaType = record.fields[.contentType]
        rangesSupported = record.rangesSupported
        validators = Validators(record.fields)
        fields = record.fields
        generation = String(UInt64(bitPattern: record.id), radix: 16)
        responseTime =
            record.isExpired ? nil : Date(timeIntervalSince1970: Double(record.responseTime))
        finalURL = record.finalURL
    }

    package init(
        response: HTTPResponse, completeLength: Int64?, rangesSupported: Bool?, finalURL: ResourceURL? = nil
    ) {
        self.finalURL = finalURL
        let fields = response.headerFields.endToEnd
        self.completeLength = completeLength
        self.rangesSupported = rangesSupported
        self.fields = fields
        mediaType = fields[.contentType]
        isMedia = MediaType(mediaType)?.isMedia ?? true
        let validators = Validators(fields)
        self.validators = validators
        let declaresRanges = fields[.acceptRanges].flatMap { AcceptRanges($0)?.supportsBytes } == true
        servesRanges = rangesSupported == true || declaresRanges || validators.stronglyMatches(validators)
        generation = ""
    }
}

extension HTTPField.Name {
    /// DLNA's description of the operations that a renderer can use.
    ///
    /// Origins send it only on request.
    package static let contentFeatures = HTTPField.Name("contentFeatures.dlna.org") ?? .from
}
