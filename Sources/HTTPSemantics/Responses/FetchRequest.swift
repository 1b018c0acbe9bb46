/// The properties of a request to the origin that matter for judging its response.
public struct FetchRequest: Sendable, Hashable {
    /// The range as sent, or `nil` if the whole representation was requested.
    public var range: RangeSpec?
    /// Whether the request carried If-Range.
    public var sentIfRange: Bool
    /// Whether the request carried If-None-Match or If-Modified-Since.
    public var sentCondition: Bool
    /// Whether only audio or video makes sense as an answer, so that an HTML page doesn't.
    public var expectsMedia: Bool
    /// Whether audio or video may have no bytes: a playlist names it, and nothing of it is stored.
    public var mayBeEmpty: Bool
    /// Whether the resource is known to be a file rather than a live stream: a playlist, a file listed in one, or a
    /// download.
    public var isForFile: Bool

    /// Creates a request; by default one for the whole representation, without conditions.
    public init(
        range: RangeSpec? = nil, sentIfRange: Bool = false, sentCondition: Bool = false, expectsMedia: Bool = false,
        mayBeEmpty: Bool = false, isForFile: Bool = false
    ) {
        self.range = range
        self.sentIfRange = sentIfRange
        self.sentCondition = sentCondition
        self.expectsMedia = expectsMedia
        self.mayBeEmpty = mayBeEmpty
        self.isForFile = isForFile
    }
}
