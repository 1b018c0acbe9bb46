import NIOCore
import NIOPosix
import Reprise
import RepriseTesting
import TestLimits
import Testing

@testable import RepriseHTTPClient

@Suite("A request on a connection", .limit(minutes: 1))
struct ExchangeTests {
    @Test(arguments: [false, true])
    func oneThatIsCanceledBeforeItStartsIsNotSent(isReused: Bool) async throws {
        let origin = try await TestOrigin.start()
        origin.set(.init(.pattern(seed: 1, length: 10)), at: "/a")
        let url = try ResourceURL(origin.url("/a"))
        let group = MultiThreadedEventLoopGroup.singleton
        let pool = ConnectionPool(
            limits: .init(connections: 1, lent: 0, idle: 1, queueTimeout: .seconds(600)),
            budget: ConnectionBudget(limit: 4, idleLimit: 4), group: group)
        let connector = Connector(configuration: .init(), group: group)
        let slot = try await pool.lease(Endpoint(url), for: OriginRequest(url: url))
        let connection = try await connector.connect(to: Endpoint(url))
        let exchange = Exchange(
            request: try RequestHead(OriginRequest(url: url), configuration: .init()), body: ByteBuffer(),
            connection: connection, slot: slot, isReused: isReused, asked: OriginRequest(url: url),
            patience: .init(OriginRequest(url: url), .init(response: nil, idle: nil)))
        exchange.cancel()
        connection.start(exchange)
        await #expect(throws: CancellationError.self) { _ = try await exchange.response.futureResult.get() }
        slot.release(nil)
        try await connection.channel.closeFuture.get()
        #expect(origin.snapshot.requestCount == 0)
        #expect(pool.queued == 0)
        await origin.stop()
    }
}
