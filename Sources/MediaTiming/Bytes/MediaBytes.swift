/// The bytes of a file that are at hand, in pieces.
struct MediaBytes: Sendable {
    private struct Piece {
        var start: Int64
        var bytes: [UInt8]
        var end: Int64 { start + Int64(bytes.count) }
    }

    /// The largest position that counts: 2^53, as for offsets everywhere in Reprise.
    static let largestPosition: Int64 = 1 << 53

    /// Ascending; no two overlap or touch.
    private var pieces: [Piece] = []
    /// The complete length, if it is known.
    private(set) var length: Int64?
    /// Where the bytes end that were inserted last.
    private var lastEnd: Int64 = 0
    /// How many bytes to ask for if one is missing.
    var window: Int64
    /// ``MediaTimer/comesInOrder``.
    var comesInOrder = false

    init(length: Int64?, window: Int64) {
        (self.length, self.window) = (length.map { min($0, Self.largestPosition) }, window)
    }

    /// How many bytes are in memory.
    var held: Int { pieces.reduce(0) { $0 + $1.bytes.count } }

    /// The range of the whole file; up to the largest position if the length is unknown.
    var file: Range<Int64> { 0..<(length ?? Self.largestPosition) }

    /// The file ends at `position`, or did so before.
    mutating func end(at position: Int64) { length = min(length ?? .max, position) }

    mutating func insert(_ bytes: [UInt8], at start: Int64) {
        let end = start + Int64(bytes.count)
        guard start < end else { return }
        lastEnd = end
        let first = pieces.firstIndex { $0.end >= start } ?? pieces.count
        let last = pieces[first...].firstIndex { $0.start > end } ?? pieces.count
        guard first < last else { return pieces.insert(Piece(start: start, bytes: bytes), at: first) }
        if pieces[first].end <= end, pieces[first].start <= start {
            // The usual case: the next window of a walk.
            pieces[first].bytes.append(contentsOf: bytes.dropFirst(Int(pieces[first].end - start)))
        } else if pieces[first].start > start {
            pieces[first] = Piece(
                start: start, bytes: bytes + pieces[first].bytes.dropFirst(Int(end - pieces[first].start)))
        }
        for piece in pieces[(first + 1)..<last] where piece.end > pieces[first].end {
            pieces[first].bytes.append(contentsOf: piece.bytes.dropFirst(Int(pieces[first].end - piece.start)))
        }
        pieces.removeSubrange((first + 1)..<last)
    }

    /// Releases bytes before `position`; a part of a piece only if it is large, because the rest is copied.
    mutating func discard(before position: Int64) {
        pieces.removeAll { $0.end <= position }
        guard let first = pieces.first, position - first.start >= 1 << 20 else { return }
        pieces[0] = Piece(start: position, bytes: Array(first.bytes.dropFirst(Int(position - first.start))))
    }

    /// All bytes at hand from `position` on, without a hole; empty if that byte is not at hand.
    func slice(from position: Int64) -> ArraySlice<UInt8> {
        guard let piece = pieces.last(where: { $0.start <= position }), position < piece.end else { return [] }
        return piece.bytes[Int(position - piece.start)...]
    }

    /// Where to begin to ask for a missing byte at `position`: with the bytes since the last window, if these are few.
    ///
    /// A walk jumps over content that belongs to the result, and so its windows follow one another.
    func start(before position: Int64) -> Int64 {
        let isNear = lastEnd < position && position - lastEnd <= window
        return isNear && slice(from: lastEnd).isEmpty ? lastEnd : position
    }

    /// Where the next piece behind `position` begins.
    func nextPiece(after position: Int64) -> Int64? { pieces.first { $0.start > position }?.start }
}

/// Why a reader of a format cannot go on.
enum Stop: Error {
    /// These bytes are not here yet.
    case missing(MediaNeed)
    /// The file, or the part that is read, ends before.
    case end
    /// The bytes break the rules of the format, or claim more than the limits allow.
    case malformed
}
