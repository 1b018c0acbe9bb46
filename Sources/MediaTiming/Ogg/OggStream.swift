/// One logical stream of an Ogg file, and how its granule positions count.
struct OggStream: Sendable {
    /// What its first packet says it is.
    private enum Clock: Sendable {
        /// Samples per second, and samples before the first that is heard.
        case samples(rate: Double, skipped: Double)
        /// Frames since the key frame, in the lower bits (Theora).
        case frames(rate: Double, shift: Int64)
    }

    private let clock: Clock
    /// Seconds at the end of the last page with a granule position.
    private(set) var time = 0.0
    /// Seconds at which a stream begins that was cut from a longer one.
    private var origin: Double?

    /// A page takes seconds, not minutes: a stream whose first page ends later was cut from a longer one.
    private static let longestPage = 60.0

    /// `packet` is the first one; `nil` if it is neither audio nor video.
    init?(_ packet: ArraySlice<UInt8>) {
        if packet.has("OpusHead"), packet.count >= 12 {
            // RFC 7845 §4 and §5.1: always 48 kHz.
            clock = .samples(rate: 48_000, skipped: Double(packet.littleEndian(at: 10, count: 2)))
        } else if packet.has("\u{1}vorbis"), packet.count >= 16 {
            clock = .samples(rate: Double(packet.littleEndian(at: 12, count: 4)), skipped: 0)
        } else if packet.has("fLaC", at: 9), packet.count >= 31 {
            // RFC 9639 §10.1: STREAMINFO stands behind 17 bytes.
            clock = .samples(rate: Double(packet.number(at: 27, count: 3) >> 4), skipped: 0)
        } else if packet.has("Speex   "), packet.count >= 40 {
            clock = .samples(rate: Double(packet.littleEndian(at: 36, count: 4)), skipped: 0)
        } else if packet.has("theora", at: 1), packet.count >= 42 {
            let rate = Double(packet.number(at: 22, count: 4)) / max(1, Double(packet.number(at: 26, count: 4)))
            clock = .frames(rate: rate, shift: Int64(packet.number(at: 40, count: 2) >> 5 & 31))
        } else {
            return nil
        }
        switch clock {
        case .samples(let rate, _), .frames(let rate, _): guard rate > 0 else { return nil }
        }
    }

    /// Takes a page's granule position; −1 means that no packet ends on it.
    mutating func note(granule: Int64) {
        guard granule > 0 else { return }
        let seconds: Double
        switch clock {
        case .samples(let rate, let skipped): seconds = (Double(granule) - skipped) / rate
        case .frames(let rate, let shift):
            let mask = Int64(1) << shift - 1
            seconds = Double((granule >> shift) + (granule & mask)) / rate
        }
        if origin == nil { origin = seconds > Self.longestPage ? seconds : 0 }
        time = max(time, seconds - (origin ?? 0))
    }
}
