import TestLimits
import Testing

@testable import RepriseTesting

@Suite(.limit(minutes: 1))
struct BodyScheduleTests {
    @Test("Parts are cut into slices of at most the limit, in order")
    func slices() {
        var schedule = BodySchedule([.literal([1, 2]), .content(10..<15), .filler(0), .filler(3)])
        #expect(schedule.contentPosition == nil)
        #expect(schedule.next(limit: 4) == .send(.literal([1, 2])))
        #expect(schedule.contentPosition == 10)
        #expect(schedule.next(limit: 4) == .send(.content(10..<14)))
        #expect(schedule.next(limit: 4) == .send(.content(14..<15)))
        #expect(schedule.next(limit: 4) == .send(.filler(3)))
        #expect(schedule.produced == 10)
        #expect(schedule.next(limit: 4) == .end)
    }

    @Test("A slice ends at a hold, a stall and a cut, whichever comes first")
    func stops() {
        var schedule = BodySchedule(
            [.content(100..<200)], cut: .init(after: 60, isReset: true), stallAfter: 50)
        #expect(schedule.next(limit: 1000, hold: 130) == .send(.content(100..<130)))
        #expect(schedule.next(limit: 1000) == .send(.content(130..<150)))
        #expect(schedule.next(limit: 1000) == .stall)
        #expect(schedule.next(limit: 1000) == .stall)
        schedule.passStall()
        #expect(schedule.next(limit: 1000) == .send(.content(150..<160)))
        #expect(schedule.next(limit: 1000) == .cut(isReset: true))
    }

    @Test("A body that ends where it would be cut ends well")
    func cutAtEnd() {
        var schedule = BodySchedule([.content(0..<10)], cut: .init(after: 10, isReset: false), stallAfter: 10)
        #expect(schedule.next(limit: 1000) == .send(.content(0..<10)))
        #expect(schedule.next(limit: 1000) == .end)
    }

    @Test("Metadata comes after each interval, but not after the last byte")
    func metadata() {
        var schedule = BodySchedule([.content(0..<20)], icy: .init(interval: 10, block: [0]))
        #expect(schedule.next(limit: 1000) == .send(.content(0..<10)))
        #expect(schedule.next(limit: 1000) == .send(.literal([0])))
        #expect(schedule.next(limit: 1000) == .send(.content(10..<20)))
        #expect(schedule.next(limit: 1000) == .end)
    }
}
