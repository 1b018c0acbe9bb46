import NIOCore
import NIOPosix
import Primitives
import Reprise
import RepriseTesting
import TestLimits
import Testing

@testable import RepriseHTTPClient

/// How many connections there may be over all hosts, and which idle one is closed for another.
@Suite(.limit(minutes: 1)) struct ConnectionBudgetTests {
    /// Connections by number, and which of them were closed.
    private final class Connections: Sendable {
        private final class Token: Sendable {}
        private let tokens = (0..<10).map { _ in Token() }
        let closed = Mutex<[Int]>([])
        /// Those that got a request before they could be closed.
        let taken = Mutex<Set<Int>>([])

        func idle(_ number: Int, in budget: ConnectionBudget) {
            let drops = budget.becameIdle(ObjectIdentifier(tokens[number])) { [self] in
                guard !taken.withLock({ $0.contains(number) }) else { return false }
                closed.withLock { $0.append(number) }
                return true
            }
            for drop in drops { _ = drop() }
        }

        func use(_ number: Int, in budget: ConnectionBudget) { budget.leftIdle(ObjectIdentifier(tokens[number])) }
    }

    private static let loop = MultiThreadedEventLoopGroup.singleton.any()
    private static let late = RepriseError(.originTimedOut, "late")

    private func take(_ budget: ConnectionBudget, within time: TimeAmount = .hours(1)) async throws {
        try await budget.take(within: time, on: Self.loop) { Self.late }
    }

    @Test func theConnectionUsedLongestAgoIsClosedOverAllHosts() {
        let (budget, connections) = (ConnectionBudget(limit: 10, idleLimit: 3), Connections())
        for number in 0..<3 { connections.idle(number, in: budget) }
        connections.use(0, in: budget)
        connections.idle(0, in: budget)
        connections.idle(3, in: budget)
        #expect(connections.closed.withLock { $0 } == [1])
        #expect(budget.counts.idle == 3)
        connections.idle(4, in: budget)
        #expect(connections.closed.withLock { $0 } == [1, 2])
    }

    @Test func entriesOfConnectionsThatAreUsedAgainAndAgainAreDropped() {
        let (budget, connections) = (ConnectionBudget(limit: 10, idleLimit: 3), Connections())
        for _ in 0..<10_000 {
            connections.idle(0, in: budget)
            connections.use(0, in: budget)
        }
        #expect(budget.counts.idle == 0)
        #expect(budget.idleEntries < 100)
    }

    @Test func anAttemptBeyondTheLimitWaitsForAnotherOne() async throws {
        let budget = ConnectionBudget(limit: 4, idleLimit: 4)
        try await take(budget)
        try await take(budget)
        let third = Task { try await take(budget) }
        await eventually { budget.waiting == 1 }
        // One of the two descriptors of the attempt is free now, and the attempt needs two.
        budget.opened()
        #expect(budget.waiting == 1)
        budget.failed()
        try await third.value
        #expect(budget.counts == .init(open: 1))
    }

    @Test func idleConnectionsAreClosedForAnAttemptThatWaits() async throws {
        let (budget, connections) = (ConnectionBudget(limit: 4, idleLimit: 4), Connections())
        for number in 0..<3 {
            try await take(budget)
            budget.opened()
            connections.idle(number, in: budget)
        }
        connections.taken.withLock { _ = $0.insert(0) }
        let attempt = Task { try await take(budget) }
        await eventually { !connections.closed.withLock { $0.isEmpty } }
        #expect(connections.closed.withLock { $0 } == [1], "the first one has a request again")
        budget.closed()
        try await attempt.value
    }

    @Test func aConnectionThatBecomesIdleWhileAnAttemptWaitsIsClosed() async throws {
        let (budget, connections) = (ConnectionBudget(limit: 2, idleLimit: 4), Connections())
        try await take(budget)
        budget.opened()
        let attempt = Task { try await take(budget) }
        await eventually { budget.waiting == 1 }
        connections.idle(0, in: budget)
        #expect(connections.closed.withLock { $0 } == [0])
        budget.closed()
        try await attempt.value
    }

    /// An attempt that waits because `count` connections are open.
    private func attempt(behind count: Int, in budget: ConnectionBudget) async throws -> Task<Void, any Error> {
        for _ in 0..<count {
            try await take(budget)
            budget.opened()
        }
        let attempt = Task { try await take(budget) }
        await eventually { budget.waiting == 1 }
        return attempt
    }

    @Test func noMoreConnectionsAreClosedThanAttemptsNeed() async throws {
        let (budget, connections) = (ConnectionBudget(limit: 6, idleLimit: 6), Connections())
        let attempt = try await attempt(behind: 5, in: budget)
        for number in 0..<5 { connections.idle(number, in: budget) }
        #expect(connections.closed.withLock { $0 } == [0], "until it is closed, others stay")
        budget.closed()
        try await attempt.value
        #expect(budget.counts == .init(open: 4, idle: 4))
    }

    @Test func aConnectionThatGotARequestIsReplacedByTheNext() async throws {
        let (budget, connections) = (ConnectionBudget(limit: 3, idleLimit: 3), Connections())
        let attempt = try await attempt(behind: 2, in: budget)
        connections.taken.withLock { _ = $0.insert(0) }
        connections.idle(0, in: budget)
        connections.idle(1, in: budget)
        #expect(connections.closed.withLock { $0 } == [1])
        budget.closed()
        try await attempt.value
    }

    @Test func anAttemptLeavesTheQueueWhenItIsCanceledOrTakesTooLong() async throws {
        let budget = ConnectionBudget(limit: 2, idleLimit: 0)
        try await take(budget)
        let canceled = Task { try await take(budget) }
        await eventually { budget.waiting == 1 }
        canceled.cancel()
        await #expect(throws: CancellationError.self) { try await canceled.value }
        #expect(await failureCode { try await take(budget, within: .nanoseconds(1)) } == .originTimedOut)
        #expect(budget.waiting == 0)
        budget.failed()
        try await take(budget)
    }

    // MARK: - With sockets

    @Test("A client of many hosts keeps no more connections than it may, and fails no request")
    func manyHosts() async throws {
        // To the client another port is another host.
        var origins: [TestOrigin] = []
        for _ in 0..<12 {
            let origin = try await TestOrigin.start()
            origin.set(.init(.pattern(seed: 1, length: 10)), at: "/a")
            origins.append(origin)
        }
        let urls = origins.map { $0.url("/a") }
        let budget = ConnectionBudget(limit: 8, idleLimit: 4)
        try await withClient({ $0.connections = budget }) { client in
            try await withThrowingTaskGroup(of: Int.self) { group in
                for url in urls + urls {
                    group.addTask { try await client.get(url).body.bytes().count }
                }
                for try await count in group { #expect(count == 10) }
            }
            #expect(budget.mostTaken <= 8)
            await eventually { budget.counts == .init(open: 4, idle: 4) }
        }
        await eventually { budget.counts == .init() }
        for origin in origins { await origin.stop() }
    }

    @Test func aConnectionThatIsUsedAgainIsNotIdle() async throws {
        let origin = try await TestOrigin.start()
        origin.set(.init(.pattern(seed: 1, length: 10)), at: "/a")
        let budget = ConnectionBudget(limit: 8, idleLimit: 4)
        try await withClient({ $0.connections = budget }) { client in
            for _ in 0..<3 {
                let response = try await client.get(origin.url("/a"))
                _ = try await response.body.bytes()
                await eventually { budget.counts == .init(open: 1, idle: 1) }
            }
            let held = try await client.get(origin.url("/a"))
            #expect(budget.counts.open == 1)
            _ = try await held.body.bytes()
        }
        await origin.stop()
    }

    @Test func withoutADescriptorIdleConnectionsAreClosed() async throws {
        let origin = try await TestOrigin.start()
        origin.set(.init(.pattern(seed: 1, length: 10)), at: "/a")
        let budget = ConnectionBudget(limit: 8, idleLimit: 4)
        try await withClient({ $0.connections = budget }) { client in
            _ = try await client.get(origin.url("/a")).body.bytes()
            await eventually { budget.counts.idle == 1 }
            budget.closeIdle()
            await eventually { budget.counts == .init() }
            #expect(try await client.get(origin.url("/a")).body.bytes().count == 10)
        }
        await origin.stop()
    }

    @Test(arguments: [(300, 150, 64), (1024, 512, 204), (20, 16, 16)])
    func sharesOfAProcess(descriptors: Int, limit: Int, idle: Int) {
        let budget = ConnectionBudget(descriptors: descriptors)
        #expect(budget.limit == limit)
        #expect(budget.idleLimit == idle)
    }
}
