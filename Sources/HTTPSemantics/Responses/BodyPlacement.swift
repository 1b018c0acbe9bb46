/// Where the bytes of a response's body belong in the representation.
public struct BodyPlacement: Sendable, Hashable {
    /// Offset of the body's first byte.
    public var start: Int64
    /// Offset after the body's last byte, as declared; `nil` if only the end of the body shows it.
    public var end: Int64?
    /// Complete length of the representation, from this response or from the generation that it continues.
    public var completeLength: Int64?
    /// Whether the origin supports range requests; `nil` if this response doesn't prove either.
    ///
    /// A 206 proves support. A 200 in response to a partial range request without If-Range proves the lack of it.
    public var rangesSupported: Bool?

    /// Creates a placement.
    public init(start: Int64, end: Int64? = nil, completeLength: Int64? = nil, rangesSupported: Bool? = nil) {
        self.start = start
        self.end = end
        self.completeLength = completeLength
        self.rangesSupported = rangesSupported
    }
}
