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
    /// When the response arrived, in seconds since 1970; `nil` for a response that is not stored.
    public var responseTime: Int64?

    /// How long the stored response may be used without asking the origin; `nil` for a response that is not stored.
    public var freshness: Freshness?

    /// Whether this is, or may be, audio or video; false for a playlist.
    public var isMedia: Bool

    init(_ record: GenerationRecord, _ freshness: Freshness? = nil) {
        self.freshness = freshness
        isMedia = record.isMedia
        completeLength = record.completeLength
        mediaType = record.fields[.contentType]
        rangesSupported = record.rangesSupported
        validators = Validators(record.fields)
        fields = record.fields
        generation = String(UInt64(bitPattern: record.id), radix: 16)
        responseTime = record.responseTime
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
        validators = Validators(fields)
        generation = ""
    }
}

/// A stored entry of the cache.
public struct CacheEntry: Sendable {
    /// The key.
    public let key: CacheKey
    /// The URL that filled the entry first.
    public let url: ResourceURL
    /// The metadata of the representation.
    public let information: ContentInformation
    /// Bytes of media on disk.
    public let storedBytes: Int64
    /// Bytes that the media occupy on disk, in the file system's blocks, as `du` shows.
    public let allocatedBytes: Int64
    /// Last use, in seconds since 1970.
    public let lastUsed: Double
    /// How long it stays.
    public let retention: Retention

    /// The partition that the entry belongs to; `nil` for none.
    public var partition: String? { key.partition }

    init(record: GenerationRecord, usage: Usage, lastUsed: Double, retention: Retention) {
        key = record.key
        url = record.url
        information = ContentInformation(record)
        storedBytes = usage.stored
        allocatedBytes = usage.allocated
        self.lastUsed = lastUsed
        self.retention = retention
    }

    /// Whether every byte is stored.
    public var isComplete: Bool { information.completeLength == storedBytes }
}
