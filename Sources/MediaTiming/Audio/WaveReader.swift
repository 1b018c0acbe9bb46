import ByteRanges

/// RIFF WAVE with RF64 and BW64 (EBU Tech 3306), and AIFF: a rate and a place.
struct WaveReader: FormatReader {
    let format: MediaFormat
    private let goal: Double
    private var position: Int64 = 12
    private var chunks = 0
    /// Bytes per second, and of one frame of samples.
    private var rate: (perSecond: Double, frame: Int64, isConstant: Bool)?
    /// Where the sound stands, and how long it is.
    private var sound: Range<Int64>?
    /// The size of the sound if the chunk's own is 2^32 − 1 (`ds64`).
    private var longSize: Int64?
    /// Seconds of all samples, of AIFF.
    private var duration: Double?

    /// More chunks before the sound are malformed.
    private static let mostChunks = 256

    init(_ format: MediaFormat, goal: Double) { (self.format, self.goal) = (format, goal) }

    var keptFrom: Int64 { position }

    var outlook: Outlook {
        let start = sound?.lowerBound ?? position
        return Outlook(headers: ByteRangeSet(0..<start), mediaStart: start, position: start, duration: duration)
    }

    mutating func read(_ bytes: MediaBytes) throws(Stop) -> ByteRangeSet {
        while sound == nil || rate == nil {
            let view = ByteView(bytes)
            chunks += 1
            guard chunks <= Self.mostChunks else { throw .malformed }
            let header = try view.slice(at: position, atLeast: 8)
            let size = Int64(format == .wave ? header.littleEndian(at: 4, count: 4) : header.number(at: 4, count: 4))
            let content = position + 8
            if format == .wave {
                try readWave(header, contentAt: content, size: size, in: view)
            } else {
                try readAIFF(header, contentAt: content, size: size, in: view)
            }
            // Chunks are padded to an even size.
            position = try content.moved(by: size + size % 2)
        }
        guard let rate, let sound, rate.isConstant else { throw .malformed }
        let frames = (rate.perSecond * goal / Double(rate.frame)).rounded(.up)
        let end = sound.lowerBound + Int64(saturating: frames * Double(rate.frame))
        return ByteRangeSet(0..<min(end, sound.upperBound))
    }

    private mutating func readWave(
        _ header: ArraySlice<UInt8>, contentAt content: Int64, size: Int64, in view: ByteView
    ) throws(Stop) {
        if header.has("ds64") {
            longSize = Int64(clamping: try view.slice(at: content, atLeast: 16).littleEndian(at: 8, count: 8))
        } else if header.has("fmt ") {
            let fields = try view.slice(at: content, atLeast: 16)
            let (perSecond, frame) = (
                fields.littleEndian(at: 8, count: 4), Int64(fields.littleEndian(at: 12, count: 2))
            )
            guard perSecond > 0, frame > 0 else { throw .malformed }
            // PCM, float, A-law, µ-law and the extensible form of these have a constant rate; ADPCM has, too.
            let tag = fields.littleEndian(at: 0, count: 2)
            rate = (Double(perSecond), frame, [1, 2, 3, 6, 7, 0x11, 0xFFFE].contains(tag))
        } else if header.has("data") {
            let isLong = size == Int64(UInt32.max)
            let size = isLong ? min(longSize ?? .max, MediaBytes.largestPosition - content) : size
            sound = content..<(try content.moved(by: max(0, size)))
        }
    }

    private mutating func readAIFF(
        _ header: ArraySlice<UInt8>, contentAt content: Int64, size: Int64, in view: ByteView
    ) throws(Stop) {
        if header.has("COMM") {
            let fields = try view.slice(at: content, atLeast: size >= 22 ? 22 : 18)
            let (channels, frames) = (Int64(fields.number(at: 0, count: 2)), Double(fields.number(at: 2, count: 4)))
            let frame = (Int64(fields.number(at: 6, count: 2)) + 7) / 8 * channels
            // An 80-bit number: 15 bits of exponent, 64 of mantissa.
            let exponent = Int(fields.number(at: 8, count: 2) & 0x7FFF) - 16_383 - 63
            let sampleRate = Double(
                sign: .plus, exponent: exponent, significand: Double(fields.number(at: 10, count: 8)))
            guard frame > 0, sampleRate > 0, sampleRate < 1e9 else { throw .malformed }
            let isPlain =
                size < 22
                || ["NONE", "sowt", "twos", "fl32", "FL32", "fl64", "in24", "in32"].contains { fields.has($0, at: 18) }
            duration = frames > 0 ? frames / sampleRate : nil
            rate = (sampleRate * Double(frame), frame, isPlain)
        } else if header.has("SSND") {
            let offset = try view.u32(at: content)
            let start = try content.moved(by: 8 + offset)
            sound = start..<max(start, try content.moved(by: size))
        }
    }
}
