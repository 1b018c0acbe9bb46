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

    /// The bytes of a representation.
    public enum Content: Sendable, Hashable {
        /// These bytes.
        case bytes([UInt8])
        /// The first `length` bytes of a ``TestPattern``; generated when they are sent.
        case pattern(seed: UInt64, length: Int64)
        /// `head`, then the pattern's bytes at their own offsets, `length` bytes in all: a file with a realistic
        /// beginning.
        case headedPattern(head: [UInt8], seed: UInt64, length: Int64)
        /// The file at this path, sent by the kernel without a copy; opened again for each response.
        case file(path: String)

        /// The complete length in bytes, or `nil` for a file that cannot be opened.
        public var length: Int64? {
            switch self {
            case .bytes(let bytes): Int64(bytes.count)
            case .pattern(_, let length), .headedPattern(_, _, let length): length
            case .file(let path): (try? ContentReader(.file(path: path)))?.length
            }
        }
    }

    /// Sets the resource at a path, replacing an existing one.
    ///
    /// Later requests get the new one; responses that are under way continue with the old one. With other content or
    /// another entity tag it is a new representation, whose bytes count as not sent yet.
    ///
    /// The path begins with a slash. If it has a query, it serves that query only.
    public func set(_ resource: Resource, at path: String) {
        precondition(path.hasPrefix("/"), "A path begins with a slash.")
        switch resource.content {
        case .pattern(_, let length), .headedPattern(_, _, let length):
            precondition(length >= 0, "A length is not negative.")
        case .bytes, .file: break
        }
        state.update { $0.set(resource, at: path) }
    }

    /// Removes the resource at a path; later requests get 404.
    public func removeResource(at path: String) {
        state.update { $0.removeResource(at: path) }
    }
}
