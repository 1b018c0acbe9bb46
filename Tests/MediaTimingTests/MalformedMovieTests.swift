import ByteRanges
import MediaTiming
import TestLimits
import Testing

/// MP4 that claims what it has not: the result is bounded, and an estimate where the tables fail.
@Suite(.limit(minutes: 1))
struct MalformedMovieTests {
    private let track = TestTrack(samples: Array(repeating: .init(), count: 10), chunks: [10])

    /// The file with `table` in place of the track's own; 200 samples of 1,000 bytes.
    private func file(replacing name: String, by table: [UInt8]) -> [UInt8] {
        var track = track
        track.samples = Array(repeating: .init(), count: 200)
        track.chunks = [200]
        var movie = moov([(track, places: [4000])])
        let old = movie.indices.first { movie[$0...].starts(with: Array(name.utf8)) } ?? 4
        // The old table becomes a `free` box, and the new one is appended to `stbl` and all around it.
        movie.replaceSubrange(old..<old + 4, with: Array("free".utf8))
        for around in ["moov", "trak", "mdia", "minf", "stbl"] {
            let place = (movie.indices.first { movie[$0...].starts(with: Array(around.utf8)) } ?? 4) - 4
            let size = movie[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
            movie.replaceSubrange(place..<place + 4, with: big(size + table.count))
        }
        return ftyp + movie + table + filler(300_000)
    }

    @Test(arguments: [
        ("stts", box("stts", big(0), big(0xFFFF_FFFF), big(0xFFFF_FFFF), big(0))),
        ("stts", box("stts", big(0), big(1), big(0xFFFF_FFFF), big(0xFFFF_FFFF))),
        ("stsz", box("stsz", big(0), big(0xFFFF_FFFF), big(0xFFFF_FFFF))),
        ("stsz", box("stsz", big(0), big(0), big(0xFFFF_FFFF))),
        ("stsc", box("stsc", big(0), big(2), big(1), big(0xFFFF_FFFF), big(1), big(0xFFFF_FFFF), big(1), big(1))),
        ("stsc", box("stsc", big(0), big(1), big(0), big(0), big(0))),
        ("stco", box("co64", big(0), big(1), filler(8))),
        ("stco", box("stco", big(0), big(0xFFFF_FFFF))),
    ])
    func tablesThatClaimTooMuchStayBounded(_ name: String, _ table: [UInt8]) {
        let bytes = file(replacing: name, by: table)
        let (start, seen) = timed(bytes, first: .seconds(2))
        #expect(start.format == .isoMedia)
        #expect((start.ranges.bounds?.upperBound ?? 0) <= Int64(bytes.count))
        #expect(seen.byteCount < 100_000)
    }

    @Test func aBoxThatEndsBehindItsParentIsCut() {
        let movie = moov([(track, places: [100])])
        // The last box inside claims a gigabyte.
        let bytes = ftyp + movie.dropLast(24) + big(1 << 30) + movie.suffix(20) + filler(20_000)
        #expect(timed(bytes, first: .seconds(1)).0.basis == .exact)
    }

    @Test func sizesOfZeroAndOneAreUnderstood() {
        let length = moov([(track, places: [0])]).count
        // `mdat` to the end of the file, whose samples begin late; `mdat` with a size of 64 bits, before the movie.
        let head = ftyp.count + length + 8
        let toTheEnd = ftyp + moov([(track, places: [head + 20_000])]) + box("mdat", claiming: 0, filler(30_000))
        let place = Int64(head + 20_000)
        #expect(timed(toTheEnd, first: .milliseconds(500)).0.ranges == [0..<Int64(head), place..<place + 5000])
        let long = ftyp + big(1) + Array("mdat".utf8) + big(60_016, 8) + filler(60_000)
        let start = timed(long + moov([(track, places: [ftyp.count + 16])]), first: .milliseconds(500)).0
        #expect(start.ranges == [0..<Int64(ftyp.count + 16 + 5000), Int64(long.count)..<Int64(long.count + length)])
    }

    @Test(arguments: [
        box("moov", claiming: 4, filler(20)), box("moov", box("trak", claiming: 3)), box("mdat", claiming: 0),
        big(1) + Array("mdat".utf8) + big(-1, 8), big(1) + Array("mdat".utf8) + big(3, 8), [0, 0, 0], [],
        box("mdat", claiming: 1 << 31), box("moof", box("traf")), box("moov", box("mvhd", big(0, 100))),
    ])
    func nothingUsableIsTheFirstMebibyte(_ rest: [UInt8]) {
        let bytes = ftyp + rest
        let (start, _) = timed(bytes + filler(bytes.last == 0xA5 ? 2 << 20 : 0), first: .seconds(2))
        #expect(start.basis == .firstBytes && start.ranges.byteCount > 0)
        #expect(start.ranges.byteCount <= 1 << 20 + 1 << 12)
    }

    @Test func aMovieThatIsCutInTheMiddleOfItsTablesIsAnEstimate() {
        let bytes = ftyp + moov([(track, places: [100])])
        for count in ftyp.count..<bytes.count {
            let (start, _) = timed(Array(bytes[..<count]), first: .seconds(2))
            #expect(start.ranges.contains(0..<Int64(count)))
        }
    }

    @Test func manyTracksAndLongTablesEnd() {
        let many = ftyp + box("moov", (0..<2000).flatMap { _ in box("trak", filler(8)) })
        #expect(timed(many, first: .seconds(1)).0.basis == .firstBytes)
        var limits = TimingLimits()
        limits.steps = 50
        var track = track
        track.samples = Array(repeating: .init(), count: 400)
        track.chunks = [400]
        let bytes = ftyp + moov([(track, places: [9000])]) + filler(400_000)
        #expect(timed(bytes, first: .seconds(10), limits: limits).0.basis == .proportion)
    }
}
