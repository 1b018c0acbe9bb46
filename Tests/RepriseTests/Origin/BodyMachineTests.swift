import RepriseTesting
import TestLimits
import Testing

@testable import Reprise

/// The machine of response bodies, which every HTTP client uses.
@Suite(.limit(minutes: 1)) struct BodyMachineTests {
    /// Bytes that tell where they came from.
    private struct Piece: BodyPiece, Equatable {
        var bytes: [UInt8]
        /// Whether the bytes were copied.
        var isCopy = false

        init(_ text: String) { bytes = Array(text.utf8) }
        init(count: Int) { bytes = [UInt8](repeating: 7, count: count) }

        var byteCount: Int { bytes.count }

        func copied(capacity: Int) -> Piece {
            var copy = self
            copy.isCopy = true
            return copy
        }

        mutating func append(_ other: Piece) { bytes += other.bytes }

        mutating func removeFirst(_ count: Int) -> Piece {
            var head = self
            head.bytes = Array(bytes.prefix(count))
            bytes.removeFirst(count)
            return head
        }
    }

    private typealias Machine = BodyMachine<Piece>
    private typealias Queue = BodyQueue<Piece>

    private static let truncated = BodyEnding.failed(RepriseError(.originBodyTruncated, ""))

    private func queue(_ pieces: Piece...) -> Queue {
        var queue = Queue()
        for piece in pieces { queue.append(piece) }
        return queue
    }

    @Test func aBufferedPieceIsTakenAtOnce() {
        var machine = Machine()
        var pieces = queue(Piece("abc"))
        #expect(machine.received(&pieces) == nil)
        #expect(pieces.isEmpty)
        #expect(machine.take() == .piece(Piece("abc")))
        #expect(machine.take() == nil)
    }

    @Test func aWaitingConsumerGetsThePieceThatArrives() {
        var machine = Machine()
        #expect(machine.take() == nil)
        #expect(machine.wait(now: .zero) == true, "the timer is not armed yet")
        #expect(machine.received(Piece("abc")) == .piece(Piece("abc")))
        #expect(machine.waitingSince == nil)
        #expect(machine.take() == nil)
        #expect(machine.wait(now: .zero) == false, "the timer runs already")
        #expect(machine.finished(.complete) == .ending(.complete))
    }

    @Test func aSecondConsumerIsToldThatAnotherOneWaits() throws {
        var machine = Machine()
        #expect(machine.take() == nil)
        _ = machine.wait(now: .zero)
        let taken = machine.take()
        let delivery = try #require(taken)
        #expect(delivery == .busy)
        #expect { try delivery.result.get() } throws: { ($0 as? RepriseError)?.code == .invalidArgument }
        #expect(machine.received(Piece("abc")) == .piece(Piece("abc")), "the first one is served all the same")
        #expect(machine.take() == nil)
    }

    @Test(
        "the end comes after the buffered pieces, and stays",
        arguments: [.complete, .failed(RepriseError(.originBodyTruncated, ""))] as [BodyEnding])
    func theEndComesAfterTheBufferedPieces(ending: BodyEnding) {
        var machine = Machine()
        _ = machine.received(Piece(count: 5_000))
        _ = machine.received(Piece(count: 6_000))
        #expect(machine.finished(ending) == nil)
        #expect(machine.take() == .piece(Piece(count: 5_000)))
        #expect(machine.take() == .piece(Piece(count: 6_000)))
        #expect(machine.take() == .ending(ending))
        #expect(machine.take() == .ending(ending))
        #expect(machine.cancel(byTask: false) == false, "there is nothing left to close")
    }

    @Test func piecesThatArriveAfterACancelAreKeptAndTheEndFollows() {
        var machine = Machine()
        #expect(machine.cancel(byTask: false) == true)
        #expect(machine.cancel(byTask: false) == false)
        #expect(machine.take() == nil, "the drain is not over")
        #expect(machine.wait(now: .zero) == false)
        #expect(machine.received(Piece("drained")) == .piece(Piece("drained")))
        #expect(machine.finished(Self.truncated) == nil)
        #expect(machine.received(Piece("late")) == nil)
        #expect(machine.take() == .ending(.canceled(byTask: false)))
    }

    @Test func aBodyThatWasCompleteAnywayIsComplete() {
        var machine = Machine()
        _ = machine.cancel(byTask: true)
        _ = machine.received(Piece("rest"))
        _ = machine.finished(.complete)
        #expect(machine.take() == .piece(Piece("rest")))
        #expect(machine.take() == .ending(.complete))
    }

    @Test("what next() returns or throws at the end")
    func results() throws {
        #expect(try Machine.Delivery.ending(.complete).result.get() == nil)
        #expect(try Machine.Delivery.ending(.canceled(byTask: false)).result.get() == nil)
        #expect(throws: CancellationError.self) { try Machine.Delivery.ending(.canceled(byTask: true)).result.get() }
        #expect { try Machine.Delivery.ending(Self.truncated).result.get() } throws: {
            ($0 as? RepriseError)?.code == .originBodyTruncated
        }
    }

    @Test func piecesAfterTheEndAreDropped() {
        var machine = Machine()
        _ = machine.finished(Self.truncated)
        var pieces = queue(Piece("late"))
        #expect(machine.received(&pieces) == nil)
        #expect(machine.queue.isEmpty && pieces.isEmpty)
    }

    @Test func onlyAConsumerThatWaitsTimesOut() {
        var machine = Machine()
        let timeout = Duration.seconds(30)
        #expect(machine.checkIdle(now: .seconds(3600), timeout: timeout) == .disarm)
        _ = machine.take()
        #expect(machine.wait(now: .seconds(1)) == true)
        #expect(machine.checkIdle(now: .seconds(11), timeout: timeout) == .checkAgain(after: .seconds(20)))
        _ = machine.received(Piece("a"))
        #expect(machine.checkIdle(now: .seconds(41), timeout: timeout) == .disarm)
        #expect(machine.wait(now: .seconds(50)) == true)
        #expect(machine.checkIdle(now: .seconds(80), timeout: timeout) == .timedOut)
    }

    // MARK: The queue

    @Test func smallPiecesAreJoinedAndLargeOnesAreNot() {
        var queue = Queue()
        for _ in 0..<20_000 { queue.append(Piece("x")) }
        #expect(queue.byteCount == 20_000)
        #expect(queue.count <= 2)
        queue.append(Piece(count: 10_000))
        queue.append(Piece(count: 10_000))
        #expect(queue.byteCount == 40_000)
        var (taken, copies) = (0, 0)
        while let piece = queue.popFirst() {
            taken += piece.byteCount
            if piece.isCopy { copies += piece.byteCount }
        }
        #expect(taken == 40_000)
        #expect(copies == 20_000)
        #expect(queue.byteCount == 0 && queue.isEmpty && queue.count == 0)
    }

    @Test func joinedPiecesHaveABound() {
        var queue = Queue()
        for _ in 0..<50 { queue.append(Piece(count: 4_000)) }
        var sizes: [Int] = []
        while let piece = queue.popFirst() { sizes.append(piece.byteCount) }
        #expect(sizes.allSatisfy { $0 <= Queue.joinedPiece })
        #expect(sizes.reduce(0, +) == 200_000)
        #expect(sizes.count == 4)
    }

    @Test func aPieceThatIsLargerThanOneMebibyteIsSplit() {
        var queue = Queue()
        queue.append(Piece(count: (5 << 19) + 3))
        queue.append(Piece(count: 0))
        var sizes: [Int] = []
        while let piece = queue.popFirst() { sizes.append(piece.byteCount) }
        #expect(sizes == [1 << 20, 1 << 20, (1 << 19) + 3])
    }

    @Test("bytes keep their order, against an array", arguments: 1...20)
    func bytesKeepTheirOrder(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var queue = Queue()
        var model: [UInt8] = []
        for step in 0..<400 {
            if Int.random(in: 0..<3, using: &generator) == 0 {
                guard let piece = queue.popFirst() else {
                    #expect(model.isEmpty)
                    continue
                }
                #expect(model.starts(with: piece.bytes))
                model.removeFirst(piece.byteCount)
            } else {
                let size = [0, 1, 100, 4_095, 4_096, 30_000].randomElement(using: &generator) ?? 0
                var piece = Piece(count: size)
                for index in piece.bytes.indices { piece.bytes[index] = UInt8(truncatingIfNeeded: step &* 31 &+ index) }
                queue.append(piece)
                model += piece.bytes
            }
            #expect(queue.byteCount == model.count)
        }
    }
}
