import Dispatch
import NIOCore
import NIOPosix
import Reprise
import TestLimits
import Testing

@testable import RepriseHTTPClient

/// What has arrived on an idle connection before the next request.
@Suite(.limit(minutes: 1)) struct ConnectionNewsTests {
    /// One connection, its pool, and a loop that can be held.
    private struct Client {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let pool: ConnectionPool
        let connection: Connection
        let request: OriginRequest
        private let configuration = NIOOrigin.Configuration()

        init(_ server: ScriptedServer) async throws {
            request = try OriginRequest(url: ResourceURL(server.url("/")))
            pool = ConnectionPool(
                limits: .init(connections: 1, lent: 1, idle: 1, queueTimeout: .seconds(600)),
                budget: ConnectionBudget(limit: 4, idleLimit: 4), group: group)
            connection = try await Connector(configuration: configuration, group: group)
                .connect(to: Endpoint(request.url))
        }

        func exchange(isReused: Bool) async throws -> Exchange {
            let slot = try await pool.lease(Endpoint(request.url), for: request)
            return Exchange(
                request: try RequestHead(request, configuration: .named("test")), body: ByteBuffer(),
                connection: connection, slot: slot, isReused: isReused, asked: request,
                patience: .init(request, configuration.patience(with: "")))
        }

        /// Runs `body` while the loop neither reads nor runs anything.
        func holding(_ body: () async throws -> Void) async throws {
            let end = DispatchSemaphore(value: 0)
            let (held, hold) = AsyncStream<Void>.makeStream()
            group.next().execute {
                hold.finish()
                end.wait()
            }
            for await _ in held {}
            defer { end.signal() }
            try await body()
        }
    }

    @Test(
        "no request goes out behind bytes or an end that the loop has not seen yet", arguments: [true, false])
    func newsBeforeTheRequest(isSurplus: Bool) async throws {
        let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        try await ScriptedServer.run({ _, _ in [.send(ok)] }) { server in
            let client = try await Client(server)
            let first = try await client.exchange(isReused: false)
            client.connection.start(first)
            #expect(try await first.response.futureResult.get().body.text() == "ok")
            let second = try await client.exchange(isReused: true)
            try await client.holding {
                if isSurplus { try await server.send("..........", on: 0) } else { try await server.close(0) }
                // Its turn comes before the loop reads again.
                client.connection.start(second)
            }
            await #expect(throws: StaleConnection.self) { _ = try await second.response.futureResult.get() }
            second.slot.release(nil)
            try await server.waitForClose(of: 0)
            #expect(server.requests.count == 1)
            try await client.group.shutdownGracefully()
        }
    }
}
