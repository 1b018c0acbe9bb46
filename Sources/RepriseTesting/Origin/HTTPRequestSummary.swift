public import HTTPTypes

/// A request received by a ``TestOrigin``, and its outcome so far.
public struct HTTPRequestSummary: Sendable, Hashable {
    /// The outcome of a request.
    public enum Outcome: Sendable, Hashable {
        /// The response is not complete yet.
        case underWay
        /// The whole response was handed to the kernel.
        case finished
        /// The origin broke the response off, as its personality demands.
        case cut
        /// The client closed the connection, or the origin stopped.
        case aborted
    }

    /// The place of the request among all requests to this origin, from 1; it never starts again.
    public let number: Int
    /// The connection that the request came on, from 1 in order of acceptance.
    public let connection: Int
    /// The method as sent.
    public let method: String
    /// The request target as sent, with its query.
    public let target: String
    /// The path under which the request is counted: the target as set, otherwise the target without its query.
    public let path: String
    /// The header fields as sent; fields whose names or values are not valid are left out.
    public let fields: HTTPFields
    /// The single requested range, resolved against the resource; `nil` without Range, and if Range is invalid, names
    /// several ranges or cannot be satisfied.
    public let requestedRange: Range<Int64>?
    /// The status of the response; `nil` before its head is sent, and for a HEAD or GET that gets none.
    public internal(set) var status: Int?
    /// The bytes of the body handed to the kernel so far, without the framing of chunks.
    public internal(set) var bodyBytesSent: Int64 = 0
    /// Whether the response is under way, and how it ended.
    public internal(set) var outcome = Outcome.underWay

    /// The value of the Range field as sent.
    public var range: String? { fields[.range] }
}
