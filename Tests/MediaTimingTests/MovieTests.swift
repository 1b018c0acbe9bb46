import ByteRanges
import MediaTiming
import RepriseTesting
import TestLimits
import Testing

/// MP4 with sample tables, against a naive reader of every sample.
@Suite(.limit(minutes: 1))
struct MovieTests {
    /// A movie in front of its chunks or behind them; `order` says which track's chunk comes next.
    private struct Movie {
        var tracks: [TestTrack]
        var order: [Int]
        var isMovieFirst = true
        /// Bytes between chunks that belong to no track.
        var gap = 0

        /// The file, the place of each chunk, and the place of `moov`.
        func file() -> (bytes: [UInt8], places: [[Int]], moov: Range<Int64>) {
            let length = moov(tracks.map { ($0, places: $0.chunks.map { _ in 0 }) }).count
            let head = ftyp.count + (isMovieFirst ? length : 0) + 8
            var places = tracks.map { _ in [Int]() }
            var (media, samples): ([UInt8], [Int]) = ([], tracks.map { _ in 0 })
            for track in order {
                places[track].append(head + media.count)
                let count = tracks[track].chunks[places[track].count - 1]
                let sizes = tracks[track].samples[samples[track]..<samples[track] + count].map(\.size)
                samples[track] += count
                media += filler(sizes.reduce(0, +) + gap)
            }
            let movie = moov(Array(zip(tracks, places)).map { ($0, places: $1) })
            let mdat = box("mdat", media)
            let start = Int64(isMovieFirst ? ftyp.count : ftyp.count + mdat.count)
            return (ftyp + (isMovieFirst ? movie + mdat : mdat + movie), places, start..<start + Int64(length))
        }
    }

    /// What must be given: the head, `moov`, and the samples of the naive reader.
    private func expected(_ movie: Movie, before time: Int) -> ByteRangeSet {
        let (_, places, moov) = movie.file()
        var result = ByteRangeSet(0..<Int64(ftyp.count + 8)).union(ByteRangeSet(moov))
        for (track, places) in zip(movie.tracks, places) {
            let delay = track.edits.reduce(0) { $1.time < 0 ? $0 - $1.duration : $0 + $1.time }
            let empty = track.edits.reduce(0) { $1.time < 0 ? $0 + $1.duration : $0 }
            guard time > empty else { continue }
            let lead = track.edits.isEmpty ? max(0, track.samples.first?.offset ?? 0) : 0
            result.formUnion(track.needed(before: time + delay + lead, places))
        }
        return result
    }

    private func simple(_ count: Int, size: Int = 1000, handler: String = "vide") -> TestTrack {
        TestTrack(handler: handler, samples: Array(repeating: .init(size: size), count: count), chunks: [count])
    }

    @Test func aMovieInFrontNeedsOneWindowAndGivesExactlyTheSamples() {
        let movie = Movie(tracks: [simple(600)], order: [0])
        let (start, seen) = timed(movie.file().bytes, first: .seconds(10))
        #expect(start.format == .isoMedia && start.basis == .exact && start.tail == nil)
        #expect(start.ranges == expected(movie, before: 10_000).union(ByteRangeSet(0..<7613)))
        #expect(seen == [0..<(16 << 10)])
    }

    @Test func aMovieBehindIsFetchedFromTheEnd() {
        var movie = Movie(tracks: [simple(6000)], order: [0])
        movie.isMovieFirst = false
        let (bytes, _, moov) = movie.file()
        let (start, seen) = timed(bytes, first: .seconds(10))
        #expect(start.ranges == expected(movie, before: 10_000))
        #expect(seen == [0..<(16 << 10), moov])
    }

    @Test func badlyInterleavedTracksGiveTwoRanges() {
        let movie = Movie(tracks: [simple(600), simple(600, size: 100, handler: "soun")], order: [0, 1])
        let (bytes, places, _) = movie.file()
        let (start, _) = timed(bytes, first: .seconds(5))
        #expect(start.ranges == expected(movie, before: 5000).union(ByteRangeSet(0..<Int64(places[0][0]))))
        #expect(start.ranges.spanCount == 2)
        #expect(start.ranges.contains(Int64(places[1][0])..<Int64(places[1][0] + 5000)))
    }

    @Test func subtitlesAreNotWaitedFor() {
        let movie = Movie(tracks: [simple(600), simple(600, size: 500, handler: "text")], order: [0, 1])
        let (bytes, places, _) = movie.file()
        #expect(!timed(bytes, first: .seconds(5)).0.ranges.contains(Int64(places[1][0])))
    }

    /// Random tracks: durations, reordered frames, chunks, gaps, tables of every kind, edits.
    @Test func randomMoviesGiveWhatANaiveReaderNeeds() {
        var random = SeededGenerator(seed: 14)
        for _ in 0..<100 {
            var movie = Movie(tracks: [], order: [])
            movie.isMovieFirst = Bool.random(using: &random)
            movie.gap = [0, 0, 30, 9000].randomElement(using: &random) ?? 0
            for index in 0..<Int.random(in: 1...3, using: &random) {
                movie.tracks.append(randomTrack(index, &random))
                movie.order += movie.tracks[index].chunks.map { _ in index }
            }
            movie.order.shuffle(using: &random)
            let seconds = Int.random(in: 1...5, using: &random)
            let (start, _) = timed(movie.file().bytes, first: .seconds(seconds))
            let wanted = expected(movie, before: seconds * 1000)
            #expect(wanted.subtracting(start.ranges).isEmpty)
            // What is more lies in holes of at most 4 KiB.
            let more = start.ranges.subtracting(wanted)
            #expect(more.allSatisfy { $0.count <= 4 << 10 }, "\(more) of \(start.ranges)")
        }
    }

    private func randomTrack(_ index: Int, _ random: inout SeededGenerator) -> TestTrack {
        var track = TestTrack(id: index + 1, handler: index == 0 ? "vide" : "soun")
        track.sizeBits = [0, 4, 8, 16, 32, 32].randomElement(using: &random) ?? 32
        track.isLong = Bool.random(using: &random)
        let most = track.sizeBits == 4 ? 15 : track.sizeBits == 8 ? 255 : 3000
        let size = Int.random(in: 1...most, using: &random)
        for _ in 0..<Int.random(in: 1...120, using: &random) {
            track.samples.append(
                .init(
                    duration: Int.random(in: 0...100, using: &random),
                    offset: Bool.random(using: &random) ? Int.random(in: -100...200, using: &random) : 0,
                    size: track.sizeBits == 0 ? size : Int.random(in: 0...most, using: &random)))
        }
        var rest = track.samples.count
        while rest > 0 {
            track.chunks.append(Int.random(in: 1...min(rest, 20), using: &random))
            rest -= track.chunks.last ?? rest
        }
        if Bool.random(using: &random) { track.edits.append((Int.random(in: 1...2000, using: &random), -1)) }
        if !track.edits.isEmpty || Bool.random(using: &random) {
            track.edits.append((60_000, Int.random(in: 0...900, using: &random)))
        }
        return track
    }

    @Test("ISO/IEC 14496-12 §8.6.6: an edit that begins late needs the sync sample before it", arguments: [30, 26])
    func aTrimmedBeginningIsLeftOut(second: Int) {
        var track = simple(600)
        for index in track.samples.indices { track.samples[index].isSync = index % 50 == 0 }
        track.edits = [(20_000, second * 1000)]
        let (bytes, places, _) = Movie(tracks: [track], order: [0]).file()
        // Samples 290 and 250 are decoded a second before the edit, and 250 is a sync sample.
        let media = Int64(places[0][0] + 250 * 1000)..<Int64(places[0][0] + (second + 2) * 10_000)
        #expect(timed(bytes, first: .seconds(2)).0.ranges == [0..<Int64(places[0][0]), media])
    }

    @Test func twoEditsAreTwoPlaces() {
        var track = simple(600)
        track.edits = [(1000, 40_000), (20_000, 10_000)]
        let (bytes, places, _) = Movie(tracks: [track], order: [0]).file()
        let media = [(390, 410), (90, 110)].map { Int64(places[0][0] + $0 * 1000)..<Int64(places[0][0] + $1 * 1000) }
        #expect(timed(bytes, first: .seconds(2)).0.ranges == ByteRangeSet([0..<Int64(places[0][0])] + media))
    }

    @Test func aLargeMovieIsReadInParts() {
        // 20,000 samples: 480 KB of tables.
        var limits = TimingLimits()
        limits.wholeTable = 64 << 10
        var track = simple(20_000, size: 1)
        track.chunks = Array(repeating: 1, count: 20_000)
        let length = moov([(track, places: track.chunks.map { _ in 0 })]).count
        let places = track.chunks.indices.map { ftyp.count + length + 8 + $0 }
        let bytes = ftyp + moov([(track, places: places)]) + box("mdat", filler(20_000))
        let (start, seen) = timed(bytes, first: .seconds(10), limits: limits)
        #expect(start.basis == .exact && start.ranges == [0..<Int64(places[0] + 100)])
        #expect(seen.byteCount < 120_000, "\(seen)")
    }

    @Test func boxesBetweenMovieAndMediaArePassedOver() {
        let length = moov([(simple(100), places: [0])]).count
        let place = ftyp.count + length + 8 + 50_000 + 8
        let bytes =
            ftyp + moov([(simple(100), places: [place])]) + box("free", filler(50_000)) + box("mdat", filler(100_000))
        let (start, _) = timed(bytes, first: .seconds(1))
        #expect(start.ranges.contains(0..<Int64(ftyp.count + length + 8)))
        #expect(start.ranges.contains(Int64(place - 8)..<Int64(place + 10_000)))
        #expect(start.ranges.byteCount < Int64(place + 10_000 - 40_000))
    }
}
