/// What matters of a request to the origin when its response is judged.
public struct FetchRequest: Sendable, Hashable {
    /// The range as it was sent, or `nil` if the whole representation was asked for.
    public var range: RangeSpec?
    /// Whether If-Range went with it.
    public var sentIfRange: Bool
    /// Whether If-None-Match or If-Modified-Since went with it.
    public var sentCondition: Bool
    /// Whether only audio or video makes sense as an answer; then a page of HTML is no answer.
    public var expectsMedia: Bool

    /// Creates a request; by default one for the whole representation, without conditions.
    public init(
        range: RangeSpec? = nil, sentIfRange: Bool = false, sentCondition: Bool = false, expectsMedia: Bool = false
    ) {
        self.range = range
        self.sentIfRange = sentIfRange
        self.sentCondition = sentCondition
        self.expectsMedia = expectsMedia
    }
}
