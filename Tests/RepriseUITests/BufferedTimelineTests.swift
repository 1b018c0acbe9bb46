import ByteRanges
import Reprise
import RepriseTesting
import TestLimits
import Testing
@testable import RepriseUI

@Suite(.limit(minutes: 1)) struct BufferedTimelineTests {
    /// Of a file of 1,000 bytes.
    private static func timeline(
        _ stored: [Range<Int64>], of length: Int64? = 1000, position: Double = 0, duration: Double = 0
    ) -> BufferedTimeline {
        var progress = StoredProgress()
        for range in stored { progress.ranges.insert(range) }
        progress.completeLength = length
        return BufferedTimeline(progress, position: position, duration: duration)
    }

    @Test func storedPartsAreFractionsOfTheWhole() {
        let timeline = Self.timeline([100..<350, 500..<1000])
        #expect(timeline.buffered == [0.1...0.35, 0.5...1])
        #expect(timeline.fraction == 0.75)
    }

    @Test func aBarHasItsPartsWhereTheyLie() {
        let timeline = Self.timeline([0..<250, 500..<1000])
        #expect(timeline.spans(width: 200) == [0...50, 100...200])
        #expect(timeline.spans(width: 0).isEmpty)
        #expect(Self.timeline([0..<250], of: nil).spans(width: 200).isEmpty)
    }

    @Test func aPartOfAFewBytesCanBeSeen() {
        #expect(Self.timeline([500..<501]).spans(width: 100, minimum: 2) == [50...52])
        #expect(Self.timeline([999..<1000]).spans(width: 100, minimum: 2) == [98...100], "not beyond the bar")
        #expect(Self.timeline([999..<1000]).spans(width: 1, minimum: 2) == [0...1])
    }

    @Test func partsThatTouchAsDrawnAreOne() {
        let timeline = Self.timeline([0..<1, 2..<3, 10..<11, 500..<501])
        #expect(timeline.spans(width: 100, minimum: 1) == [0...2, 50...51])
    }

    @Test func everySpanLiesInTheBarBehindTheLast() {
        var generator = SeededGenerator(seed: 20_261_125)
        for _ in 0..<500 {
            let stored = (0..<8).map { _ in
                let start = Int64.random(in: 0..<1000, using: &generator)
                return start..<min(1000, start + Int64.random(in: 1..<60, using: &generator))
            }
            let spans = Self.timeline(stored).spans(width: 90, minimum: 3)
            #expect(spans.allSatisfy { $0.lowerBound >= 0 && $0.upperBound <= 90.000_001 }, "\(stored)")
            #expect(zip(spans, spans.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound }, "\(stored)")
        }
    }

    @Test func thePlayheadIsAFractionOfTheDuration() {
        #expect(Self.timeline([], position: 30, duration: 120).playhead == 0.25)
        #expect(Self.timeline([], position: 30).playhead == 0)
        #expect(Self.timeline([], position: 130, duration: 120).playhead == 1)
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, -5]) func timesOfPlayersThatAreNoneCountAsZero(time: Double) {
        let timeline = Self.timeline([], position: time, duration: time)
        #expect(timeline.position == 0)
        #expect(timeline.duration == 0)
        #expect(timeline.playhead == 0)
        #expect(Self.timeline([], position: time, duration: 60).position == 0)
    }

    @Test func aPlaceInTheBarIsATime() {
        let timeline = Self.timeline([], duration: 120)
        #expect(timeline.time(at: 50, width: 200) == 30)
        #expect(timeline.time(at: -3, width: 200) == 0)
        #expect(timeline.time(at: 300, width: 200) == 120)
        #expect(timeline.time(at: 50, width: 0) == 0)
        #expect(timeline.time(at: .nan, width: 200) == 0)
    }

    @Test func nothingSeeksWithoutADuration() {
        let (unknown, live) = (Self.timeline([0..<10]), Self.timeline([0..<10], position: 5, duration: .infinity))
        #expect(!unknown.canSeek && !live.canSeek)
        #expect(Self.timeline([0..<10], duration: 60).canSeek)
    }

    @Test func itsWordsSayWhatIsStoredAndWhereThePlayerIs() {
        #expect(Self.timeline([0..<999]).words == "99 % stored", "all is not stored")
        #expect(
            Self.timeline([0..<500], position: 65.9, duration: 5527).words == "50 % stored, at 1:05 of 1:32:07")
        #expect(Self.timeline([], duration: 1e300).words == "0 % stored, at 0:00 of 277777:46:40")
    }
}
