import ByteRanges
import MediaTiming
import TestLimits
import Testing

/// Ogg pages (RFC 3533 §6) with the granule positions of their codecs.
@Suite(.limit(minutes: 1))
struct OggTests {
    /// Pages of a second each, with `size` bytes.
    private func seconds(_ serial: Int, _ range: Range<Int>, size: Int = 4000, rate: Int = 48_000, skip: Int = 0)
        -> [[UInt8]]
    {
        range.map { page(serial, granule: ($0 + 1) * rate + skip, filler(size)) }
    }

    private func count(_ pages: [[UInt8]]) -> Int64 { Int64(pages.reduce(0) { $0 + $1.count }) }

    @Test("RFC 7845 §4.2: granules of Opus count 48 kHz and the pre-skip")
    func pagesUpToTheGoalAreGiven() {
        let head = [page(1, granule: 0, isFirst: true, opusHead(preSkip: 3840)), page(1, granule: 0, filler(300))]
        let pages = head + seconds(1, 0..<30, skip: 3840)
        let (start, _) = timed(pages.flatMap { $0 }, first: .seconds(4))
        #expect(start.format == .ogg && start.basis == .exact)
        #expect(start.ranges == ByteRangeSet(0..<count(head + pages[2..<6])))
        #expect(start.tail?.count == 64 << 10)
    }

    @Test func everyStreamMustComeToTheGoal() {
        let vorbis = [1] + Array("vorbis".utf8) + big(0, 4) + [2] + little(44_100) + filler(14)
        let head = [page(1, granule: 0, isFirst: true, opusHead()), page(2, granule: 0, isFirst: true, vorbis)]
        // The second stream lags by two pages, and one page ends no packet.
        let first = seconds(1, 0..<20)
        let second = [page(2, granule: -1, filler(2550))] + seconds(2, 0..<20, rate: 44_100)
        let pages = head + first[..<3] + zip(first[3...], second).flatMap { [$0, $1] }
        let wanted = head + first[..<3] + zip(first[3...], second).prefix(6).flatMap { [$0, $1] }
        #expect(timed(pages.flatMap { $0 }, first: .seconds(5)).0.ranges == ByteRangeSet(0..<count(wanted)))
    }

    @Test("RFC 3533 §4: the times of a chain's next link begin again")
    func linksOfAChainAreAddedUp() {
        let links = [1, 2, 3].map { [page($0, granule: 0, isFirst: true, opusHead())] + seconds($0, 0..<4) }
        let (start, _) = timed(links.flatMap { $0 }.flatMap { $0 }, first: .seconds(6))
        #expect(start.ranges == ByteRangeSet(0..<count(links[0] + links[1].prefix(3))))
    }

    @Test func aStreamThatWasCutFromALongerOneBeginsAtItsFirstPage() {
        let head = [page(1, granule: 0, isFirst: true, opusHead())]
        let pages = head + seconds(1, 5000..<5020)
        #expect(
            timed(pages.flatMap { $0 }, first: .seconds(3)).0.ranges == ByteRangeSet(0..<count(Array(pages.prefix(5)))))
    }

    @Test func damageIsPassedUpToALimit() {
        let head = page(1, granule: 0, isFirst: true, opusHead())
        let pages = seconds(1, 0..<20).flatMap { $0 }
        let (start, _) = timed(head + filler(9000) + pages, first: .seconds(3))
        #expect(start.ranges == ByteRangeSet(0..<Int64(head.count + 9000) + count(seconds(1, 0..<3))))
        #expect(timed(head + filler(300_000) + pages, first: .seconds(3)).0.basis == .firstBytes)
    }

    @Test func theoraCountsFrames() {
        let theora = [0x80] + Array("theora".utf8) + filler(15) + big(25) + big(1) + filler(10) + big(6 << 5, 2)
        let head = [page(1, granule: 0, isFirst: true, theora)]
        // 75 frames since the last key frame in the lower six bits would not fit: 50 and 25.
        let pages = head + (1...20).map { page(1, granule: ($0 * 25 - 10) << 6 | 10, filler(4000)) }
        #expect(
            timed(pages.flatMap { $0 }, first: .seconds(3)).0.ranges == ByteRangeSet(0..<count(Array(pages.prefix(4)))))
    }

    @Test func streamsWithoutTimesAreUnknown() {
        let pages =
            page(1, granule: 0, isFirst: true, Array("fishead".utf8) + filler(60)) + page(1, granule: 5, filler(90))
        #expect(timed(pages + filler(2 << 20), first: .seconds(3)).0.basis == .firstBytes)
    }
}
