public import HTTPTypes
import Primitives

/// The source of media: an HTTP client behind one method.
///
/// The engine requests a representation or a part of it and pulls the body. An implementation follows redirects (at
/// most twenty) and verifies TLS. It sends ``OriginRequest/authenticated()``, for the request and for each redirect. It
/// reads from its socket only while the body is being pulled, so that back-pressure reaches the network.
public protocol Origin: Sendable {
    /// Sends `request` and returns as soon as the head of the final response has arrived.
    ///
    /// Canceling the task closes the connection. Throws ``RepriseError`` with one of the `origin…` codes, or
    /// `CancellationError`. A response is returned whatever its status, never thrown.
    func send(_ request: OriginRequest) async throws -> OriginResponse
}

/// The head of a final response and its body.
public struct OriginResponse: Sendable {
    /// Status and fields as they came, hop-by-hop ones included.
    public var head: HTTPResponse
    /// The URL that answered, after redirects.
    public var url: ResourceURL
    /// The body, pulled by the receiver.
    public var body: any OriginBody
    /// Whether a redirect led to another host or port on the way, so that only harmless fields were sent from there
    /// on; `nil` if the client does not say.
    package var hasLeftHost: Bool?
    /// Whether further requests of a play may go to ``url`` in place of the one that was asked.
    ///
    /// Not behind a parent, which stores the file under the URL that it was asked for.
    package var isTarget = true
    /// Called when the whole body is stored and recorded, for a body that the client keeps until then; `nil` unless the
    /// body had arrived before, so that its time and rate tell nothing about the network.
    package var onStored: (@Sendable () -> Void)?
    /// The request that was answered, as it was sent before any redirect; `nil` unless the engine sent it.
    var asked: OriginRequest?
    /// When it was sent, in seconds since 1970 (RFC 9111 §4.2.3).
    var requestTime: Int64 = 0

    /// Creates a response.
    public init(head: HTTPResponse, url: ResourceURL, body: any OriginBody) {
        self.head = head
        self.url = url
        self.body = body
    }
}

extension OriginResponse {
    /// Drops the cookies if a redirect led to another server than that of `url`.
    ///
    /// They would count as cookies of that server.
    mutating func dropForeignCookies(of url: ResourceURL) {
        guard self.url.scheme != url.scheme || self.url.authority != url.authority else { return }
        head.headerFields[.setCookie] = nil
    }
}

/// A response body with back-pressure: bytes are read from the network only when requested.
///
/// One consumer calls ``next()``, one call at a time; ``cancel()`` may be called from anywhere. If ``next()`` is called
/// while another call is waiting, the clients of this package throw `invalidArgument`.
public protocol OriginBody: AnyObject, Sendable {
    /// The next piece, or `nil` at the clean end of the body: declared length reached, last chunk, or after
    /// ``cancel()``.
    ///
    /// Throws ``RepriseError`` with code `originBodyTruncated` when the connection ended early, `originTimedOut` when
    /// nothing arrived for the client's idle time. After the task is canceled, returns the pieces that have arrived,
    /// then throws `CancellationError`. Pieces are at most 1 MiB.
    func next() async throws -> (any ByteChunk)?

    /// Ends the transfer; ``next()`` returns the bytes that the system has already received, then `nil`.
    func cancel()
}

/// Immutable bytes in memory, independent of their owner: a piece of a response body in transit.
///
/// The engine never copies a chunk: it writes it to the file and passes it on.
public protocol ByteChunk: Sendable {
    /// Number of bytes.
    var count: Int { get }
    /// Calls `body` with the bytes; the pointer is valid only during the call.
    func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R
}

extension [UInt8]: ByteChunk {}

/// A body whose bytes are counted as fetched.
final class CountedBody: OriginBody {
    private let body: any OriginBody
    /// The origin to which they are counted.
    private let host: String
    private let reporter: Reporter

    init(_ body: any OriginBody, host: String, reporter: Reporter) {
        (self.body, self.host, self.reporter) = (body, host, reporter)
    }

    func next() async throws -> (any ByteChunk)? {
        let piece = try await body.next()
        if let piece { reporter.countFetched(piece.count, from: host) }
        return piece
    }

    func cancel() { body.cancel() }
}

/// A body of which the first pieces were taken already, and are given once more.
final class ResumedBody: OriginBody {
    private let taken: Mutex<[any ByteChunk]>
    private let rest: any OriginBody

    init(_ taken: [any ByteChunk], before rest: any OriginBody) {
        self.taken = Mutex(taken)
        self.rest = rest
    }

    func next() async throws -> (any ByteChunk)? {
        if let chunk = taken.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { return chunk }
        return try await rest.next()
    }

    func cancel() { rest.cancel() }
}
