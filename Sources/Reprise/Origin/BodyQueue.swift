/// Pieces of a body in order, with their total size; none is larger than 1 MiB.
///
/// Pieces are kept as received, without copying, except small neighbors, which are joined: an origin that sends chunks
/// of one byte would otherwise cost far more memory than its bytes.
package struct BodyQueue<Piece: BodyPiece>: Sendable {
    /// Pieces below this size are joined; above it a copy costs more than a place in the queue.
    package static var smallPiece: Int { 4_096 }
    /// Joined pieces stay below this size.
    package static var joinedPiece: Int { 65_536 }
    /// Maximum size of one piece.
    package static var largestPiece: Int { 1 << 20 }

    /// The pieces, with `nil` for those that were taken.
    private var pieces: [Piece?] = []
    /// Index of the first piece not yet taken; taken ones are removed when they make up half of the array.
    private var first = 0
    /// Total size of all pieces, in bytes.
    package private(set) var byteCount = 0
    /// Whether the last piece is in memory of our own, to which small pieces may be added.
    private var endsInOwnMemory = false

    /// An empty queue.
    package init() {}

    package var isEmpty: Bool { first == pieces.count }
    package var count: Int { pieces.count - first }

    /// Appends `piece`: split if it is too large, joined with the last one if both are small.
    package mutating func append(_ piece: Piece) {
        guard piece.byteCount > 0 else { return }
        byteCount += piece.byteCount
        if joins(piece) { return }
        var rest = piece
        while rest.byteCount > Self.largestPiece { pieces.append(rest.removeFirst(Self.largestPiece)) }
        pieces.append(rest)
        endsInOwnMemory = false
    }

    /// Moves all pieces of `other` to the end of this queue.
    package mutating func append(contentsOf other: inout BodyQueue) {
        while let piece = other.popFirst() { append(piece) }
    }

    /// Removes and returns the first piece; `nil` if there is none.
    package mutating func popFirst() -> Piece? {
        guard first < pieces.count, let piece = pieces[first] else { return nil }
        pieces[first] = nil  // releases the bytes
        first += 1
        byteCount -= piece.byteCount
        if first == pieces.count { endsInOwnMemory = false }
        if first > pieces.count / 2 {
            pieces.removeFirst(first)
            first = 0
        }
        return piece
    }

    package mutating func removeAll() { self = BodyQueue() }

    /// Adds `piece` to the last one if both are small; returns whether it did.
    ///
    /// Removes the last piece while it grows, so that its memory is unique and is not copied.
    private mutating func joins(_ piece: Piece) -> Bool {
        guard piece.byteCount < Self.smallPiece, !isEmpty, let last = pieces.last ?? nil,
            last.byteCount + piece.byteCount <= Self.joinedPiece,
            endsInOwnMemory || last.byteCount < Self.smallPiece
        else { return false }
        pieces.removeLast()
        pieces.append(Self.joined(last, with: piece, inPlace: endsInOwnMemory))
        endsInOwnMemory = true
        return true
    }

    private static func joined(_ last: consuming Piece, with piece: Piece, inPlace: Bool) -> Piece {
        var joined = inPlace ? last : last.copied(capacity: 2 * smallPiece)
        joined.append(piece)
        return joined
    }
}
