import Reprise

/// Cuts the pieces of a read where an answer needs smaller ones.
struct PieceCutter {
    private let most: Int
    /// What is left of the last piece.
    private var rest: MediaPiece?

    /// Leaves pieces as they are, or cuts them into such of at most `most` bytes.
    init(atMost most: Int?) { self.most = most ?? .max }

    /// The next piece, of those that `pull` returns.
    mutating func next(_ pull: () async throws -> MediaPiece?) async throws -> MediaPiece? {
        guard let piece = if let rest { rest } else { try await pull() } else { return nil }
        rest = nil
        guard piece.count > most else { return piece }
        let (first, second) = piece.split(at: most)
        rest = second
        return first
    }
}
