import NIOCore

/// The requests of one connection, each with its whole body, in the order received.
struct RequestReader {
    /// Number of unanswered bytes from which on no more should be received.
    private static let maximumBacklog = 128 << 10
    /// Number of bytes that one read from the socket may add beyond ``maximumBacklog``.
    private static let backlogSlack = 256 << 10

    private let serverName: String
    private var parser: RequestParser
    /// A request whose body has not arrived completely.
    private var unfinished: (head: ClientHead, body: RequestBody)?
    private var hasAskedToContinue = false

    /// Number of bytes received and not parsed yet; 0 while a body is being received.
    private var backlog: Int { unfinished == nil ? parser.bufferedBytes : 0 }
    /// Whether nothing of a request has arrived that is not answered.
    var isEmpty: Bool { unfinished == nil && parser.bufferedBytes == 0 }
    /// Whether enough requests wait.
    var isFull: Bool { backlog > Self.maximumBacklog }
    /// Whether the client has sent more than a client does whose bytes are not read.
    var isOverfull: Bool { backlog > Self.maximumBacklog + Self.backlogSlack }

    /// Number of bytes of memory that requests take which are not complete, or wait for their turn.
    var heldBytes: Int { parser.heldBytes + (unfinished.map { $0.head.heldBytes + $0.body.heldBytes } ?? 0) }

    /// Whether the client has shown a token, or needs none; longer heads are then accepted.
    var isTrusted = true {
        didSet {
            parser.maximumHead = isTrusted ? RequestParser.maximumHead : RequestParser.maximumHeadOfStranger
        }
    }

    /// Forgets what has arrived; returns why that cannot be answered.
    mutating func giveUp() -> Refusal {
        let isInBody = unfinished != nil
        clear()
        return isInBody
            ? Refusal(status: 503, reason: "Too many requests are being received.", retryAfter: 1)
            : Refusal(status: 431, reason: "The header is too long while so many requests are being received.")
    }

    /// Drops everything that has arrived.
    mutating func clear() { (parser, unfinished) = (RequestParser(serverName: serverName), nil) }

    /// Creates a reader of the requests that the server of this name gets.
    init(serverName: String) {
        self.serverName = serverName
        parser = RequestParser(serverName: serverName)
    }

    mutating func append(_ bytes: ByteBuffer) { parser.append(bytes) }

    /// The next complete request; `nil` until all of it has arrived.
    mutating func next() throws(Refusal) -> ClientHead? {
        if unfinished == nil {
            guard let head = try parser.next() else { return nil }
            guard let body = try RequestBody(of: head) else { return head }
            if head.value("expect")?.lowercased() == "100-continue" { hasAskedToContinue = true }
            unfinished = (head, body)
        }
        guard var (request, body) = unfinished.take() else { return nil }
        guard let bytes = try parser.take(&body) else {
            unfinished = (request, body)
            return nil
        }
        request.body = bytes
        return request
    }

    /// Whether the client waits for permission to send the body; true once per request (RFC 9110 §10.1.1).
    mutating func takeContinue() -> Bool {
        defer { hasAskedToContinue = false }
        return hasAskedToContinue && unfinished != nil
    }
}
