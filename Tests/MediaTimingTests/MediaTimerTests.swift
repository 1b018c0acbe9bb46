import ByteRanges
import MediaTiming
import RepriseTesting
import TestLimits
import Testing

/// What holds for every format: windows, limits, lengths that are unknown or wrong, bytes that are damaged.
@Suite(.limit(minutes: 1))
struct MediaTimerTests {
    private let song = (0..<900).flatMap { _ in mp3Frame() }
    private let film =
        ftyp + moov([(TestTrack(samples: Array(repeating: .init(), count: 100), chunks: [100]), places: [1200])])
        + box("mdat", filler(200_000))
    private let pages =
        page(1, granule: 0, isFirst: true, opusHead())
        + (1...20).flatMap { page(1, granule: $0 * 48_000, filler(4000)) }
    private let stream = (0..<90).flatMap { packet(256, time: $0 * 9000) + packet(256) }

    private var files: [[UInt8]] { [song, film, pages, stream] }

    @Test func anUnknownFormatIsItsFirstMebibyte() {
        let (start, seen) = timed(filler(3 << 20), first: .seconds(10))
        #expect(start.format == .unknown && start.basis == .firstBytes && start.tail == nil)
        #expect(start.ranges == [0..<1 << 20] && seen == [0..<16 << 10])
        #expect(timed(filler(5000), first: .seconds(10)).0.ranges == [0..<5000])
        #expect(timed([], first: .seconds(10)).0.ranges == [])
    }

    @Test func anUnknownLengthIsFoundAtTheEnd() {
        for file in files {
            let known = timed(file, first: .seconds(2)).0
            #expect(timed(file, first: .seconds(2), length: .some(nil)).0.ranges == known.ranges)
            let (all, _) = timed(file, first: .seconds(3600), length: .some(nil))
            #expect(all.ranges.contains(0..<Int64(file.count) / 2) && all.basis == .exact)
        }
    }

    @Test func aFileThatIsShorterThanItsLengthEndsWhereItEnds() {
        for file in files {
            let (start, _) = timed(file, first: .seconds(3600), length: Int64(file.count) + 9_000_000)
            #expect((start.ranges.bounds?.upperBound ?? 0) <= Int64(file.count) + 1)
        }
    }

    @Test func noBytesAreTheEnd() {
        var timer = MediaTimer(first: .seconds(3600), completeLength: nil)
        while case .needs(let need) = timer.next() {
            let window = need.window.clamped(to: 0..<Int64(song.count))
            timer.receive(Array(song[Int(window.lowerBound)..<Int(window.upperBound)]), at: window.lowerBound)
        }
        guard case .done(let start) = timer.next() else { return }
        #expect(start.ranges == ByteRangeSet(0..<Int64(song.count)) && start.basis == .exact)
    }

    @Test func noSecondsAndAllSecondsAreUnderstood() {
        for file in files {
            #expect(timed(file, first: .zero).0.ranges.byteCount < 5000)
            #expect(timed(file, first: .seconds(-5)).0.ranges.byteCount < 5000)
            #expect(timed(file, first: .seconds(Int64.max)).0.ranges.byteCount > file.count / 2)
        }
    }

    @Test func theSameNeedIsToldUntilBytesComeInAnyPieces() {
        var timer = MediaTimer(first: .seconds(5), completeLength: Int64(song.count))
        #expect(timer.next() == timer.next())
        var steps = 0
        while case .needs(let need) = timer.next() {
            // A thousand bytes at a time, and some again.
            let start = max(0, need.window.lowerBound - 10)
            let end = min(need.window.upperBound, need.window.lowerBound + 1000)
            timer.receive(Array(song[Int(start)..<Int(end)]), at: start)
            steps += 1
        }
        #expect(timer.next() == .done(timed(song, first: .seconds(5)).0))
        #expect(steps > 50)
    }

    @Test func windowsGrowAndTheirExtentsReachAlmostToTheEnd() {
        let long = (0..<20_000).flatMap { _ in mp3Frame() }
        var timer = MediaTimer(first: .seconds(300), completeLength: Int64(long.count))
        var needs: [MediaNeed] = []
        while case .needs(let need) = timer.next() {
            needs.append(need)
            timer.receive(
                Array(long[Int(need.window.lowerBound)..<Int(need.window.upperBound)]), at: need.window.lowerBound)
        }
        guard case .done(let start) = timer.next(), let end = start.ranges.bounds?.upperBound else { return }
        #expect(needs.count < 80 && needs.allSatisfy { $0.window.count <= 256 << 10 })
        #expect(zip(needs, needs.dropFirst()).allSatisfy { $0.window.upperBound == $1.window.lowerBound })
        // The second need already tells nine tenths of the result, and none tells more than the result.
        #expect(needs[1].extent.upperBound > end * 8 / 10)
        #expect(needs.dropLast().allSatisfy { $0.extent.upperBound <= end })
    }

    @Test func theLimitsHold() {
        var limits = TimingLimits()
        (limits.windows, limits.bytesSeen, limits.bytesHeld) = (3, 1 << 30, 1 << 30)
        #expect(timed(song, first: .seconds(20), limits: limits).0.basis == .average)
        (limits.windows, limits.steps) = (1000, 100)
        #expect(timed(song, first: .seconds(20), limits: limits).0.basis == .average)
        (limits.steps, limits.bytesSeen) = (1 << 20, 50 << 10)
        let (start, seen) = timed(song, first: .seconds(20), limits: limits)
        #expect(start.basis == .average && seen.byteCount <= 50 << 10)
    }

    @Test func damagedFilesStayWithinTheirBounds() {
        var random = SeededGenerator(seed: 7)
        for file in files {
            for _ in 0..<60 {
                var damaged = Array(file.prefix(Int.random(in: 0...file.count, using: &random)))
                for _ in 0..<Int.random(in: 1...30, using: &random) where !damaged.isEmpty {
                    let place = Int.random(in: 0..<min(damaged.count, 2000), using: &random)
                    damaged[place] =
                        [0, 0xFF, 0x80, UInt8.random(in: 0...255, using: &random)].randomElement(using: &random) ?? 0
                }
                let (start, _) = timed(damaged, first: .seconds(2))
                #expect((start.ranges.bounds?.upperBound ?? 0) <= Int64(damaged.count))
                #expect((start.ranges.bounds?.lowerBound ?? 0) >= 0)
            }
        }
    }
}
