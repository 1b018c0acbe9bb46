public import HTTPTypes

extension TestOrigin {
    /// How an origin answers: honestly by default, or with one or more of the faults that real origins have.
    ///
    ///     let liar = TestOrigin.Personality { $0.ignoresRange = true }
    ///
    /// Offsets and counts are bytes of the response's body, without the framing of chunks.
    public struct Personality: Sendable {
        /// How the end of a body is marked.
        public enum Framing: Sendable, Hashable {
            /// By Content-Length.
            case contentLength
            /// By `Transfer-Encoding: chunked`; an HTTP/1.0 client gets ``closeDelimited``.
            case chunked
            /// By the end of the connection, without any length, as HTTP/1.0 servers do.
            case closeDelimited
        }

        /// Which complete length Content-Range states.
        public enum StatedLength: Sendable, Hashable {
            /// The real one.
            case actual
            /// None: `/*`.
            case unknown
            /// This one, whatever the real one is.
            case wrong(Int64)
        }

        /// A representation in place of the resource's.
        public struct Representation: Sendable, Hashable {
            /// The bytes.
            public var content: Content
            /// The value of ETag as sent; `nil` for none.
            public var etag: String?

            /// Creates a representation.
            public init(content: Content, etag: String?) {
                self.content = content
                self.etag = etag
            }
        }

        // MARK: Ranges

        /// Answers a request with Range with 200 and the whole representation.
        public var ignoresRange = false
        /// Answers 206 although the validator in If-Range does not match.
        public var ignoresIfRange = false
        /// The value of Accept-Ranges; `bytes` by default, `nil` for none.
        public var acceptRanges: String? = "bytes"
        /// The complete length in Content-Range of 206.
        public var statedLength = StatedLength.actual
        /// Leaves Content-Range out of 416.
        public var omitsLengthOf416 = false
        /// Sends 206 for a range that starts this many bytes later than requested; negative for earlier.
        ///
        /// Content-Range correctly names the bytes that are sent.
        public var shiftsStartBy: Int64 = 0
        /// Sends a range that ends this many bytes before the requested end; Content-Range says so correctly.
        public var shorterThanAsked: Int64 = 0
        /// Sends a range that ends this many bytes after the requested end; Content-Range says so correctly.
        public var longerThanAsked: Int64 = 0
        /// Moves only the end that Content-Range states, so that body and field contradict each other.
        public var misstatesEndBy: Int64 = 0
        /// Wraps the answer to a single range in `multipart/byteranges`.
        public var multipartForSingle = false
        /// Answers 206 with this range to a request without Range.
        public var partialWithoutRange: Range<Int64>?

        // MARK: Metadata

        /// Marks the entity tag as weak.
        public var weakETag = false
        /// The value of Content-Encoding; the body is not changed.
        public var contentEncoding: String?
        /// Header fields of every response, errors included.
        ///
        /// They replace computed fields of the same name.
        public var fields: HTTPFields = [:]

        // MARK: Answers instead of the resource

        /// Answers with this representation; ``PathCounters`` count its bytes as those of the resource.
        public var representation: Representation?
        /// Answers with this status instead of the resource.
        public var status: Int?
        /// Limits ``status`` to this many first requests that the resource receives; `nil` for all.
        public var failFirst: Int?
        /// The body sent with ``status``, as plain text.
        public var statusBody: [UInt8] = []
        /// Answers 401 to requests with another `Authorization`; `nil`, the default, to none.
        public var demandedAuthorization: String?
        /// The status of an empty answer to methods other than GET and HEAD; `nil`, the default, refuses them with 405.
        public var statusOfOtherMethods: Int?
        /// Answers every request with 200 and this page as `text/html`, as a captive portal does.
        public var captivePortal: String?
        /// Answers 200 with the resource's metadata and an empty body.
        public var emptyBody = false
        /// Redirects to this path or URL.
        public var redirect: String?
        /// The status of redirects; 302 by default.
        public var redirectStatus = 302
        /// Redirects every request to itself.
        public var redirectLoop = false

        // MARK: Framing

        /// How the body's end is marked.
        public var framing = Framing.contentLength
        /// Content-Length as stated, whatever the body's real length is; `nil` for the real one.
        public var statedContentLength: Int64?
        /// Sends this many bytes after the declared end of the body of 200 and 206.
        public var surplusBytes: Int64 = 0
        /// A body without end and without ranges: a pattern continues, other content repeats.
        ///
        /// It has no Content-Length; its end is marked as ``framing`` says, or by ``Framing/closeDelimited`` if that is
        /// ``Framing/contentLength``.
        public var isEndless = false
        /// Keeps the connection open after the response, if the client does.
        public var keepsAlive = true
        /// The distance of ICY metadata blocks, if the client sends `Icy-MetaData: 1`; `nil` for none.
        ///
        /// Such a body has no Content-Length, like an endless one. Only 200 has metadata.
        public var icyInterval: Int?
        /// The title in ICY metadata blocks.
        public var icyTitle = "Reprise"

        // MARK: Broken connections

        /// Closes the connection with FIN after this many bytes, if the body is longer.
        public var truncateAfter: Int64?
        /// Resets the connection with RST after this many bytes, if the body is longer.
        ///
        /// The kernel drops bytes that the client has not read yet, so the client sees at most this many.
        public var resetAfter: Int64?
        /// Resets the connection after the head.
        public var resetBeforeBody = false
        /// Resets the connection instead of answering.
        public var resetBeforeHead = false

        // MARK: Time

        /// How long the head is delayed; not at all by default.
        public var latency = Duration.zero
        /// Paces the body at this rate; `nil`, the default, for no limit.
        public var bytesPerSecond: Int?
        /// Number of bytes sent before pacing begins; 0 by default.
        public var firstChunk = 0
        /// Stops the body after this many bytes until ``TestOrigin/release(_:)`` is called.
        public var stallAfter: Int64?

        /// Creates an honest personality and lets `configure` change it.
        public init(_ configure: (inout Personality) -> Void = { _ in }) {
            configure(&self)
        }

        /// A personality that answers with `status`; if `first` is given, only the first requests, up to that number.
        public static func failing(with status: Int, first: Int? = nil) -> Personality {
            Personality {
                $0.status = status
                $0.failFirst = first
            }
        }
    }
}
