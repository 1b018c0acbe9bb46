import ByteRanges

/// Walks the packets of an MPEG-2 transport stream (ISO/IEC 13818-1 §2.4.3) by the times of their PES packets.
struct TransportStreamReader: FormatReader {
    /// A stream of audio or video.
    private struct Stream: Sendable {
        var clock = StreamClock()
        /// Whether the frame that is under way is shown before the goal.
        var isWanted = true
        /// The last packet of such a frame ends here.
        var end: Int64 = 0
    }

    let format = MediaFormat.transportStream
    private let goal: Double
    /// 188 bytes, or more with times before or checksums behind.
    private let stride: Int64
    private var position: Int64
    private var streams: [UInt64: Stream] = [:]
    /// The earliest time, in units of 90 kHz.
    private var origin: Int64?
    private var damage: Int64 = 0

    /// More streams are not waited for.
    private static let mostStreams = 64
    /// Damaged bytes between packets are searched so far, in all.
    private static let longestDamage: Int64 = 256 << 10
    /// If one stream is so many seconds ahead, the others have ended, or are subtitles.
    private static let longestLag = 3.0

    /// `start` is the first sync byte.
    init(at start: Int64, stride: Int64, goal: Double) {
        (self.goal, self.stride, position) = (goal, stride, start)
    }

    var keptFrom: Int64 { position }

    private var times: [Double] { streams.values.map(\.clock.latest) }

    var outlook: Outlook {
        Outlook(headers: ByteRangeSet(0..<position), position: position, elapsed: max(0, times.max() ?? 0))
    }

    private var isDone: Bool {
        !streams.isEmpty
            && (streams.values.allSatisfy(\.clock.isDone) || times.contains { $0 >= goal + Self.longestLag })
    }

    mutating func read(_ bytes: MediaBytes) throws(Stop) -> ByteRangeSet {
        let view = ByteView(bytes)
        while !isDone {
            guard position + 188 <= view.bounds.upperBound else { return ByteRangeSet(0..<view.bounds.upperBound) }
            let packet = try view.slice(at: position, atLeast: 188).prefix(188)
            guard packet.byte(0) == 0x47 else {
                damage += 1
                guard damage <= Self.longestDamage else { throw .malformed }
                position += 1
                continue
            }
            note(packet)
            position += stride
        }
        return ByteRangeSet(0..<(streams.values.map(\.end).max() ?? position))
    }

    private mutating func note(_ packet: ArraySlice<UInt8>) {
        let identifier = packet.number(at: 1, count: 2) & 0x1FFF
        let startsUnit = packet.byte(1) & 0x40 != 0
        let hasAdaptation = packet.byte(3) & 0x20 != 0
        let payload = 4 + (hasAdaptation ? 1 + Int(packet.byte(4)) : 0)
        if startsUnit, packet.byte(3) & 0x10 != 0, let time = Self.time(packet.dropFirst(payload)) {
            begin(identifier, at: time)
        }
        guard streams[identifier]?.isWanted == true else { return }
        streams[identifier]?.end = position + 188
    }

    private mutating func begin(_ identifier: UInt64, at time: Int64) {
        let first = origin ?? time
        // 33 bits wrap after 26 hours: the nearer way round counts.
        let wrapped = (time - first) & 0x1_FFFF_FFFF
        let units = wrapped < 1 << 32 ? wrapped : wrapped - 1 << 33
        // A stream that comes later may begin earlier.
        let isEarliest = units < 0 && streams[identifier] == nil
        origin = isEarliest ? time : first
        guard streams[identifier] != nil || streams.count < Self.mostStreams else { return }
        let seconds = isEarliest ? 0 : Double(units) / 90_000
        streams[identifier, default: Stream()].isWanted =
            streams[identifier, default: Stream()].clock.note(seconds, goal: goal)
    }

    /// The presentation time of a PES packet of audio or video (§2.4.3.6).
    private static func time(_ payload: ArraySlice<UInt8>) -> Int64? {
        guard payload.count >= 14, payload.number(3) == 1 else { return nil }
        let identifier = payload.byte(3)
        let isMedia = (0xC0...0xEF).contains(identifier) || identifier == 0xBD || identifier == 0xFD
        guard isMedia, payload.byte(7) & 0x80 != 0 else { return nil }
        let high = Int64(payload.byte(9) >> 1 & 7) << 30
        let middle = Int64(payload.number(at: 10, count: 2) >> 1) << 15
        return high | middle | Int64(payload.number(at: 12, count: 2) >> 1)
    }
}
