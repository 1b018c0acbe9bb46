import Foundation
import RepriseTesting
import Testing

@testable import Reprise

@Suite struct RangeHabitsTests {
    private let clock = ManualClock()
    private let habits: RangeHabits

    init() { habits = RangeHabits(clock: CacheClock(clock) { Date(timeIntervalSince1970: 0) }) }

    @Test("a habit of a host is remembered for an hour, and is no other host's")
    func memory() {
        habits.note(.ignoresIfRange, at: "a.example")
        #expect(habits.has(.ignoresIfRange, at: "a.example"))
        #expect(!habits.has(.needsOpenEnds, at: "a.example"))
        #expect(!habits.has(.ignoresIfRange, at: "b.example"))
        clock.advance(by: RangeHabits.memory)
        #expect(!habits.has(.ignoresIfRange, at: "a.example"), "the host may be repaired")
    }

    @Test("of more hosts than are remembered, the oldest is forgotten")
    func most() {
        for number in 0...256 {
            habits.note(.needsOpenEnds, at: "\(number).example")
            clock.advance(by: .seconds(1))
        }
        #expect(!habits.has(.needsOpenEnds, at: "0.example"))
        #expect(habits.has(.needsOpenEnds, at: "1.example"))
        #expect(habits.has(.needsOpenEnds, at: "256.example"))
    }
}
