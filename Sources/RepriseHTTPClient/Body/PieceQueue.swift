import NIOCore

/// Pieces of a body in order, with their total size.
///
/// Pieces are kept as received, without copying, except small neighbors, which are joined: an origin that sends chunks
/// of one byte would otherwise cost far more memory than its bytes.
struct PieceQueue {
    private var pieces = CircularBuffer<ByteBuffer>()
    /// Readable bytes of all pieces.
    private(set) var byteCount = 0
    /// Whether the last piece is in storage of our own, to which small pieces may be added.
    private var endsInOwnStorage = false

    /// Pieces below this size are joined; above it a copy costs more than a place in the queue.
    static let smallPiece = 4_096
    /// Joined pieces stay below this size.
    static let joinedPiece = 65_536

    var isEmpty: Bool { pieces.isEmpty }
    var count: Int { pieces.count }

    mutating func append(_ piece: ByteBuffer) {
        let size = piece.readableBytes
        guard size > 0 else { return }
        byteCount += size
        guard size < Self.smallPiece, let last = pieces.last, last.readableBytes + size <= Self.joinedPiece,
            endsInOwnStorage || last.readableBytes < Self.smallPiece
        else {
            pieces.append(piece)
            endsInOwnStorage = false
            return
        }
        join(piece)
    }

    mutating func append(contentsOf other: inout PieceQueue) {
        while let piece = other.popFirst() { append(piece) }
    }

    mutating func popFirst() -> ByteBuffer? {
        guard let piece = pieces.popFirst() else { return nil }
        byteCount -= piece.readableBytes
        if pieces.isEmpty { endsInOwnStorage = false }
        return piece
    }

    mutating func removeAll() {
        pieces.removeAll()
        byteCount = 0
        endsInOwnStorage = false
    }

    /// Removes the last piece while it grows, so that its storage is unique and is not copied.
    private mutating func join(_ piece: ByteBuffer) {
        guard let last = pieces.popLast() else { return }
        var joined: ByteBuffer
        if endsInOwnStorage {
            joined = last
        } else {
            joined = ByteBufferAllocator().buffer(capacity: 2 * Self.smallPiece)
            joined.writeImmutableBuffer(last)
        }
        joined.writeImmutableBuffer(piece)
        pieces.append(joined)
        endsInOwnStorage = true
    }
}
