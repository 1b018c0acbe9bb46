import Foundation
import Primitives
import RepriseTesting
import TestLimits
import Testing

@testable import Reprise

/// Which requests give way to which.
@Suite(.limit(minutes: 1)) struct PrecedenceTests {
    private let clock = ManualClock()
    private let precedence: Precedence

    init() { precedence = Precedence(clock: CacheClock(clock) { Date(timeIntervalSince1970: 0) }) }

    private func giveWay(_ interest: RequestInterest) -> Task<Void, Never> {
        Task { [precedence] in await precedence.giveWay(interest, at: "a") }
    }

    private func yielding(_ count: Int) async {
        await eventually { precedence.yielding == count }
    }

    @Test func onlyHigherClassesOfTheSameOriginCount() {
        var table = PrecedenceTable()
        table.readerWaits(.preload, at: "a")
        #expect(table.isOutranked(.download, at: "a"))
        #expect(!table.isOutranked(.preload, at: "a"))
        #expect(!table.isOutranked(.download, at: "b"))
        table.readerWaits(.playing, at: "a")
        table.readerWaits(.playing, at: "a")
        table.readerGoesOn(.playing, at: "a")
        #expect(table.isOutranked(.preload, at: "a"))
        table.readerGoesOn(.playing, at: "a")
        #expect(!table.isOutranked(.preload, at: "a"))
        table.readerGoesOn(.preload, at: "a")
        #expect(table.isEmpty)
    }

    @Test func waitsSinceAMomentAreKnownWhileSomethingGivesWay() {
        var table = PrecedenceTable()
        table.beginYielding(at: "a")
        let before = table.waitsBegun
        #expect(!table.isOutranked(.preload, at: "a", since: before))
        table.readerWaits(.playing, at: "a")
        table.readerGoesOn(.playing, at: "a")
        #expect(table.isOutranked(.preload, at: "a", since: before))
        #expect(!table.isOutranked(.preload, at: "a", since: table.waitsBegun))
        table.endYielding(at: "a")
        #expect(table.isEmpty)
    }

    @Test func itIsToldWhenSomethingGivesWayAndWhenItGoesOn() async {
        let told = Mutex<[Bool]>([])
        precedence.whenYieldingChanges { [precedence] in
            let isYielding = precedence.isYielding(at: "a")
            told.withLock { $0.append(isYielding) }
        }
        precedence.readerWaits(.playing, at: "a")
        let interest = RequestInterest(.download)
        let download = giveWay(interest)
        await yielding(1)
        #expect(precedence.isYielding(at: "a") && !precedence.isYielding(at: "b"))
        download.cancel()
        await download.value
        let states = told.withLock { $0 }
        #expect(states == [true, false])
    }

    @Test func aLowerClassGoesOnWhenNoHigherOneHasWaitedForAMoment() async {
        precedence.readerWaits(.playing, at: "a")
        let preload = giveWay(RequestInterest(.preload))
        await yielding(1)
        precedence.readerGoesOn(.playing, at: "a")
        await clock.waitForSleepers(1)
        precedence.readerWaits(.playing, at: "a")
        clock.advance(by: Precedence.quietTime)
        await yielding(1)
        precedence.readerGoesOn(.playing, at: "a")
        await clock.waitForSleepers(1)
        clock.advance(by: Precedence.quietTime)
        await preload.value
    }

    @Test func theSameClassAndOtherOriginsDoNotWait() async {
        precedence.readerWaits(.preload, at: "a")
        precedence.readerWaits(.playing, at: "b")
        await precedence.giveWay(RequestInterest(.preload), at: "a")
        await precedence.giveWay(RequestInterest(.playing), at: "b")
    }

    @Test(arguments: [Demand.playing, nil])
    func whatIsWantedMoreOrNotAtAllGoesOnAtOnce(demand: Demand?) async {
        precedence.readerWaits(.playing, at: "a")
        let interest = RequestInterest(.download)
        let download = giveWay(interest)
        await yielding(1)
        interest.change(to: demand)
        await download.value
        #expect(clock.sleeperCount == 0)
    }

    @Test func aCanceledTaskGoesOnAtOnce() async {
        precedence.readerWaits(.playing, at: "a")
        let download = giveWay(RequestInterest(.download))
        await yielding(1)
        download.cancel()
        await download.value
    }

    @Test func whereManyRequestsAreNotWantedAnyMoreTheNextOneWaitsAMoment() async {
        let dead = (0..<Precedence.unwantedLimit).map { _ in RequestInterest(.playing) }
        let numbers = dead.map { precedence.sends($0, to: "a") }
        let interest = RequestInterest(.playing)
        await precedence.settle(interest, at: "a")
        for interest in dead { interest.change(to: nil) }
        await precedence.settle(interest, at: "b")
        let seek = Task { await precedence.settle(interest, at: "a") }
        await clock.waitForSleepers(1)
        clock.advance(by: Precedence.settlingTime)
        await seek.value
        let scrub = Task { await precedence.settle(interest, at: "a") }
        await clock.waitForSleepers(1)
        interest.change(to: nil)
        await scrub.value
        precedence.answered(numbers[0], at: "a")
        await precedence.settle(RequestInterest(.playing), at: "a")
    }
}
