import Primitives
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// Playlists in memory on their way to clients: one copy for all of them, under one budget.
@Suite("Shared texts", .limit(minutes: 1)) struct SharedTextTests {
    private static let stalled = 200_000

    /// A list of some 300 kB.
    private static func list(_ name: String = "a") -> [UInt8] {
        let padding = String(repeating: "x", count: 80)
        return Array("#EXTM3U\n#EXT-X-TARGETDURATION:1\n".utf8)
            + (0..<3000).flatMap { Array("#EXTINF:1,\n/\(name)/\($0)\(padding)\n".utf8) }
    }

    /// Puts `bytes` at `path`.
    private static func publish(
        _ bytes: [UInt8], at path: String, on proxy: ProxyBench, control: String = "max-age=600"
    ) {
        let personality = TestOrigin.Personality { $0.fields[.cacheControl] = control }
        proxy.bench.origin.set(
            .init(
                .bytes(bytes), mediaType: "application/vnd.apple.mpegurl", etag: "\"1\"", personality: personality),
            at: path)
    }

    /// Clients that have sent a request for `path`.
    private static func clients(
        _ count: Int, for path: String, of proxy: ProxyBench, host: (Int) -> String = { _ in "localhost" }
    ) async throws -> [RawClient] {
        var clients: [RawClient] = []
        for number in 0..<count {
            let client = try RawClient(port: proxy.server.port, receiveBufferSize: 4096)
            try await client.send("GET \(proxy.target(path)) HTTP/1.1\r\nHost: \(host(number))\r\n\r\n")
            clients.append(client)
        }
        return clients
    }

    private static func body(_ client: RawClient) async throws -> [UInt8] {
        let head = try await client.head()
        #expect(head.status == 200)
        return try await client.body(head.length ?? 0)
    }

    @Test("clients of a list that stalls hold one copy of it, by whatever name they know the proxy")
    func gathering() async throws {
        try await ProxyBench.run { proxy async throws in
            Self.publish(Self.list(), at: "/l.m3u8", on: proxy)
            proxy.bench.origin.hold("/l.m3u8", at: Int64(Self.stalled))
            let clients = try await Self.clients(12, for: "/l.m3u8", of: proxy) {
                $0 < 8 ? "localhost" : "127.0.0.\($0)"
            }
            await eventually { proxy.server.requestsForTexts == 12 }
            await eventually { proxy.server.heldTextBytes == Self.stalled }
            proxy.bench.origin.release("/l.m3u8")
            let bodies = try await withThrowingTaskGroup(of: [UInt8].self) { group in
                for client in clients { group.addTask { try await Self.body(client) } }
                return try await group.reduce(into: Set<[UInt8]>()) { $0.insert($1) }
            }
            #expect(bodies.count == 1 && bodies.first?.count ?? 0 >= Self.list().count)
            #expect(proxy.bench.origin.snapshot.requestCount == 1)
            await eventually { proxy.server.heldTextBytes == 0 }
        }
    }

    @Test("a gathering goes on when the client that began it leaves, and ends with the last one")
    func leaving() async throws {
        try await ProxyBench.run { proxy async throws in
            Self.publish(Self.list(), at: "/l.m3u8", on: proxy)
            proxy.bench.origin.hold("/l.m3u8", at: Int64(Self.stalled))
            let first = try await Self.clients(1, for: "/l.m3u8", of: proxy)
            await eventually { proxy.server.requestsForTexts == 1 }
            let others = try await Self.clients(2, for: "/l.m3u8", of: proxy)
            await eventually { proxy.server.requestsForTexts == 3 }
            first[0].disconnect()
            await eventually { proxy.server.requestsForTexts == 2 && proxy.server.answersUnderWay == 2 }
            others[0].disconnect()
            await eventually { proxy.server.requestsForTexts == 1 && proxy.server.heldTextBytes == Self.stalled }
            proxy.bench.origin.release("/l.m3u8")
            #expect(try await Self.body(others[1]).count >= Self.list().count)

            Self.publish(Self.list("b"), at: "/m.m3u8", on: proxy)
            proxy.bench.origin.hold("/m.m3u8", at: Int64(Self.stalled))
            let leaving = try await Self.clients(3, for: "/m.m3u8", of: proxy)
            await eventually { proxy.server.requestsForTexts == 3 && proxy.server.heldTextBytes == Self.stalled }
            for client in leaving { client.disconnect() }
            await proxy.becomeIdle()
            #expect(proxy.server.heldTextBytes == 0)
        }
    }

    @Test("clients that do not read a text hold one copy of it", arguments: ["max-age=600", "no-store"])
    func slowClients(control: String) async throws {
        // More than sockets take.
        let padding = Array(("#" + String(repeating: "x", count: 998) + "\n").utf8)
        let list = Array("#EXTM3U\n#EXTINF:1,\n/1\n".utf8) + (0..<6000).flatMap { _ in padding }
        try await ProxyBench.run { proxy async throws in
            Self.publish(list, at: "/l.m3u8", on: proxy, control: control)
            let text = try await proxy.get("/l.m3u8").body
            await eventually { proxy.server.heldTextBytes == 0 }
            var clients = try await Self.clients(5, for: "/l.m3u8", of: proxy)
            for client in clients { #expect(try await client.head().status == 200) }
            #expect(proxy.server.answersUnderWay == 5)
            await eventually { proxy.server.heldTextBytes == text.count }
            #expect(try await clients[0].body(20_000) == Array(text.prefix(20_000)))
            // Bytes that were not read reset the connections; a mere end of their requests would not end the answers.
            clients = []
            await proxy.becomeIdle()
            await eventually { proxy.server.heldTextBytes == 0 }
        }
    }

    @Test(
        "beyond the budget clients are told to ask again; small lists still go", arguments: ["max-age=600", "no-store"])
    func budget(control: String) async throws {
        try await ProxyBench.run(configureProxy: { $0.mostTextBytes = 450_000 }) { proxy async throws in
            for name in ["a", "b"] {
                Self.publish(Self.list(name), at: "/\(name).m3u8", on: proxy, control: control)
                proxy.bench.origin.hold("/\(name).m3u8", at: Int64(Self.stalled))
            }
            Self.publish(Array("#EXTM3U\n#EXTINF:1,\n/1\n".utf8), at: "/c.m3u8", on: proxy, control: control)
            let client = try await Self.clients(1, for: "/a.m3u8", of: proxy)
            await eventually { proxy.server.heldTextBytes == Self.stalled }
            let (head, text) = try await proxy.get("/b.m3u8")
            #expect(head.status == 503)
            #expect(head.fields["retry-after"] == "1")
            #expect(String(decoding: text, as: UTF8.self).contains("ask again"))
            #expect(try await proxy.get("/c.m3u8").head.status == 200)
            client[0].disconnect()
            await eventually { proxy.server.heldTextBytes == 0 }
            proxy.bench.origin.release("/b.m3u8")
            #expect(try await proxy.get("/c.m3u8").head.status == 200)
        }
    }

    // MARK: - Pure parts

    @Test func aLargeClaimLeavesAsMuchAsItTakes() {
        let budget = MemoryBudget(limit: 100)
        #expect(!budget.claim(51, beside: 0))
        #expect(budget.claim(50, beside: 0))
        #expect(!budget.claim(1, beside: 50))
        #expect(!budget.claim(26, beside: 0))
        #expect(budget.claim(20, beside: 0))
        #expect(!budget.claim(10, beside: 20))
        #expect(budget.claim(15, beside: 0))
        #expect(budget.byteCount == 85)
    }

    private final class Token: Sendable {}

    @Test func workIsCanceledWhenAllWhoWantItAreCanceled() async throws {
        let work = SharedWork<Int, Token>()
        let (ends, end) = AsyncStream<Bool>.makeStream()
        let made = Mutex(0)
        let callers = (0..<3).map { _ in
            Task {
                try await work.value(for: 1) {
                    made.withLock { $0 += 1 }
                    while !Task.isCancelled { await Task.yield() }
                    end.yield(Task.isCancelled)
                    return nil
                }
            }
        }
        await eventually { work.waiting == 3 }
        callers[0].cancel()
        callers[1].cancel()
        await #expect(throws: CancellationError.self) { _ = try await callers[1].value }
        await eventually { work.waiting == 1 }
        callers[2].cancel()
        #expect(await ends.first { _ in true } == true)
        #expect(made.withLock { $0 } == 1)
        #expect(work.waiting == 0)
    }

    @Test func whoeverComesAfterwardsBeginsAnew() async throws {
        let work = SharedWork<Int, Token>()
        let first = try await work.value(for: 1) { Token() }
        let second = try await work.value(for: 1) { Token() }
        #expect(first !== second)
        await #expect(throws: RepriseError.self) {
            _ = try await work.value(for: 1) { throw RepriseError(.closed, "") }
        }
    }

    @Test func thoseWhoAskATableAtTheSameTimeGetTheSame() async {
        let table = WeakTable<Int, Token>()
        let tokens = await withTaskGroup(of: Token.self) { group in
            for _ in 0..<64 { group.addTask { table.value(for: 1, where: { _ in true }) { Token() } } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(tokens.map(ObjectIdentifier.init)).count == 1)
    }

    @Test func aTableForgetsWhatNothingElseRetains() {
        let table = WeakTable<Int, Token>()
        let kept = table.value(for: 0, where: { _ in true }) { Token() }
        for number in 1..<10_000 { _ = table.value(for: number, where: { _ in true }) { Token() } }
        #expect(table[0] === kept)
        #expect(table[1] == nil)
        #expect(table.count < 200)
    }
}
