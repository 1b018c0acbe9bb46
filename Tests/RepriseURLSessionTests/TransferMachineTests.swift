import Foundation
import Reprise
import TestLimits
import Testing

@testable import RepriseURLSession

@Suite("The machine of a transfer", .limit(minutes: 1))
struct TransferMachineTests {
    private func open(
        _ declaredLength: Int64? = nil, suspendsAbove: Int = 100, resumesBelow: Int = 40, canBeResumed: Bool = true
    ) -> TransferMachine {
        var machine = TransferMachine(bounds: .init(suspendsAbove: suspendsAbove, resumesBelow: resumesBelow))
        #expect(machine.headArrived(declaredLength: declaredLength, canBeResumed: canBeResumed) == .accept)
        return machine
    }

    private func piece(_ count: Int) -> Data { Data(repeating: 7, count: count) }

    @Test func aConsumerThatWaitsIsServedAtOnce() {
        var machine = open()
        #expect(machine.take() == nil)
        #expect(machine.wait(now: .zero) == true)
        #expect(machine.received(piece(5)) == .piece(piece(5)))
        #expect(machine.take() == nil)
        #expect(machine.wait(now: .zero) == false)  // the timer runs already
        #expect(machine.finished(.complete) == .ending(.complete))
    }

    @Test func theTaskIsSuspendedAboveOneBoundAndResumedBelowTheOther() {
        var machine = open()
        _ = machine.received(piece(100))
        #expect(machine.adjustFlow(now: .zero) == nil)
        _ = machine.received(piece(1))
        #expect(machine.adjustFlow(now: .zero) == .suspend)
        #expect(machine.adjustFlow(now: .zero) == nil)
        _ = machine.received(piece(30))  // was in transit
        #expect(machine.adjustFlow(now: .zero) == nil)
        _ = machine.take()
        #expect(machine.adjustFlow(now: .zero) == .resume)
        #expect(machine.adjustFlow(now: .zero) == nil)
    }

    @Test func aTaskThatGoesOnWhileItIsSuspendedIsCut() {
        var machine = TransferMachine(
            bounds: .init(suspendsAbove: 100, resumesBelow: 40, mostAfterSuspension: 200))
        _ = machine.headArrived(declaredLength: nil, canBeResumed: true)
        _ = machine.received(piece(300))
        #expect(machine.adjustFlow(now: .zero) == .suspend)
        _ = machine.received(piece(200))
        #expect(machine.adjustFlow(now: .zero) == nil, "what came before the suspension does not count")
        _ = machine.received(piece(1))
        #expect(machine.adjustFlow(now: .zero) == .cut)
    }

    @Test func bytesAfterEachSuspensionCountAnew() {
        var machine = TransferMachine(
            bounds: .init(suspendsAbove: 100, resumesBelow: 40, mostAfterSuspension: 200))
        _ = machine.headArrived(declaredLength: nil, canBeResumed: true)
        for _ in 0..<5 {
            _ = machine.received(piece(101))
            #expect(machine.adjustFlow(now: .zero) == .suspend)
            _ = machine.received(piece(150))
            #expect(machine.adjustFlow(now: .zero) == nil)
            while machine.take() != nil {}
            #expect(machine.adjustFlow(now: .zero) == .resume)
        }
    }

    @Test func aLongSuspensionIsCutAndAShortOneIsNot() {
        var machine = open()
        _ = machine.received(piece(101))
        #expect(machine.adjustFlow(now: .seconds(1)) == .suspend)
        #expect(machine.startSuspensionTimer() == .seconds(10))
        #expect(machine.startSuspensionTimer() == nil, "the timer runs already")
        _ = machine.take()
        #expect(machine.adjustFlow(now: .seconds(5)) == .resume)
        _ = machine.received(piece(101))
        #expect(machine.adjustFlow(now: .seconds(7)) == .suspend)
        #expect(machine.startSuspensionTimer() == nil)
        #expect(machine.checkSuspension(now: .seconds(11)) == .checkAgain(after: .seconds(6)))
        #expect(machine.checkSuspension(now: .seconds(17)) == .cut)
    }

    @Test func aBodyWhoseRestCannotBeAskedForStaysSuspended() {
        var machine = open(canBeResumed: false)
        _ = machine.received(piece(101))
        #expect(machine.adjustFlow(now: .seconds(1)) == .suspend)
        #expect(machine.startSuspensionTimer() == nil)
        _ = machine.take()
        #expect(machine.adjustFlow(now: .seconds(3600)) == .resume)
    }

    @Test func theTimerOfASuspensionThatIsOverStops() {
        var machine = open()
        _ = machine.received(piece(101))
        _ = machine.adjustFlow(now: .zero)
        #expect(machine.startSuspensionTimer() != nil)
        _ = machine.take()
        _ = machine.adjustFlow(now: .zero)
        #expect(machine.checkSuspension(now: .seconds(10)) == .disarm)
        _ = machine.received(piece(101))
        _ = machine.adjustFlow(now: .seconds(20))
        #expect(machine.startSuspensionTimer() == .seconds(10))
    }

    @Test func aConsumerNeverWaitsForASuspendedTask() {
        var machine = open()
        for _ in 0..<3 { _ = machine.received(piece(50)) }
        #expect(machine.adjustFlow(now: .zero) == .suspend)
        while machine.take() != nil {}
        #expect(machine.wantsFlow == .resume)
    }

    @Test func aTransferThatIsOverIsNotSuspended() {
        var machine = open()
        _ = machine.received(piece(500))
        _ = machine.finished(.complete)
        #expect(machine.adjustFlow(now: .zero) == nil)
    }

    @Test func cancellingKeepsPiecesAndTakesThoseOnTheirWay() {
        var machine = open(1_000)
        _ = machine.received(piece(3))
        #expect(machine.cancel(byTask: false) == true)
        #expect(machine.cancel(byTask: false) == false)
        #expect(machine.received(piece(4)) == nil)
        #expect(machine.finished(.failed(RepriseError(.originBodyTruncated, ""))) == nil)
        #expect(machine.received(piece(5)) == nil)  // after the end: not delivered
        #expect(machine.take() == .piece(piece(7)), "small pieces are joined")
        #expect(machine.take() == .ending(.canceled(byTask: false)))
    }

    @Test func cancellingBeforeTheHeadEndsAtOnce() {
        var machine = TransferMachine(bounds: .platform)
        #expect(machine.cancel(byTask: true) == true)
        #expect(machine.body.state == .ended(.canceled(byTask: true)))
        #expect(machine.headArrived(declaredLength: 5, canBeResumed: true) == .ignore)
        #expect(machine.received(piece(5)) == nil)
        #expect(machine.take() == .ending(.canceled(byTask: true)))
    }

    @Test func aSecondHeadIsNeverMixedWithTheFirst() {
        var machine = open(1_000)
        _ = machine.received(piece(10))
        #expect(machine.headArrived(declaredLength: 1_000, canBeResumed: true) == .abort)
    }

    @Test func theDeclaredLengthIsRemembered() {
        var machine = open(10)
        #expect(machine.isShort)
        _ = machine.received(piece(9))
        #expect(machine.isShort)
        _ = machine.received(piece(1))
        #expect(!machine.isShort)
        #expect(!open(nil).isShort)
    }

    @Test func largePiecesAreSplitWithoutACopy() throws {
        let large = Data(repeating: 1, count: (5 << 19) + 3)
        var queue = BodyQueue<Data>()
        queue.append(large)
        queue.append(Data())
        #expect(queue.byteCount == large.count)
        let address = large.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
        var sizes: [Int] = []
        while let piece = queue.popFirst() {
            let start = piece.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
            if piece.count > 64 { #expect(start == address + UInt(sizes.reduce(0, +))) }
            sizes.append(piece.count)
        }
        #expect(sizes == [1 << 20, 1 << 20, (1 << 19) + 3])
        #expect(queue.byteCount == 0 && queue.isEmpty)
    }
}
