import Primitives
import TestLimits
import Testing

@testable import RepriseProxy

@Suite(.limit(minutes: 1)) struct HostTurnsTests {
    @Test("the playlists of one host are read one at a time, and do not delay those of another host")
    func order() async throws {
        let turns = HostTurns()
        let (first, mayEnd) = (Promise<Void>(), Promise<Void>())
        let order = Mutex<[String]>([])
        let one = Task {
            try await turns.run(at: "a") {
                first.fulfill()
                await mayEnd.value
                order.withLock { $0.append("a1") }
            }
        }
        await first.value
        let two = Task { try await turns.run(at: "a") { order.withLock { $0.append("a2") } } }
        let canceled = Task { try await turns.run(at: "a") { order.withLock { $0.append("canceled") } } }
        canceled.cancel()
        await #expect(throws: CancellationError.self) { try await canceled.value }
        try await turns.run(at: "b") { order.withLock { $0.append("b") } }
        #expect(order.withLock { $0 } == ["b"])
        mayEnd.fulfill()
        try await one.value
        try await two.value
        #expect(order.withLock { $0 } == ["b", "a1", "a2"])
        #expect(turns.count == 0)
    }
}
