import Foundation
import Primitives
import Reprise
import RepriseTesting
import TestLimits
import Testing

@testable import RepriseProxy

/// When other servers are asked, and what is known of them in the meantime.
@Suite(.limit(minutes: 1)) struct PeerBoardTests {
    private let clock = ManualClock()

    /// A server that counts how often it is asked.
    private final class Counted: Sendable {
        let questions = Mutex(0)
        let answer: Peer.Answer

        init(_ answer: Peer.Answer) { self.answer = answer }

        var peer: Peer {
            Peer(address: "http://n2") { [self] in
                questions.withLock { $0 += 1 }
                return answer
            }
        }
    }

    private func board(_ peers: Peer...) -> PeerBoard {
        PeerBoard(peers, clock: CacheClock(clock, wallClock: { Date(timeIntervalSince1970: 0) }))
    }

    private func states(_ board: PeerBoard) -> [PeerState] { board.look().map(\.answer.state) }

    @Test("who looks has them asked, but not again within two seconds") func questions() async {
        let counted = Counted(Peer.Answer(.draining))
        let board = board(counted.peer)
        #expect(states(board) == [.unknown], "nothing waits")
        await board.settle()
        for _ in 0..<3 {
            let known = states(board)
            #expect(known == [.draining])
        }
        #expect(counted.questions.withLock { $0 } == 1)
        clock.advance(by: PeerBoard.pause)
        #expect(states(board) == [.draining], "the last answer counts until the next one")
        await board.settle()
        #expect(counted.questions.withLock { $0 } == 2)
    }

    @Test("a server that says nothing keeps back nothing of the others, and is not reached after two seconds")
    func silence() async {
        let never = Promise<Void>()
        let silent = Peer(address: "http://n1") {
            await withTaskCancellationHandler {
                await never.value
            } onCancel: {
                never.fulfill()
            }
            return Peer.Answer(.ready)
        }
        let board = board(silent, Counted(Peer.Answer(.degraded)).peer)
        await eventually { states(board) == [.unknown, .degraded] }
        await clock.waitForSleepers(1)
        clock.advance(by: PeerBoard.patience)
        await board.settle()
        #expect(states(board) == [.unreachable, .degraded])
    }

    @Test("an answer counts for fifteen seconds, and a closed board asks nothing") func age() async {
        let counted = Counted(Peer.Answer(.ready))
        let board = board(counted.peer)
        await board.settle()
        board.close()
        clock.advance(by: PeerBoard.lifetime - .milliseconds(1))
        #expect(states(board) == [.ready])
        clock.advance(by: .milliseconds(1))
        #expect(states(board) == [.unknown])
        await board.settle()
        #expect(counted.questions.withLock { $0 } == 1)
    }
}
