import ByteRanges

/// Walks the pages of an Ogg file (RFC 3533 §6) until every stream has come to the goal.
struct OggReader: FormatReader {
    let format = MediaFormat.ogg
    private let goal: Double
    private var position: Int64 = 0
    /// The pages of the current link of a chain.
    private var streams: [UInt64: OggStream] = [:]
    /// Seconds of the links before.
    private var linked = 0.0
    private var hasData = false
    private var damage: Int64 = 0

    /// More streams are not waited for.
    private static let mostStreams = 64
    /// Damaged bytes between pages are searched so far, in all.
    private static let longestDamage: Int64 = 256 << 10
    /// If one stream is so many seconds ahead, the others have ended.
    private static let longestLag = 10.0

    init(goal: Double) { self.goal = goal }

    var keptFrom: Int64 { position }

    var outlook: Outlook {
        let elapsed = linked + (streams.values.map(\.time).min() ?? 0)
        return Outlook(headers: ByteRangeSet(0..<position), position: position, elapsed: elapsed)
    }

    private var isDone: Bool {
        let times = streams.values.map { linked + $0.time }
        return hasData && !times.isEmpty
            && (times.allSatisfy { $0 >= goal } || times.contains { $0 >= goal + Self.longestLag })
    }

    mutating func read(_ bytes: MediaBytes) throws(Stop) -> ByteRangeSet {
        let view = ByteView(bytes)
        while !isDone {
            // The header is 27 bytes and the table of segments.
            guard position + 27 <= view.bounds.upperBound else { return ByteRangeSet(0..<view.bounds.upperBound) }
            let header = try view.slice(at: position, atLeast: 27)
            guard header.has("OggS"), header.byte(4) == 0 else {
                try skipDamage(view)
                continue
            }
            let segments = Int(header.byte(26))
            let table = try view.prefix(at: position + 27, count: segments)
            let size = table.reduce(0) { $0 + Int($1) }
            let content = position + 27 + Int64(segments)
            let serial = header.littleEndian(at: 14, count: 4)
            if header.byte(5) & 2 != 0 {
                try begin(serial, packet: view.prefix(at: content, count: min(size, 64)))
            } else {
                hasData = true
                streams[serial]?.note(granule: Int64(bitPattern: header.littleEndian(at: 6, count: 8)))
            }
            position = min(content + Int64(size), view.bounds.upperBound)
            // Streams of which none can be timed tell nothing.
            guard !hasData || !streams.isEmpty else { throw .malformed }
        }
        return ByteRangeSet(0..<position)
    }

    private mutating func begin(_ serial: UInt64, packet: ArraySlice<UInt8>) throws(Stop) {
        if hasData {
            // The next link of a chain, whose times begin again (RFC 3533 §4).
            linked += streams.values.map(\.time).max() ?? 0
            (streams, hasData) = ([:], false)
        }
        guard streams.count < Self.mostStreams else { throw .malformed }
        streams[serial] = OggStream(packet)
    }

    private mutating func skipDamage(_ view: ByteView) throws(Stop) {
        let slice = try view.prefix(at: position, count: 4 << 10)
        let next = slice.indices.dropFirst().first { slice[$0...].has("OggS") }
        // Three bytes may be the beginning of the next capture pattern.
        let skipped = next.map { $0 - slice.startIndex } ?? max(1, slice.count - 3)
        damage += Int64(skipped)
        guard damage <= Self.longestDamage else { throw .malformed }
        position += Int64(skipped)
    }
}

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
