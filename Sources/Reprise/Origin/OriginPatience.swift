import HTTPSemantics
package import HTTPTypes

/// How long a client waits for bytes of an origin.
///
/// Players wait a minute or longer for a transcode that starts or a torrent that is fetched. If waiting is the only
/// way, this client waits as long as any of them. If stored bytes or a range request can take the place of a silent
/// response, it does not.
package struct OriginPatience: Sendable {
    /// Time from a request to its head, and time without a byte in a body; `nil` for the usual ones.
    private let response, idle: Duration?
    /// Added to the usual times.
    private let margin: Duration

    /// If waiting is the only way; longer than any player waits that gives up by itself.
    static let longest = Duration.seconds(300)
    /// If there is another way.
    static let shortest = Duration.seconds(30)

    package init(response: Duration?, idle: Duration?, margin: Duration = .zero) {
        (self.response, self.idle, self.margin) = (response, idle, margin)
    }

    /// From `request` to the head of its response.
    ///
    /// A condition says that there is a stored response, which can be served stale.
    package func untilHead(of request: OriginRequest) -> Duration {
        let isValidation = request.fields[.ifNoneMatch] != nil || request.fields[.ifModifiedSince] != nil
        let usual = isValidation ? Self.shortest : Self.longest
        return max(response ?? usual + margin, request.longestSilence ?? .zero)
    }

    /// Between two pieces of the body behind `head`, while its consumer waits.
    package func withinBody(of request: OriginRequest, _ head: HTTPResponse) -> Duration {
        let usual = Self.canResume(head) ? Self.shortest : Self.longest
        return max(idle ?? usual + margin, request.longestSilence ?? .zero)
    }

    /// Whether a range request can fetch the rest of the body: the response has a strong validator (RFC 9110 §13.1.5),
    /// and its origin has ranges.
    package static func canResume(_ head: HTTPResponse) -> Bool {
        guard Validators(head.headerFields).ifRangeValue != nil else { return false }
        return head.status == .partialContent
            || head.headerFields[.acceptRanges].flatMap { AcceptRanges($0)?.supportsBytes } == true
    }
}
