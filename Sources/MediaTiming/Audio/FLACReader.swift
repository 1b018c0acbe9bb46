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

/// The header of a FLAC frame (RFC 9639 §9.1).
struct FLACFrameHeader: Sendable {
    /// No header is longer.
    static let longest = 16

    /// The number of the frame, or of its first sample if block sizes vary.
    let number: Int64
    let countsSamples: Bool
    /// Samples of this frame.
    let blockSize: Int64

    /// Reads the header at `start`, where ``longest`` bytes must follow.
    ///
    /// Its checksum must be right, because audio may look like one.
    init?(_ bytes: ArraySlice<UInt8>, at start: Int) {
        guard bytes.byte(start) == 0xFF, bytes.byte(start + 1) & 0xFE == 0xF8 else { return nil }
        let (sizeCode, rateCode) = (bytes.byte(start + 2) >> 4, bytes.byte(start + 2) & 15)
        let (channels, depth) = (bytes.byte(start + 3) >> 4, bytes.byte(start + 3) >> 1 & 7)
        guard sizeCode > 0, rateCode < 15, channels < 11, depth != 3, bytes.byte(start + 3) & 1 == 0 else { return nil }
        countsSamples = bytes.byte(start + 1) & 1 == 1
        guard let (number, length) = Self.codedNumber(bytes, at: start + 4) else { return nil }
        self.number = number
        var place = start + 4 + length
        switch sizeCode {
        case 1: blockSize = 192
        case 2...5: blockSize = 576 << (Int64(sizeCode) - 2)
        case 6:
            blockSize = Int64(bytes.byte(place)) + 1
            place += 1
        case 7:
            blockSize = Int64(bytes.number(at: place, count: 2)) + 1
            place += 2
        default: blockSize = 256 << (Int64(sizeCode) - 8)
        }
        place += rateCode < 12 ? 0 : rateCode == 12 ? 1 : 2
        guard Self.checksum(bytes, at: start..<place) == bytes.byte(place) else { return nil }
    }

    /// The frame's first sample, where all frames but the last have `blockSize` samples.
    func firstSample(blockSize: Int64) -> Int64 {
        // Numbers have 36 bits at most, and sizes 16.
        countsSamples ? number : number * blockSize
    }

    /// Whether this frame can come behind `other`: the next one, or a later one behind damage.
    func follows(_ other: FLACFrameHeader?, blockSize: Int64) -> Bool {
        guard let other else { return number == 0 || countsSamples }
        let distance = number - other.number
        return other.countsSamples == countsSamples && distance > 0 && distance <= (countsSamples ? 1 << 20 : 64)
    }

    /// A number coded like UTF-8, with up to seven bytes (RFC 9639 §9.1.5), and its length.
    private static func codedNumber(_ bytes: ArraySlice<UInt8>, at start: Int) -> (Int64, Int)? {
        let first = bytes.byte(start)
        let ones = (~first).leadingZeroBitCount
        guard ones != 1, ones < 8 else { return nil }
        guard ones > 0 else { return (Int64(first), 1) }
        var value = Int64(first) & (0x7F >> Int64(ones))
        for index in 1..<ones {
            let byte = bytes.byte(start + index)
            guard byte & 0xC0 == 0x80 else { return nil }
            value = value << 6 | Int64(byte & 0x3F)
        }
        return (value, ones)
    }

    /// CRC-8 with the polynomial x⁸ + x² + x + 1.
    private static func checksum(_ bytes: ArraySlice<UInt8>, at place: Range<Int>) -> UInt8 {
        var value: UInt8 = 0
        for index in place {
            value ^= bytes.byte(index)
            for _ in 0..<8 { value = value & 0x80 != 0 ? value << 1 ^ 0x07 : value << 1 }
        }
        return value
    }
}
