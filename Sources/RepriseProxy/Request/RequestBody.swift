/// The received part of a request's body, and how its end is determined (RFC 9112 §6.3).
enum RequestBody {
    /// By Content-Length: this many bytes.
    case sized(Int)
    /// By chunks.
    case chunked(ChunkedBody)

    /// Number of bytes of memory that the received part takes, besides those that are not parsed yet.
    var heldBytes: Int {
        switch self {
        case .sized: 0
        case .chunked(let chunks): chunks.bytes.capacity
        }
    }

    /// Maximum size of a body that is passed on, in bytes.
    static let maximum = 1 << 20

    /// The body that follows `head`; `nil` if there is none.
    ///
    /// Throws for a body that cannot be passed on or is ambiguous.
    init?(of head: ClientHead) throws(Refusal) {
        if let coding = head.value("transfer-encoding") {
            guard head.isHTTP11, head.count("content-length") == 0 else {
                throw Refusal(
                    status: 400, reason: "Transfer-Encoding stands alone, in HTTP/1.1 (RFC 9112 §6.1).")
            }
            guard coding.lowercased() == "chunked" else {
                throw Refusal(status: 501, reason: "The only transfer coding that is spoken is chunked.")
            }
            guard case .other = head.method else { throw Self.tooLarge }
            self = .chunked(ChunkedBody())
            return
        }
        guard let value = head.value("content-length") else { return nil }
        guard !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let length = Int(value) else {
            throw Refusal(status: 400, reason: "Content-Length is not a number (RFC 9112 §6.3).")
        }
        guard length > 0 else { return nil }
        guard case .other = head.method, length <= Self.maximum else { throw Self.tooLarge }
        self = .sized(length)
    }

    static let tooLarge = Refusal(
        status: 413, reason: "A body of that size, or with that method, is not accepted.")
}
