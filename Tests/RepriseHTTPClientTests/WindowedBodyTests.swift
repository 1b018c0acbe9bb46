import NIOCore
import Reprise
import TestLimits
import Testing

@testable import RepriseHTTPClient

@Suite("A body and its window", .limit(minutes: 1))
struct WindowedBodyTests {
    private func queue(_ pieces: ByteBuffer...) -> BodyQueue<ByteBuffer> {
        var queue = BodyQueue<ByteBuffer>()
        for piece in pieces { queue.append(piece) }
        return queue
    }

    private func text(_ delivery: BodyMachine<ByteBuffer>.Delivery?) -> String {
        switch delivery {
        case .piece(let piece): String(buffer: piece)
        case .ending(let ending): "\(ending)"
        case .busy: "busy"
        case nil: "wait"
        }
    }

    private let big = ByteBuffer(repeating: 1, count: 10_000)

    @Test func theConnectionIsHaltedWhileTheConsumerHasToCatchUp() {
        var body = WindowedBody(window: 100)
        var pieces = queue(big, big)
        #expect(body.received(&pieces) == nil)
        #expect(body.readCompleted() == false, "the window is full")
        for _ in 1..<BodyPace.looks { _ = body.lookAtPace() }
        #expect(body.pace.speed == .reduced)
        #expect(body.lookAtPace() == .reduced)
        #expect(body.lookAtPace() == .stopped)
        #expect(body.take()?.delivery == .piece(big))
        #expect(body.lookAtPace() == .reduced, "it pulls, but the window is still full")
    }

    @Test func aBodyThatItsConsumerWaitsForIsPulledAtFullSpeed() {
        var body = WindowedBody(window: 100)
        for _ in 0..<12 {
            #expect(body.take() == nil)
            _ = body.wait(now: .zero)
            var pieces = queue(big)
            #expect(body.received(&pieces) == .piece(big))
            #expect(body.lookAtPace() == .full)
        }
    }

    @Test func aBodyOfWhichNothingArrivesDoesNotMove() {
        var body = WindowedBody(window: 100)
        #expect(body.take() == nil)
        _ = body.wait(now: .zero)
        #expect((0..<3).map { _ in body.lookAtPace() } == [.full, .reduced, .reduced])
        var pieces = queue(big)
        #expect(body.received(&pieces) == .piece(big))
        #expect(body.lookAtPace() == .full)
    }

    @Test func aWaitingConsumerGetsThePieceThatArrives() {
        var body = WindowedBody(window: 100)
        #expect(body.take()?.delivery == nil)
        #expect(body.wait(now: .zero) == true, "the timer is not armed yet")
        var pieces = queue(piece("abc"))
        #expect(text(body.received(&pieces)) == "abc")
        #expect(body.machine.waitingSince == nil)
        #expect(body.readCompleted() == true)
    }

    @Test func readingStopsAtTheWindowAndTheTakeThatOpensItWakesTheLoopOnce() {
        var body = WindowedBody(window: 10_001)
        var pieces = queue(big, big, big)
        _ = body.received(&pieces)
        #expect(body.readCompleted() == false)
        #expect(body.take()?.wakesLoop == false)
        #expect(body.take()?.wakesLoop == false)
        #expect(body.take()?.wakesLoop == true, "a young body has a window of almost nothing")
        #expect(body.isReading)
    }

    @Test func theWindowIsEarned() {
        var body = WindowedBody(window: 2 * big.readableBytes)
        for _ in 0..<64 {
            var pieces = queue(big, big, big, big)
            _ = body.received(&pieces)
            while body.take()?.delivery != nil {}
        }
        var pieces = queue(big)
        _ = body.received(&pieces)
        let readsOn = body.readCompleted()
        #expect(readsOn, "a piece may wait while the next one is read")
        var more = queue(big)
        _ = body.received(&more)
        let stillReadsOn = body.readCompleted()
        #expect(!stillReadsOn, "never more than the configured window")
    }

    @Test func whatIsDrainedAfterACancelIsKeptAndTheEndFollows() {
        var body = WindowedBody(window: 100)
        #expect(body.cancel(byTask: false) == true)
        #expect(body.cancel(byTask: false) == false)
        #expect(body.take()?.delivery == nil, "the drain is not over")
        #expect(body.wait(now: .zero) == false)
        var pieces = queue(piece("drained"))
        #expect(text(body.received(&pieces)) == "drained")
        #expect(body.readCompleted() == false)
        #expect(body.finished(.failed(RepriseError(.originBodyTruncated, ""))) == nil)
        #expect(text(body.take()?.delivery) == "canceled(byTask: false)")
    }

    @Test func smallPiecesAreJoinedAndLargeOnesAreNot() {
        var queue = BodyQueue<ByteBuffer>()
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
