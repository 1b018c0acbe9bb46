import Reprise
import TestLimits
import Testing

@testable import RepriseHTTPClient

@Suite("The places for connections to one host", .limit(minutes: 1))
struct HostSlotsTests {
    private typealias Slots = HostSlots<Int>

    private func slots(_ limit: Int, lent: Int = 8, idle: Int = 4) -> Slots {
        Slots(limit: limit, lentLimit: lent, idleLimit: idle)
    }

    private func words(_ actions: [Slots.Action]) -> [String] {
        actions.map { action in
            switch action {
            case .admit(let number, let element): "admit \(number)" + (element.map { " on \($0)" } ?? "")
            case .withdraw(let number): "withdraw \(number)"
            case .end(let number): "end \(number)"
            case .giveUp(let number): "give up \(number)"
            case .close(let element): "close \(element)"
            }
        }
    }

    /// Adds requests one after the other; returns the actions that each causes.
    private func enter(_ slots: inout Slots, _ demands: Demand?...) -> [[String]] {
        demands.map { words(slots.enter($0).actions) }
    }

    @Test func theConnectionUsedLastIsUsedNext() {
        var slots = slots(2)
        #expect(enter(&slots, .playing, .playing) == [["admit 1"], ["admit 2"]])
        #expect(words(slots.release(1, with: 10)).isEmpty)
        #expect(words(slots.release(2, with: 20)).isEmpty)
        #expect(enter(&slots, .playing, .playing, .playing) == [["admit 3 on 20"], ["admit 4 on 10"], []])
    }

    @Test func aHigherClassGoesFirstAndInAClassTheNewest() {
        var slots = slots(1)
        _ = enter(&slots, .playing, .download, .preload, .playing, .playing, .seekingAhead, .preload)
        var order: [String] = []
        var next = 1
        while slots.queued > 0, let word = words(slots.release(next, with: 7)).first {
            order.append(word)
            next = Int(word.split(separator: " ")[1]) ?? 0
        }
        #expect(order == [5, 4, 6, 7, 3, 2].map { "admit \($0) on 7" })
    }

    @Test func theFileThatHasWaitedLongestGoesFirst() {
        var slots = slots(1)
        for resource in [1, 1, 2, 3, 2, 1] { _ = slots.enter(.playing, for: resource) }
        var order: [Int] = []
        var next = 1
        while slots.queued > 0, case .admit(let number, _)? = slots.release(next, with: 7).first {
            order.append(number)
            next = number
        }
        #expect(order == [6, 2, 5, 3, 4])
    }

    @Test func aQueuedRequestTakesTheClassOfThoseWhoWait() {
        var slots = slots(1)
        _ = enter(&slots, .playing, .download, .preload)
        #expect(words(slots.change(2, to: .playing)).isEmpty)
        #expect(words(slots.release(1, with: nil)) == ["admit 2"])
    }

    @Test func aQueuedRequestThatNothingWantsIsWithdrawn() {
        var slots = slots(1)
        _ = enter(&slots, .playing, .playing)
        #expect(words(slots.change(2, to: nil)) == ["withdraw 2"])
        #expect(slots.queued == 0)
        #expect(enter(&slots, nil) == [["withdraw 3"]])
        #expect(slots.withdraw(2) == false)
        #expect(words(slots.release(1, with: nil)).isEmpty)
        #expect(slots.isUnused)
    }

    @Test func aRequestThatIsWithdrawnLeavesTheQueue() {
        var slots = slots(1)
        _ = enter(&slots, .playing, .playing, .playing)
        #expect(slots.withdraw(3) == true)
        #expect(slots.withdraw(3) == false)
        #expect(slots.withdraw(1) == false, "it has a place")
        #expect(words(slots.release(1, with: nil)) == ["admit 2"])
    }

    @Test func whatHasNoHeadAndIsNotWantedEndsWhenAnotherRequestWaits() {
        var slots = slots(2)
        _ = enter(&slots, .playing, .playing)
        #expect(words(slots.change(1, to: nil)).isEmpty, "nothing else waits: it runs on")
        #expect(words(slots.change(2, to: nil)).isEmpty)
        #expect(enter(&slots, .playing) == [["end 1"]], "one place is enough for one request")
        #expect(enter(&slots, .playing) == [["end 2"]])
        #expect(words(slots.release(1, with: nil)) == ["admit 4"])
        #expect(words(slots.release(2, with: nil)) == ["admit 3"])
    }

    @Test func whatIsNoLongerWantedEndsAtOnceIfAnotherRequestWaitsAlready() {
        var slots = slots(2)
        _ = enter(&slots, .playing, .playing, .playing)
        #expect(words(slots.change(2, to: nil)) == ["end 2"])
        #expect(words(slots.change(1, to: nil)).isEmpty, "one place is enough for one request")
    }

    @Test func aResponseThatHasBegunIsNotEnded() {
        var slots = slots(1)
        _ = enter(&slots, .playing)
        _ = slots.headArrived(1)
        #expect(words(slots.change(1, to: nil)).isEmpty)
        #expect(words(slots.release(1, with: 7)).isEmpty)
    }

    @Test func aParkedBodyLendsItsPlaceAndHasItAgainAtOnce() {
        var slots = slots(1)
        _ = enter(&slots, .playing, .playing)
        _ = slots.headArrived(1)
        #expect(words(slots.change(1, to: .stopped)) == ["admit 2"])
        #expect(words(slots.change(1, to: .full)).isEmpty)
        #expect(slots.placed == 2, "beyond the limit: a body under way is never held up")
        #expect(enter(&slots, .playing) == [[]])
        #expect(words(slots.release(2, with: nil)).isEmpty)
        #expect(words(slots.release(1, with: nil)) == ["admit 3"])
    }

    @Test func ofTooManyParkedBodiesTheOneThatWasParkedFirstIsGivenUp() {
        var slots = slots(3, lent: 2)
        _ = enter(&slots, .playing, .playing, .playing)
        for number in 1...3 { _ = slots.headArrived(number) }
        #expect(words(slots.change(2, to: .stopped)).isEmpty)
        #expect(words(slots.change(1, to: .stopped)).isEmpty)
        #expect(words(slots.change(3, to: .stopped)) == ["give up 2"])
        #expect(words(slots.release(2, with: nil)).isEmpty)
    }

    @Test func aBodyThatIsPulledSlowlyLendsItsPlaceUntilItIsPulledAtFullSpeed() {
        var slots = slots(1)
        _ = enter(&slots, .playing, .playing)
        _ = slots.headArrived(1)
        #expect(words(slots.change(1, to: .reduced)) == ["admit 2"])
        #expect(words(slots.change(1, to: .stopped)).isEmpty, "it keeps what it has")
        #expect(words(slots.change(1, to: .reduced)).isEmpty)
        #expect(slots.placed == 1)
        #expect(words(slots.change(1, to: .full)).isEmpty)
        #expect(slots.placed == 2, "beyond the limit: a body under way is never held up")
        #expect(words(slots.release(2, with: nil)).isEmpty)
        #expect(words(slots.release(1, with: nil)).isEmpty)
        #expect(slots.isUnused)
    }

    @Test func aBodyThatIsPulledSlowlyIsNeverGivenUp() {
        var slots = slots(4, lent: 2)
        _ = enter(&slots, .playing, .playing, .playing, .playing)
        for number in 1...4 { _ = slots.headArrived(number) }
        #expect(words(slots.change(1, to: .reduced)).isEmpty)
        #expect(words(slots.change(2, to: .reduced)).isEmpty)
        #expect(slots.placed == 2)
        #expect(words(slots.change(3, to: .reduced)).isEmpty, "two are lent already")
        #expect(slots.placed == 2)
        #expect(words(slots.change(4, to: .stopped)) == ["give up 4"], "not 1, which moves")
    }

    @Test func aBodyOfALowerClassLendsItsPlaceToAHigherOneAndTakesItBack() {
        var slots = slots(2)
        _ = enter(&slots, .preload, .download)
        _ = slots.headArrived(1)
        #expect(enter(&slots, .preload) == [[]], "no higher class, and the download has no head")
        #expect(enter(&slots, .playing) == [["admit 4"]])
        #expect(slots.placed == 2, "1 gives way")
        #expect(words(slots.release(4, with: nil)) == ["admit 3"])
        #expect(words(slots.release(2, with: nil)).isEmpty)
        #expect(slots.placed == 2, "1 has its place again")
        #expect(words(slots.release(1, with: nil)).isEmpty)
        #expect(words(slots.release(3, with: nil)).isEmpty)
        #expect(slots.placed == 0)
        #expect(slots.isUnused)
    }

    @Test func aBodyLendsItsPlaceAsSoonAsItsHeadIsHereToAHigherClassThatWaitsAlready() {
        var slots = slots(1)
        #expect(enter(&slots, .download, .playing) == [["admit 1"], []])
        #expect(words(slots.headArrived(1)) == ["admit 2"])
    }

    @Test func aBodyThatNothingWantsLendsItsPlaceToAnyRequest() {
        var slots = slots(1)
        _ = enter(&slots, .playing)
        _ = slots.headArrived(1)
        #expect(words(slots.change(1, to: nil)).isEmpty)
        #expect(enter(&slots, .download) == [["admit 2"]])
    }

    @Test("a parked body is given up for a request that would wait for others that move, unless its class is lower")
    func theQueueIsNotHeldUpByParkedBodies() {
        var slots = slots(1, lent: 1)
        _ = enter(&slots, .preload)
        _ = slots.headArrived(1)
        #expect(words(slots.change(1, to: .stopped)).isEmpty)
        #expect(enter(&slots, .download) == [["admit 2"]])
        _ = slots.headArrived(2)
        #expect(enter(&slots, .download) == [[]])
        #expect(enter(&slots, .playing) == [["give up 1", "admit 4"]])
    }

    @Test func aBodyIsGivenUpOnceAndAnotherOneInItsTurn() {
        var slots = slots(4, lent: 1)
        _ = enter(&slots, .playing, .playing, .playing, .playing)
        for number in 1...4 { _ = slots.headArrived(number) }
        #expect(words(slots.change(1, to: .stopped)).isEmpty)
        #expect(words(slots.change(2, to: .stopped)) == ["give up 1"])
        #expect(words(slots.change(3, to: .stopped)) == ["give up 2"], "although the connection of 1 is not closed yet")
        #expect(words(slots.change(1, to: .full)).isEmpty, "too late")
        #expect(words(slots.release(1, with: nil)).isEmpty)
        #expect(slots.placed == 1)
    }

    @Test func aBodyThatIsPulledSlowlyLendsItsPlaceWhenOneIsLentNoLonger() {
        var slots = slots(2, lent: 1)
        _ = enter(&slots, .playing, .playing)
        for number in 1...2 { _ = slots.headArrived(number) }
        for number in 1...2 { #expect(words(slots.change(number, to: .reduced)).isEmpty) }
        #expect(enter(&slots, .playing, .playing) == [["admit 3"], []])
        #expect(words(slots.release(1, with: nil)) == ["admit 4"], "2 lends its place")
    }

    @Test func tooManyIdleConnectionsAreClosed() {
        var slots = slots(3, idle: 1)
        _ = enter(&slots, .playing, .playing, .playing)
        #expect(words(slots.release(1, with: 10)).isEmpty)
        #expect(words(slots.release(2, with: 20)) == ["close 10"])
        #expect(words(slots.release(3, with: nil)).isEmpty)
        #expect(slots.placed == 0)
        #expect(slots.idle == [20])
        slots.removeIdle { $0 == 20 }
        #expect(slots.isUnused)
    }

    // MARK: A strict limit

    private func strict() -> Slots { Slots(limit: 1, lentLimit: 8, idleLimit: 4, isStrict: true) }

    @Test func aStrictLimitIsKeptUntilTheConnectionOfASlowReaderIsClosed() {
        for (speed, isResting) in [(BodyPace.Speed.full, true), (.reduced, false), (.stopped, true)] {
            var slots = strict()
            #expect(enter(&slots, .playing, .playing) == [["admit 1"], []])
            #expect(words(slots.headArrived(1, canBeResumed: true)).isEmpty, "it is read at full speed")
            #expect(words(slots.change(1, to: speed, isResting: isResting)) == ["give up 1"])
            #expect(words(slots.change(1, to: .stopped, isResting: true)).isEmpty, "once")
            #expect(slots.placed == 1)
            #expect(words(slots.release(1, with: nil)) == ["admit 2"])
        }
    }

    @Test func aBodyThatCannotBeResumedKeepsItsStrictPlace() {
        var slots = strict()
        _ = enter(&slots, .playing, .playing)
        _ = slots.headArrived(1, canBeResumed: false)
        #expect(words(slots.change(1, to: .stopped, isResting: true)).isEmpty)
        #expect(words(slots.change(1, to: nil)) == ["give up 1"], "nothing wants it")
        #expect(words(slots.release(1, with: nil)) == ["admit 2"])
    }

    @Test func ofAStrictLimitLowerClassesAndRestingReadersGiveUpFirst() {
        var slots = Slots(limit: 4, lentLimit: 8, idleLimit: 4, isStrict: true)
        _ = enter(&slots, .playing, .playing, .download, .playing)
        for number in 1...4 { _ = slots.headArrived(number, canBeResumed: true) }
        _ = slots.change(1, to: .reduced)
        _ = slots.change(2, to: .full, isResting: true)
        #expect(
            enter(&slots, .playing, .playing, .playing, .playing) == [["give up 3"], ["give up 2"], ["give up 1"], []])
        #expect(slots.placed == 4)
    }

    @Test func aLowerClassDoesNotEndAHigherOne() {
        var slots = strict()
        _ = enter(&slots, .playing, .download)
        _ = slots.headArrived(1, canBeResumed: true)
        #expect(words(slots.change(1, to: .stopped, isResting: true)).isEmpty)
    }
}
