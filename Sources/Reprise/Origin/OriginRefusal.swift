import HTTPSemantics
public import HTTPTypes

/// A final response without media: 3xx without a target, 4xx, 5xx.
///
/// Passed on, never stored as media.
public struct OriginRefusal: Sendable {
    /// Status and fields as they came.
    public let head: HTTPResponse
    /// The body, cut after ``maximumBody`` bytes.
    public let body: [UInt8]
    /// Time since the origin generated it, if it was kept from an earlier request; `nil` if it has just arrived.
    public internal(set) var age: Duration?

    /// Maximum number of bytes kept of an error page: 1 MiB.
    public static let maximumBody = 1 << 20

    /// Whether asking again may help: 429, 500, 502, 503, 504.
    var isTransient: Bool { [429, 500, 502, 503, 504].contains(head.status.code) }

    /// `Retry-After` as a duration of at most a day, if the origin sent one in seconds (RFC 9110 §10.2.3).
    package var retryAfter: Duration? {
        guard let value = head.headerFields[.retryAfter], let seconds = CacheControl.seconds(value) else { return nil }
        return .seconds(min(seconds, 86_400))
    }

    /// Reads the body of `response` to its end or to the limit; what comes is counted to `host`.
    static func collect(
        _ response: OriginResponse, of host: String, _ reporter: Reporter
    ) async throws -> OriginRefusal {
        var body: [UInt8] = []
        while body.count < maximumBody, let chunk = try await response.body.next() {
            reporter.countFetched(chunk.count, from: host)
            chunk.withUnsafeBytes { body.append(contentsOf: $0.prefix(maximumBody - body.count)) }
        }
        response.body.cancel()
        return OriginRefusal(head: response.head, body: body, age: nil)
    }
}
