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
