/// How the end of a body is marked on the wire; RFC 9112 §6.3.
enum BodyFraming: Equatable {
    /// There is no body: HEAD, 204, 304.
    case none
    /// `Content-Length` bytes.
    case length(Int64)
    /// Chunked transfer coding.
    case chunked
    /// The body ends with the connection.
    case untilClose

    func isWorthDiscarding(limit: Int) -> Bool {
        switch self {
        case .none, .chunked: true
        case .length(let length): length <= limit
        case .untilClose: false
        }
    }
}
