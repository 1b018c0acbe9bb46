import Reprise
import TestLimits
import Testing
@testable import RepriseUI

@Suite(.limit(minutes: 1)) struct SteppedPositionTests {
    private static func timeline(at position: Double, of duration: Double = 100) -> BufferedTimeline {
        BufferedTimeline(StoredProgress(), position: position, duration: duration)
    }

    private static let start = ContinuousClock.now

    @Test func quickStepsAddUpBeforeThePlayerHasFollowed() {
        var steps = SteppedPosition()
        let timeline = Self.timeline(at: 20)
        let times = (0..<3).map { steps.move(by: 0.05, in: timeline, at: Self.start.advanced(by: .seconds($0 * 2))) }
        #expect(times == [25, 30, 35])
        let back = steps.move(by: -0.05, in: timeline, at: Self.start.advanced(by: .seconds(5)))
        #expect(back == 30)
    }

    @Test func aStepSomeTimeLaterBeginsWhereThePlayerIs() {
        var steps = SteppedPosition()
        _ = steps.move(by: 0.05, in: Self.timeline(at: 20), at: Self.start)
        let later = steps.move(
            by: 0.05, in: Self.timeline(at: 50), at: Self.start.advanced(by: SteppedPosition.memory))
        #expect(later == 55)
    }

    @Test func aStepInAnotherFileBeginsWhereItsPlayerIs() {
        var steps = SteppedPosition()
        _ = steps.move(by: 0.05, in: Self.timeline(at: 20), at: Self.start)
        let other = steps.move(by: 0.05, in: Self.timeline(at: 0, of: 40), at: Self.start)
        #expect(other == 2)
    }

    @Test func stepsEndAtTheEnds() {
        var steps = SteppedPosition()
        let first = steps.move(by: 0.05, in: Self.timeline(at: 99), at: Self.start)
        let second = steps.move(by: -2, in: Self.timeline(at: 99), at: Self.start)
        #expect([first, second] == [100, 0])
    }
}
