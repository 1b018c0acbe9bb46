import Reprise

/// The bytes of one body on its way to several readers: which pieces are kept, and whether more may be fetched.
///
/// All pieces are kept at first, so that readers can still join. After ``keepOnlyWindow()``, the fastest reader sets
/// the pace, and a reader that falls more than ``window`` behind it is cut off.
struct SharedBody {
    /// What a reader gets next.
    enum Step {
        case piece(any ByteChunk)
        /// Nothing yet.
        case wait
        /// The body has ended.
        case end
        /// The next piece was dropped, because the reader is too far behind.
        case overtaken
    }

    private struct Piece {
        let bytes: any ByteChunk
        /// Offset of the first byte in the body.
        let start: Int
    }

    /// The reader that a body begins with.
    static let firstReader = 1
    /// Number of bytes to keep before and after the fastest reader if the body is not kept whole.
    static let window = 1 << 20

    private var pieces: [Piece] = []
    /// Number of pieces dropped.
    private var dropped = 0
    /// Number of bytes received.
    private var length = 0
    /// Number of the next piece, by reader.
    private var positions = [firstReader: 0]
    private var lastReader = firstReader
    private var isKeptWhole = true
    private(set) var hasEnded = false

    /// Number of bytes of the pieces that are kept.
    var byteCount: Int { length - start(of: dropped) }

    /// Whether any reader is left.
    var isWanted: Bool { !positions.isEmpty }

    /// Adds a reader that begins with the first byte; `nil` if that is no longer kept.
    mutating func addReader() -> Int? {
        guard isKeptWhole else { return nil }
        lastReader += 1
        positions[lastReader] = 0
        return lastReader
    }

    mutating func removeReader(_ reader: Int) {
        positions[reader] = nil
        dropPassed()
    }

    /// Whether `reader` has to wait for nothing.
    func hasNext(for reader: Int) -> Bool {
        guard let position = positions[reader] else { return true }
        return position - dropped < pieces.count || hasEnded
    }

    /// The next piece for `reader`; ends for a reader that was removed.
    mutating func next(for reader: Int) -> Step {
        guard let position = positions[reader] else { return .end }
        guard position >= dropped else { return .overtaken }
        guard position - dropped < pieces.count else { return hasEnded ? .end : .wait }
        positions[reader] = position + 1
        let piece = pieces[position - dropped].bytes
        dropPassed()
        return .piece(piece)
    }

    mutating func append(_ piece: any ByteChunk) {
        pieces.append(Piece(bytes: piece, start: length))
        length += piece.count
    }

    mutating func end() { hasEnded = true }

    /// Keeps only a window from now on; readers can no longer join.
    mutating func keepOnlyWindow() {
        isKeptWhole = false
        dropPassed()
    }

    /// Whether another piece may be fetched.
    var hasRoom: Bool { isKeptWhole || length - fastest.start < Self.window }

    /// The fastest reader's next piece, and the offset of that piece in the body.
    private var fastest: (position: Int, start: Int) {
        let position = max(positions.values.max() ?? 0, dropped)
        return (position, start(of: position))
    }

    private func start(of position: Int) -> Int {
        position - dropped < pieces.count ? pieces[position - dropped].start : length
    }

    private mutating func dropPassed() {
        guard !isKeptWhole, let slowest = positions.values.min() else { return }
        let fastest = fastest
        while dropped < fastest.position, let first = pieces.first,
            dropped < slowest || fastest.start - first.start > Self.window
        {
            pieces.removeFirst()
            dropped += 1
        }
    }
}
