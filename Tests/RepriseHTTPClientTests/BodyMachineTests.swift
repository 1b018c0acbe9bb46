import NIOCore
import Reprise
import TestLimits
import Testing

@testable import RepriseHTTPClient

@Suite("The machine of a body", .limit(minutes: 1))
struct BodyMachineTests {
    private func queue(_ pieces: ByteBuffer...) -> PieceQueue {
        var queue = PieceQueue()
        for piece in pieces { queue.append(piece) }
        return queue
    }

    private func text(_ delivery: BodyMachine.Delivery?) -> String {
        switch delivery {
        case .piece(let piece): String(buffer: piece)
        case .ending(let ending): "\(ending)"
        case .busy: "busy"
        case nil: "wait"
        }
    }

    private let big = ByteBuffer(repeating: 1, count: 10_000)

    @Test func aPieceThatIsBufferedIsTakenAtOnce() {
        var machine = BodyMachine(window: 100)
        var pieces = queue(piece("abc"))
        #expect(machine.received(&pieces) == nil)
        #expect(text(machine.take()?.delivery) == "abc")
        #expect(machine.take()?.delivery == nil)
    }

    @Test func theConnectionIsHaltedWhileTheConsumerHasToCatchUp() {
        var machine = BodyMachine(window: 100)
        var pieces = queue(big, big)
        #expect(machine.received(&pieces) == nil)
        #expect(machine.readCompleted() == false, "the window is full")
        for _ in 1..<BodyPace.looks { _ = machine.lookAtPace() }
        #expect(machine.pace.speed == .reduced)
        #expect(machine.lookAtPace() == .reduced)
        #expect(machine.lookAtPace() == .stopped)
        #expect(machine.take()?.delivery == .piece(big))
        #expect(machine.lookAtPace() == .reduced, "it pulls, but the window is still full")
    }

    @Test func aBodyThatItsConsumerWaitsForIsPulledAtFullSpeed() {
        var machine = BodyMachine(window: 100)
        #expect(machine.take() == nil)
        _ = machine.wait(now: .now())
        for _ in 0..<12 { #expect(machine.lookAtPace() == .full) }
    }

    @Test func aWaitingConsumerGetsThePieceThatArrives() {
        var machine = BodyMachine(window: 100)
        #expect(machine.take()?.delivery == nil)
        #expect(machine.wait(now: .now()) == true, "the timer is not armed yet")
        var pieces = queue(piece("abc"))
        #expect(text(machine.received(&pieces)) == "abc")
        #expect(machine.waitingSince == nil)
        #expect(machine.readCompleted() == true)
    }

    @Test func aSecondConsumerIsToldThatAnotherOneWaits() {
        var machine = BodyMachine(window: 100)
        #expect(machine.take()?.delivery == nil)
        _ = machine.wait(now: .now())
        #expect(text(machine.take()?.delivery) == "busy")
        var pieces = queue(piece("abc"))
        #expect(text(machine.received(&pieces)) == "abc", "the first one is served all the same")
        #expect(machine.take()?.delivery == nil)
    }

    @Test func readingStopsAtTheWindowAndTheTakeThatOpensItWakesTheLoopOnce() {
        var machine = BodyMachine(window: 10_001)
        var pieces = queue(big, big, big)
        _ = machine.received(&pieces)
        #expect(machine.readCompleted() == false)
        #expect(machine.take()?.wakesLoop == false)
        #expect(machine.take()?.wakesLoop == false)
        #expect(machine.take()?.wakesLoop == true, "a young body has a window of almost nothing")
        #expect(machine.isReading)
    }

    @Test func theWindowIsEarned() {
        var machine = BodyMachine(window: 2 * big.readableBytes)
        for _ in 0..<64 {
            var pieces = queue(big, big, big, big)
            _ = machine.received(&pieces)
            while machine.take()?.delivery != nil {}
        }
        var pieces = queue(big)
        _ = machine.received(&pieces)
        let readsOn = machine.readCompleted()
        #expect(readsOn, "a piece may wait while the next one is read")
        var more = queue(big)
        _ = machine.received(&more)
        let stillReadsOn = machine.readCompleted()
        #expect(!stillReadsOn, "never more than the configured window")
    }

    @Test func theEndComesAfterTheBufferedPieces() {
        var machine = BodyMachine(window: 100)
        var pieces = queue(piece("abc"))
        _ = machine.received(&pieces)
        #expect(machine.finished(.complete) == nil)
        #expect(text(machine.take()?.delivery) == "abc")
        #expect(text(machine.take()?.delivery) == "complete")
        #expect(text(machine.take()?.delivery) == "complete", "the end stays")
        #expect(machine.cancel(byTask: false) == false, "there is nothing left to close")
    }

    @Test func aFailureComesAfterTheBufferedPieces() {
        var machine = BodyMachine(window: 100)
        var pieces = queue(piece("abc"))
        _ = machine.received(&pieces)
        _ = machine.finished(.failed(.originBodyTruncated))
        #expect(text(machine.take()?.delivery) == "abc")
        #expect(text(machine.take()?.delivery) == "failed(originBodyTruncated)")
    }

    @Test func whatIsDrainedAfterACancelIsKeptAndTheEndFollows() {
        var machine = BodyMachine(window: 100)
        #expect(machine.cancel(byTask: false) == true)
        #expect(machine.cancel(byTask: false) == false)
        #expect(machine.take()?.delivery == nil, "the drain is not over")
        #expect(machine.wait(now: .now()) == false)
        var pieces = queue(piece("drained"))
        #expect(text(machine.received(&pieces)) == "drained")
        #expect(machine.readCompleted() == false)
        #expect(machine.finished(.failed(.originBodyTruncated)) == nil)
        #expect(text(machine.take()?.delivery) == "cancelled(byTask: false)")
    }

    @Test func aBodyThatTheDrainCompletedIsComplete() {
        var machine = BodyMachine(window: 100)
        _ = machine.cancel(byTask: true)
        var pieces = queue(piece("rest"))
        _ = machine.received(&pieces)
        _ = machine.finished(.complete)
        #expect(text(machine.take()?.delivery) == "rest")
        #expect(text(machine.take()?.delivery) == "complete")
    }

    @Test func piecesAfterTheEndAreDropped() {
        var machine = BodyMachine(window: 100)
        _ = machine.finished(.failed(.originTimedOut))
        var pieces = queue(piece("late"))
        #expect(machine.received(&pieces) == nil)
        #expect(machine.queue.isEmpty && pieces.isEmpty)
    }

    @Test func onlyAConsumerThatWaitsCanTimeOut() {
        var machine = BodyMachine(window: 100)
        let start = NIODeadline.uptimeNanoseconds(1_000)
        #expect(machine.checkIdle(now: start + .hours(1), timeout: .seconds(1)) == .disarm)
        _ = machine.take()
        #expect(machine.wait(now: start) == true)
        #expect(
            machine.checkIdle(now: start + .milliseconds(1), timeout: .seconds(1))
                == .checkAgain(at: start + .seconds(1)))
        #expect(machine.checkIdle(now: start + .seconds(1), timeout: .seconds(1)) == .timedOut)
    }

    @Test func smallPiecesAreJoinedAndLargeOnesAreNot() {
        var queue = PieceQueue()
        for _ in 0..<20_000 { queue.append(piece("x")) }
        #expect(queue.byteCount == 20_000)
        #expect(queue.count <= 2)
        queue.append(big)
        queue.append(big)
        #expect(queue.byteCount == 40_000)
        var taken = 0
        while let piece = queue.popFirst() { taken += piece.readableBytes }
        #expect(taken == 40_000)
        #expect(queue.byteCount == 0)
    }
}
