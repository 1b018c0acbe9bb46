import ByteRanges

/// Walks frames: MPEG audio, AAC in ADTS, AC-3.
struct AudioFrameReader: FormatReader {
    var format: MediaFormat { syntax.format }
    private let syntax: AudioFrame.Syntax
    private let goal: Double
    private let start: Int64
    private var position: Int64
    private var elapsed = 0.0
    private var frames = 0
    private let limits: TimingLimits
    private var seekTable: SeekTable?

    /// Damaged bytes between frames are searched so far.
    private static let longestDamage: Int64 = 64 << 10

    /// `start` is where the first frame begins, or what is searched for it.
    init(_ syntax: AudioFrame.Syntax, at start: Int64, goal: Double, limits: TimingLimits) {
        (self.syntax, self.goal, self.start, self.limits) = (syntax, goal, start, limits)
        position = start
    }

    var keptFrom: Int64 { position }

    var outlook: Outlook {
        Outlook(
            headers: ByteRangeSet(0..<position), mediaStart: start, position: position, elapsed: max(0, elapsed),
            duration: seekTable?.duration, point: seekTable?.position(of: goal))
    }

    mutating func read(_ bytes: MediaBytes) throws(Stop) -> ByteRangeSet {
        if position == start, syntax == .mpegAudio, seekTable == nil { try readSeekTable(bytes) }
        let view = ByteView(bytes)
        while elapsed < goal, position < bytes.file.upperBound {
            let header = try view.prefix(at: position, count: AudioFrame.Syntax.headerLength)
            guard let frame = syntax.frame(header) else {
                guard try resume(view) else { break }
                continue
            }
            guard frames < limits.steps else { throw .malformed }
            frames += 1
            // A decoder gives nothing for its first frame or two.
            if frames > 2 { elapsed += frame.duration }
            position += Int64(frame.length)
        }
        return ByteRangeSet(0..<position)
    }

    /// Goes to the next two frames behind damage; `false` at the tags or the end of the file.
    private mutating func resume(_ view: ByteView) throws(Stop) -> Bool {
        let room = Int(min(Self.longestDamage, view.bounds.upperBound - position))
        let rest = try view.slice(at: position, atLeast: room).prefix(room)
        if rest.has("TAG") || rest.has("APETAGEX") || rest.has("LYRICSBEGIN") { return end(view) }
        if let offset = syntax.firstFrame(in: rest, confirmedBy: 2, from: 1) {
            position += Int64(offset)
            return true
        }
        guard Int64(room) == view.bounds.upperBound - position else { throw .malformed }
        return end(view)
    }

    private mutating func end(_ view: ByteView) -> Bool {
        position = view.bounds.upperBound
        return false
    }

    private mutating func readSeekTable(_ bytes: MediaBytes) throws(Stop) {
        let first = try ByteView(bytes).prefix(at: position, count: SeekTable.longestFrame)
        guard let table = SeekTable(first, at: position, length: bytes.length) else { return }
        seekTable = table
        // Players skip the frame with the table.
        position += Int64(table.frameLength)
    }
}

extension AudioFrame.Syntax {
    /// Where the first frame begins that is followed by frames, `count` in all, or by the end of the bytes.
    func firstFrame(in bytes: ArraySlice<UInt8>, confirmedBy count: Int, from start: Int = 0) -> Int? {
        var index = start
        while index + Self.headerLength <= bytes.count {
            if isFrame(in: bytes, at: index, confirmedBy: count) { return index }
            index += 1
        }
        return nil
    }

    /// Whether `count` frames follow one another at `index`, or fewer at the end of the bytes.
    func isFrame(in bytes: ArraySlice<UInt8>, at index: Int, confirmedBy count: Int) -> Bool {
        var index = index
        var found = 0
        while found < count, index + Self.headerLength <= bytes.count {
            guard let frame = frame(bytes.dropFirst(index)) else { return false }
            found += 1
            index += frame.length
        }
        return found > 0
    }
}
