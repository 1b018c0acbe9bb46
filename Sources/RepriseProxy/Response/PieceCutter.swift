import Reprise

/// Cuts the pieces of a read where an answer needs smaller ones.
struct PieceCutter {
    /// Largest piece of bytes in memory, each of which is copied for the socket.
    private static let largestCopy = 64 << 10

    private let most: Int
    /// Bytes up to the end of the answer; `nil` where it does not matter when that is reached.
    private var left: Int64?
    /// What is left of the last piece.
    private var rest: MediaPiece?

    /// Cuts pieces into such of at most `most` bytes; with `count`, the number of all bytes, the last byte is a piece
    /// of its own.
    init(atMost most: Int?, upToEndOf count: Int64? = nil) { (self.most, left) = (most ?? .max, count) }

    /// Whether the last piece was the end of the answer.
    var isAtEnd: Bool { left == 0 }

    /// The next piece, of those that `pull` returns.
    mutating func next(_ pull: () async throws -> MediaPiece?) async throws -> MediaPiece? {
        guard let piece = if let rest { rest } else { try await pull() } else { return nil }
        rest = nil
        let isCopied = if case .memory = piece { true } else { false }
        var count = min(piece.count, isCopied ? min(most, Self.largestCopy) : most)
        if let left, left > 1, Int64(count) >= left { count = Int(left) - 1 }
        left = left.map { max(0, $0 - Int64(count)) }
        guard count < piece.count else { return piece }
        let (first, second) = piece.split(at: count)
        rest = second
        return first
    }
}
