import Foundation
import Reprise
import RepriseProxy
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseCLI

/// Commands that are stopped while the server that works for them is stuck.
@Suite(.limit(minutes: 1)) struct StuckServerTests {
    /// Has a client do `work` with a server that takes a request, says `words` and nothing more; stops it then.
    private static func run(
        saying words: String = "", _ work: @escaping @Sendable (ControlClient) async throws -> Void,
        _ body: (Task<Void, any Error>, ManualClock) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let path = directory.path(of: "socket")
        let listener = try UnixAddress.bind(path.utf8)
        defer { close(listener) }
        try #require(listen(listener, 8) == 0)
        let clock = ManualClock()
        let client = ControlClient(path: path, clock: CacheClock(clock) { Date(timeIntervalSince1970: 0) })
        let task = Task { try await work(client) }
        let connection = try await onThread {
            let connection = accept(listener, nil, nil)
            var byte: UInt8 = 0
            _ = recv(connection, &byte, 1, 0)
            _ = words.withCString { send(connection, $0, words.utf8.count, 0) }
            return connection
        }
        defer { close(connection) }
        task.cancel()
        await clock.waitForSleepers(1)
        try await body(task, clock)
    }

    @Test("a command that is stopped waits a bounded time for the server, and says so")
    func bounded() async throws {
        try await Self.run({ _ = try await $0.perform(FlushOperation()) }) { task, clock async throws in
            clock.advance(by: SocketExchange.grace - .milliseconds(1))
            #expect(clock.sleeperCount == 1, "not sooner")
            clock.advance(by: .milliseconds(1))
            let error = await #expect(throws: StopSignals.Interruption.self) { try await task.value }
            #expect(error?.message.contains("has not answered for 5 seconds") == true)
        }
    }

    @Test("a transfer does not wait for the stuck server either", arguments: [false, true])
    func transfer(hasBegun: Bool) async throws {
        let line = try JSONEncoder().encode(ControlLine<FetchOperation>.progress(TransferReport(key: CacheKey("a"))))
        let words = hasBegun ? "HTTP/1.0 200 OK\r\n\r\n" + String(decoding: line, as: UTF8.self) + "\n" : ""
        try await Self.run(
            saying: words,
            { client in
                let meter = FetchMeter(url: "http://origin/film")
                let operation = FetchOperation(
                    url: "http://origin/film", first: nil, fields: nil, body: false, names: Names())
                _ = try await CacheAccess.server(client).perform(operation, shownBy: meter)
            }
        ) { task, clock async throws in
            clock.advance(by: SocketExchange.grace)
            await #expect(throws: StopSignals.Interruption.self) { try await task.value }
        }
    }
}
