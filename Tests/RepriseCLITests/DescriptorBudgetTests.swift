import TestLimits
import Testing

@testable import RepriseCLI

/// What becomes of the descriptors that the system allows.
@Suite(.limit(minutes: 1)) struct DescriptorBudgetTests {
    @Test(arguments: [256, 300, 512, 1024, 4096, 20_000, 65_536])
    func connectionsOriginsFilesAndWhoIsToldLeaveAReserve(total: Int) {
        let budget = DescriptorBudget(total: total)
        let clients = budget.connections
        // A quarter as many more, at most 64, are told that there are too many.
        let taken =
            clients + min(64, max(2, clients / 4)) + budget.originConnections(beside: clients) + budget.openFiles
        // Besides what the process always has open, 32 stay for SQLite and the runtime.
        #expect(taken + 48 + 32 <= total)
    }

    @Test(arguments: [64, 128, 256, 300, 1024, 65_536])
    func eachClientMayNeedAConnectionToAnOrigin(total: Int) {
        let budget = DescriptorBudget(total: total)
        #expect(budget.connections >= 4)
        #expect(budget.originConnections(beside: budget.connections) > budget.connections)
    }

    @Test(arguments: [(300, 58, 73, 64), (1024, 275, 349, 204)])
    func sharesOfSmallLimits(total: Int, clients: Int, origins: Int, idle: Int) {
        let budget = DescriptorBudget(total: total)
        #expect(budget.connections == clients)
        #expect(budget.originConnections(beside: clients) == origins)
        #expect(budget.idleOriginConnections(beside: clients) == idle)
    }

    @Test func enoughDescriptorsMakeTenThousandConnections() {
        #expect(DescriptorBudget(total: 65_536).connections == 10_000)
    }
}
