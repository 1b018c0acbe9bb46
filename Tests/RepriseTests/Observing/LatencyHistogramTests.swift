import RepriseTesting
import TestLimits
import Testing

@testable import Reprise

@Suite(.limit(minutes: 1)) struct LatencyHistogramTests {
    @Test func aMeasurementIsInTheFirstBucketThatReachesIt() {
        for (duration, bucket) in [
            (Duration.zero, 0), (.milliseconds(-5), 0), (.microseconds(999), 0), (.milliseconds(1), 0),
            (.microseconds(1001), 1), (.milliseconds(50), 5), (.seconds(1), 9), (.seconds(10), 12),
            (.milliseconds(10_001), 13), (.seconds(1_000_000), 13),
        ] {
            var histogram = LatencyHistogram()
            histogram.note(duration)
            #expect(histogram.counts.firstIndex(of: 1) == bucket, "\(duration)")
            #expect(histogram.count == 1)
        }
    }

    @Test func sumsAreThoseOfAllMeasurements() {
        var (left, right) = (LatencyHistogram(), LatencyHistogram())
        left.note(.milliseconds(500))
        right.note(.milliseconds(250))
        right.note(.seconds(-1))
        left += right
        #expect(left.count == 3)
        #expect(left.sum == 0.75)
    }
}
