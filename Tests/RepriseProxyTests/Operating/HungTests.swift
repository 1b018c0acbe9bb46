import Dispatch
import Primitives
import Reprise
import RepriseProxy
import TestLimits
import TestSupport
import Testing

/// Whether what must turn does: event loops and the index.
@Suite(.limit(minutes: 1)) struct HungTests {
    /// Blocks the first thread that enters until it is told to go on.
    private final class Block: Sendable {
        private let semaphore = DispatchSemaphore(value: 0)
        private let entries = Mutex(0)
        var isEntered: Bool { entries.withLock { $0 } > 0 }

        func enter() {
            let isFirst = entries.withLock { entries in
                entries += 1
                return entries == 1
            }
            if isFirst { semaphore.wait() }
        }

        func leave() { semaphore.signal() }
    }

    /// Expects that `turn` does not return before `block` is left.
    private static func expectHung(_ block: Block, _ turn: @escaping @Sendable () async -> Void) async {
        await eventually { block.isEntered }
        let isOver = Mutex(false)
        let task = Task {
            await turn()
            isOver.withLock { $0 = true }
        }
        for _ in 0..<20 {
            await breathe()
            #expect(!isOver.withLock { $0 })
        }
        block.leave()
        await task.value
    }

    @Test func aHungEventLoopDoesNot() async throws {
        let block = Block()
        let policy = CacheKeyPolicy { url in
            if url.description.hasSuffix("/hang") { block.enter() }
            return url.description
        }
        try await ProxyBench.run(configure: { $0.keyPolicy = policy }) { proxy async throws in
            await proxy.server.turn()
            let client = try RawClient(port: proxy.server.port)
            try await client.get(proxy.target("/hang"))
            await Self.expectHung(block) { await proxy.server.turn() }
        }
    }

    @Test func aHungIndexDoesNot() async throws {
        let block = Block()
        let reached: @Sendable (CrashPoint) -> Void = { point in if point == .recording { block.enter() } }
        try await ProxyBench.run(configure: { $0.reached = reached }) { proxy async throws in
            proxy.bench.publish("/a", length: 1000)
            await proxy.bench.cache.turn()
            #expect(try await proxy.get("/a").head.status == 200)
            await Self.expectHung(block) { await proxy.bench.cache.turn() }
        }
    }
}
