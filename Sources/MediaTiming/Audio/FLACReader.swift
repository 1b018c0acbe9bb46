import ByteRanges

/// Native FLAC (RFC 9639): metadata blocks, then frames that are found by their headers.
struct FLACReader: FormatReader {
    let format = MediaFormat.flac
    private let goal: Double
    /// The next metadata block, then the search for frames.
    private var position: Int64
    private var stream: StreamInformation?
    private var point: Int64?
    /// Where the first frame begins, once the metadata have ended.
    private var firstFrame: Int64?
    /// The last frame that was found.
    private var last: FLACFrameHeader?
    private var lastStart: Int64 = 0
    private var blocks = 0

    /// The first metadata block (RFC 9639 §8.2).
    private struct StreamInformation: Sendable {
        let sampleRate: Double
        /// In samples; `nil` if it is not told.
        let length: Double?
        /// Samples of all frames but the last, if it is the same.
        let blockSize: Int64
    }

    /// More metadata blocks are malformed.
    private static let mostBlocks = 1024

    /// `start` is the place of `fLaC`.
    init(at start: Int64, goal: Double) {
        self.goal = goal
        position = start + 4
    }

    var keptFrom: Int64 { firstFrame == nil ? 0 : position }

    var outlook: Outlook {
        let start = firstFrame ?? position
        let seconds = stream.flatMap { stream in
            last.map { Double($0.firstSample(blockSize: stream.blockSize)) / stream.sampleRate }
        }
        let duration = stream.flatMap { stream in stream.length.map { $0 / stream.sampleRate } }
        return Outlook(
            headers: ByteRangeSet(0..<start), mediaStart: start, position: max(start, lastStart), elapsed: seconds ?? 0,
            duration: duration, point: point.map { start + $0 })
    }

    mutating func read(_ bytes: MediaBytes) throws(Stop) -> ByteRangeSet {
        while firstFrame == nil { try readBlock(bytes) }
        guard let stream else { throw .malformed }
        let view = ByteView(bytes)
        while true {
            let rest = view.bounds.upperBound - position
            guard rest >= Int64(FLACFrameHeader.longest) else { return ByteRangeSet(0..<view.bounds.upperBound) }
            let slice = try view.slice(at: position, atLeast: FLACFrameHeader.longest)
            var index = 0
            while index + FLACFrameHeader.longest <= slice.count {
                if let header = FLACFrameHeader(slice, at: index), header.follows(last, blockSize: stream.blockSize) {
                    (last, lastStart) = (header, position + Int64(index))
                    if Double(header.firstSample(blockSize: stream.blockSize)) / stream.sampleRate >= goal {
                        return ByteRangeSet(0..<lastStart)
                    }
                }
                index += 1
            }
            position += Int64(index)
        }
    }

    /// One metadata block (RFC 9639 §8.1); pictures are passed, but players read them.
    private mutating func readBlock(_ bytes: MediaBytes) throws(Stop) {
        blocks += 1
        guard blocks <= Self.mostBlocks else { throw .malformed }
        let view = ByteView(bytes)
        let header = try view.u32(at: position)
        let (content, size) = (position + 4, header & 0xFF_FFFF)
        let end = try content.moved(by: size)
        switch header >> 24 & 0x7F {
        case 0:
            let fields = try view.slice(at: content, atLeast: 18)
            let rate = fields.number(at: 10, count: 3) >> 4
            let samples = fields.number(at: 13, count: 5) & 0xF_FFFF_FFFF
            guard rate > 0 else { throw .malformed }
            stream = StreamInformation(
                sampleRate: Double(rate), length: samples > 0 ? Double(samples) : nil,
                blockSize: Int64(fields.number(at: 2, count: 2)))
        case 3:
            if let stream { try readPoints(content..<end, of: stream, in: view) }
        default: break
        }
        position = end
        if header & 0x8000_0000 != 0 { firstFrame = end }
    }

    /// The first seek point at or behind the goal (RFC 9639 §8.5).
    private mutating func readPoints(_ table: Range<Int64>, of stream: StreamInformation, in view: ByteView)
        throws(Stop)
    {
        for place in stride(from: table.lowerBound, through: table.upperBound - 18, by: 18) {
            let sample = try view.number(at: place, count: 8)
            // A placeholder has all ones, and only others follow it.
            guard sample != .max else { return }
            if Double(sample) / stream.sampleRate >= goal {
                point = try view.offset(at: place + 8)
                return
            }
        }
    }
}
