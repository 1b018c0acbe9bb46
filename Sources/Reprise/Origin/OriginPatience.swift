import HTTPSemantics
package import HTTPTypes

/// How long a client waits for bytes from an origin.
///
/// Players wait a minute or longer for a transcode to start or a torrent to download. If there is no alternative, this
/// client waits at least as long as any player. It gives up earlier if stored bytes or a range request can replace a
/// silent response.
package struct OriginPatience: Sendable {
    /// Configured time limits from a request to the response head, and between bytes of a body; `nil` for the defaults.
    private let response, idle: Duration?
    /// Added to the default limits.
    private let margin: Duration

    /// The default limit if there is no alternative, longer than the timeout of any player.
    static let longest = Duration.seconds(300)
    /// The default limit if a range request can fetch the rest.
    static let shortest = Duration.seconds(30)
    /// The default limit if a stored response can be served stale.
    static let validation = Duration.seconds(10)

    package init(response: Duration?, idle: Duration?, margin: Duration = .zero) {
        (self.response, self.idle, self.margin) = (response, idle, margin)
    }

    /// The time limit from `request` to the head of its response.
    ///
    /// A conditional request implies a stored response that can be served stale, so its default limit is short.
    package func untilHead(of request: OriginRequest) -> Duration {
        let isValidation = request.fields[.ifNoneMatch] != nil || request.fields[.ifModifiedSince] != nil
        let usual = isValidation ? Self.validation : Self.longest
        return max(response ?? usual + margin, request.longestSilence ?? .zero)
    }

    /// The time limit between two pieces of the body of `head`, while its consumer waits.
    package func withinBody(of request: OriginRequest, _ head: HTTPResponse) -> Duration {
        let usual = Self.canResume(head, for: request) ? Self.shortest : Self.longest
        return max(idle ?? usual + margin, request.longestSilence ?? .zero)
    }

    /// Whether a range request can fetch the rest of the body.
    ///
    /// This requires a strong validator (RFC 9110 §13.1.5) and an origin that supports ranges. The rest of a response
    /// that is not stored is not requested.
    package static func canResume(_ head: HTTPResponse, for request: OriginRequest) -> Bool {
        guard request.method == .get, !CacheControl(head.headerFields, isShared: false).noStore,
            Validators(head.headerFields).ifRangeValue != nil
        else { return false }
        return head.status == .partialContent
            || head.headerFields[.acceptRanges].flatMap { AcceptRanges($0)?.supportsBytes } == true
    }
}
