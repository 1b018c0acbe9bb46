import ByteRanges
import MediaTiming
import TestLimits
import Testing

/// Fragmented MP4 with and without indexes (ISO/IEC 14496-12 §8.8, §8.16.3).
@Suite(.limit(minutes: 1))
struct FragmentTests {
    /// A movie without samples, of one track with a timescale of 1,000.
    private let movie =
        ftyp + moov([(TestTrack(), places: [])], box("mvex", box("trex", big(0), big(1), big(1), big(0, 12))))

    /// A second in ten samples of `size` bytes, which begins at `time` milliseconds; `moof` and `mdat`.
    private func fragment(at time: Int?, size: Int = 1000, track: Int = 1) -> [UInt8] {
        let tfdt = time.map { box("tfdt", big(1 << 24), big($0, 8)) } ?? []
        // Based on the `moof`; durations and sizes by default; the data begin behind `mdat`'s header.
        func moof(_ offset: Int) -> [UInt8] {
            let tfhd = box("tfhd", big(0x20018), big(track), big(100), big(size))
            return box("moof", box("traf", tfhd, tfdt, box("trun", big(1), big(10), big(offset))))
        }
        return moof(moof(0).count + 8) + box("mdat", filler(10 * size))
    }

    /// An index of subsegments, each a size and a duration in milliseconds, of which some are indexes.
    private func sidx(
        _ entries: [(size: Int, duration: Int)], from time: Int = 0, offset: Int = 0, nested: Bool = false
    )
        -> [UInt8]
    {
        let references = entries.flatMap { big($0.size | (nested ? 1 << 31 : 0)) + big($0.duration) + big(0) }
        return box("sidx", big(0), big(1), big(1000), big(time), big(offset), big(entries.count), references)
    }

    /// The end of the sample that ends `seconds` into fragments of a second that begin at `start`.
    private func end(_ seconds: Double, _ start: Int, fragment length: Int, size: Int = 1000) -> Int64 {
        let inside = Int((seconds - seconds.rounded(.down)) * 10) * size
        return Int64(start + Int(seconds) * length + (inside > 0 ? length - 10 * size + inside : 0))
    }

    @Test func fragmentsAreWalkedToTheSample() {
        let file = movie + (0..<20).flatMap { fragment(at: $0 * 1000) }
        let length = fragment(at: 0).count
        let (start, _) = timed(file, first: .milliseconds(3500))
        #expect(start.basis == .exact)
        #expect(start.ranges == ByteRangeSet(0..<end(3.5, movie.count, fragment: length)))
    }

    @Test func aFileThatEndsEarlierIsGivenWhole() {
        let file = movie + (0..<3).flatMap { fragment(at: $0 * 1000) }
        #expect(timed(file, first: .seconds(10)).0.ranges == ByteRangeSet(0..<Int64(file.count)))
    }

    @Test func timesMayBeginLateBeMissingOrFall() {
        let length = fragment(at: nil).count
        let late = movie + (0..<9).flatMap { fragment(at: 5_000_000 + $0 * 1000) }
        #expect(
            timed(late, first: .seconds(2)).0.ranges.bounds?.upperBound == end(2, movie.count, fragment: length + 20))
        let missing = movie + (0..<9).flatMap { _ in fragment(at: nil) }
        #expect(timed(missing, first: .seconds(2)).0.ranges.bounds?.upperBound == end(2, movie.count, fragment: length))
        let falling = movie + (0..<9).flatMap { _ in fragment(at: 0) }
        #expect(
            timed(falling, first: .seconds(2)).0.ranges.bounds?.upperBound == end(2, movie.count, fragment: length + 20)
        )
    }

    @Test func anIndexLeadsToTheSubsegmentAndItsFragmentToTheSample() {
        let parts = (0..<30).map { fragment(at: $0 * 1000, size: 9000) }
        let index = sidx(parts.map { ($0.count, 1000) })
        let file = movie + index + parts.flatMap { $0 }
        let (start, seen) = timed(file, first: .milliseconds(20_500))
        let wanted = end(20.5, movie.count + index.count, fragment: parts[0].count, size: 9000)
        #expect(start.ranges == ByteRangeSet(0..<wanted))
        // The head, and the fragment in which the seconds end.
        #expect(seen.spanCount == 2 && seen.byteCount <= 32 << 10, "\(seen)")
    }

    @Test func indexesMayBeNestedAndComeOneAfterAnother() {
        let parts = (0..<20).map { fragment(at: $0 * 1000) }
        let quarters = stride(from: 0, to: 20, by: 5).map { start in
            let part = parts[start..<start + 5]
            return sidx(part.map { ($0.count, 1000) }, from: start * 1000) + part.flatMap { $0 }
        }
        let nested = movie + sidx(quarters.map { ($0.count, 5000) }, nested: true) + quarters.flatMap { $0 }
        let behind = movie + quarters.flatMap { $0 }
        for (file, indexed) in [(nested, true), (behind, false)] {
            let head =
                movie.count + (indexed ? sidx([(0, 0), (0, 0), (0, 0), (0, 0)]).count : 0) + 3
                * (quarters[0].count - 5 * parts[0].count)
            let (start, _) = timed(file, first: .milliseconds(13_500))
            #expect(start.ranges == ByteRangeSet(0..<end(13.5, head, fragment: parts[0].count)))
        }
    }

    @Test func anIndexOfAnotherTrackIsPassed() {
        let parts = (0..<9).map { fragment(at: $0 * 1000) }
        let second = sidx(parts.map { ($0.count, 1000) })
        let first = sidx(parts.map { ($0.count, 1000) }, offset: second.count)
        let file = movie + first + second + parts.flatMap { $0 }
        let head = movie.count + first.count + second.count
        #expect(
            timed(file, first: .milliseconds(4500)).0.ranges
                == ByteRangeSet(0..<end(4.5, head, fragment: parts[0].count)))
    }

    @Test func anIndexThatLeadsBeyondTheFileEndsThere() {
        let file = movie + sidx([(1 << 30, 1000), (1 << 30, 1000)]) + fragment(at: 0)
        let (start, _) = timed(file, first: .seconds(2))
        #expect(start.ranges == ByteRangeSet(0..<Int64(file.count)))
    }

    @Test func aRunOfFourBillionSamplesIsAnEstimate() {
        let tfhd = box("tfhd", big(0x20018), big(1), big(0), big(0))
        let moof = box("moof", box("traf", tfhd, box("trun", big(0), big(0xFFFF_FFFF))))
        let (start, _) = timed(movie + moof + box("mdat", filler(4_000_000)), first: .seconds(2))
        // The movie tells a minute.
        #expect(start.basis == .proportion && start.format == .isoMedia)
        #expect((100_000..<300_000).contains(start.ranges.byteCount))
    }

    @Test func fragmentsOfOtherTracksAreNotWaitedFor() {
        let file = movie + fragment(at: 0, track: 7) + (0..<9).flatMap { fragment(at: $0 * 1000) }
        let length = fragment(at: 0).count
        let other = Int64(movie.count + length - 10_000)
        #expect(
            timed(file, first: .seconds(2)).0.ranges
                == [0..<other, other + 10_000..<end(3, movie.count, fragment: length)])
    }
}
