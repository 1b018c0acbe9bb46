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
