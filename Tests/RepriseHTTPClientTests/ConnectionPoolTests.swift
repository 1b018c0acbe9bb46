import NIOCore
import NIOPosix
import Reprise
import TestLimits
import Testing

@testable import RepriseHTTPClient

@Suite("The places of many requests that come and leave at once", .limit(minutes: 1))
struct ConnectionPoolTests {
    private let url: ResourceURL
    private var endpoint: Endpoint { Endpoint(url) }

    init() throws { url = try ResourceURL("http://origin/") }

    private func pool(connections: Int) -> ConnectionPool {
        ConnectionPool(
            limits: .init(connections: connections, lent: 1, idle: 1, queueTimeout: .seconds(600)),
            budget: ConnectionBudget(limit: 8, idleLimit: 4), group: MultiThreadedEventLoopGroup.singleton)
    }

    @Test("canceled before and after they have one, wanted no longer, or ended: no place is lost")
    func placesComeBack() async throws {
        let pool = pool(connections: 2)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<2_000 {
                let interest = RequestInterest(Demand.allCases[number % 4])
                var request = OriginRequest(url: url)
                request.context.interest = interest
                let task = Task { [request] in
                    guard let slot = try? await pool.lease(endpoint, for: request) else { return }
                    slot.begin {}
                    await Task.yield()
                    slot.release(nil)
                }
                group.addTask {
                    await Task.yield()
                    switch number % 5 {
                    case 0: task.cancel()
                    case 1: interest.change(to: nil)
                    case 2: interest.change(to: .playing)
                    default: break
                    }
                    await task.value
                }
            }
        }
        #expect(pool.queued == 0)
        #expect(pool.isUnused)
    }

    @Test func oneThatComesAfterTheEndIsRefusedAndThoseThatWaitAreToo() async throws {
        let pool = pool(connections: 1)
        let request = OriginRequest(url: url)
        let slot = try await pool.lease(endpoint, for: request)
        let waiting = Task { try await pool.lease(endpoint, for: request) }
        while pool.queued == 0 { await Task.yield() }
        await pool.close()
        #expect(await failureCode { try await waiting.value } == .closed)
        #expect(await failureCode { try await pool.lease(endpoint, for: request) } == .closed)
        slot.release(nil)
        #expect(pool.isUnused)
    }
}
