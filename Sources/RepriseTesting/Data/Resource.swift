public import HTTPTypes

extension TestOrigin {
    /// The resource at a path: a representation, its metadata, and how it is served.
    public struct Resource: Sendable {
        /// The bytes.
        public var content: Content
        /// The value of Content-Type; `audio/mpeg` by default, `nil` for none.
        public var mediaType: String?
        /// The value of ETag as sent, with its quotes; `"v1"` by default, `nil` for none.
        public var etag: String?
        /// The value of Last-Modified as sent; the first second of 2025 by default, `nil` for none.
        public var lastModified: String?
        /// Header fields of 200, 206 and 304 responses.
        ///
        /// They replace computed fields of the same name.
        public var fields: HTTPFields
        /// How requests are answered; honestly by default.
        public var personality: Personality
        /// Decides the personality for one request.
        ///
        /// Called with the request and its number at this resource: 1 for the first after ``TestOrigin/set(_:at:)``.
        /// `nil` means ``personality``. It runs on the origin's thread, so it must not block; it may call the origin,
        /// but a resource that it sets serves later requests only.
        public var override: (@Sendable (HTTPRequestSummary, Int) -> Personality?)?

        /// Creates a resource; everything but the content has a default.
        public init(
            _ content: Content,
            mediaType: String? = "audio/mpeg",
            etag: String? = "\"v1\"",
            lastModified: String? = "Wed, 01 Jan 2025 00:00:00 GMT",
            fields: HTTPFields = [:],
            personality: Personality = Personality(),
            override: (@Sendable (HTTPRequestSummary, Int) -> Personality?)? = nil
        ) {
            self.content = content
            self.mediaType = mediaType
            self.etag = etag
            self.lastModified = lastModified
            self.fields = fields
            self.personality = personality
            self.override = override
        }
    }
}
