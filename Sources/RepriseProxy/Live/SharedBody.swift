import Reprise

/// The bytes of one body on its way to several readers: which pieces are kept, and whether more may be fetched.
///
/// Kept whole at first, so that readers can still join. Once ``keepOnlyWindow()`` was called, pieces that every reader
/// has passed are dropped, and the slowest reader slows down the fetch.
struct SharedBody {
    /// What a reader gets next.
    enum Step {
        case piece(any ByteChunk)
        /// Nothing yet.
        case wait
        /// The body has ended.
        case end
    }

    /// The reader that a body begins with.
    static let firstReader = 1
    /// Number of bytes ahead of the slowest reader at which fetching pauses, if the body is not kept whole.
    static let window = 1 << 20

    private var pieces: [any ByteChunk] = []
    /// Number of pieces dropped.
    private var dropped = 0
    /// Number of the next piece, by reader.
    private var positions = [firstReader: 0]
    private var lastReader = firstReader
    private var isKeptWhole = true
    private(set) var hasEnded = false
    /// Number of bytes of the pieces that are kept.
    private(set) var byteCount = 0

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
        guard position - dropped < pieces.count else { return hasEnded ? .end : .wait }
        positions[reader] = position + 1
        let piece = pieces[position - dropped]
        dropPassed()
        return .piece(piece)
    }

    mutating func append(_ piece: any ByteChunk) {
        pieces.append(piece)
        byteCount += piece.count
        dropPassed()
    }

    mutating func end() { hasEnded = true }

    /// Drops what every reader has passed, from now on; no reader can join any more.
    mutating func keepOnlyWindow() {
        isKeptWhole = false
        dropPassed()
    }

    /// Whether another piece may be fetched.
    var hasRoom: Bool { isKeptWhole || byteCount < Self.window }

    private mutating func dropPassed() {
        guard !isKeptWhole, let slowest = positions.values.min() else { return }
        while dropped < slowest, let first = pieces.first {
            byteCount -= first.count
            pieces.removeFirst()
            dropped += 1
        }
    }
}
