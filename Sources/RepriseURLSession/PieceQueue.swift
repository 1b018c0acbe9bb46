import Foundation

/// The pieces of a body in order, none larger than 1 MiB.
struct PieceQueue {
    /// Maximum size of one piece.
    static let largestPiece = 1 << 20

    private var pieces: [Data] = []
    /// Index of the first piece not yet taken; taken ones are removed when they make up half of the array.
    private var first = 0
    /// Total size of all pieces.
    private(set) var byteCount = 0

    var isEmpty: Bool { first == pieces.count }

    /// Appends `data`, sliced if it is too large for one piece.
    mutating func append(_ data: Data) {
        byteCount += data.count
        var rest = data
        while rest.count > Self.largestPiece {
            pieces.append(rest.prefix(Self.largestPiece))
            rest = rest.dropFirst(Self.largestPiece)
        }
        if !rest.isEmpty { pieces.append(rest) }
    }

    /// Removes and returns the first piece; `nil` if there is none.
    mutating func popFirst() -> Data? {
        guard !isEmpty else { return nil }
        let piece = pieces[first]
        pieces[first] = Data()  // releases the bytes
        first += 1
        byteCount -= piece.count
        if first > pieces.count / 2 {
            pieces.removeFirst(first)
            first = 0
        }
        return piece
    }
}

/// The amounts of buffered bytes at which a task is suspended and resumed, and when a suspended one is cut off.
struct BufferBounds: Sendable {
    let suspendsAbove: Int
    let resumesBelow: Int
    /// Maximum number of bytes that may arrive after a suspension, 8 MiB: URLSession guarantees no bound, and has been
    /// seen to deliver 900 MB over HTTPS.
    var mostAfterSuspension = 8 << 20
    /// Longest suspension of a body that can be resumed with a range, 10 s: tasks that stay suspended keep other
    /// requests of the process waiting.
    var longestSuspension = Duration.seconds(10)

    #if canImport(FoundationNetworking)
        /// Never suspends: on Linux a suspended task would ask again from byte 0.
        static let platform = BufferBounds(suspendsAbove: .max, resumesBelow: 0)
    #else
        /// 1 MiB and 256 KiB: far apart, because each change costs a hop to the session's queue and to its connection.
        static let platform = BufferBounds(suspendsAbove: 1 << 20, resumesBelow: 1 << 18)
    #endif
}
