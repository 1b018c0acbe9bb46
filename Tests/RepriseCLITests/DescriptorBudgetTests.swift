import TestLimits
import Testing

@testable import RepriseCLI

/// What becomes of the descriptors that the system allows.
@Suite(.limit(minutes: 1)) struct DescriptorBudgetTests {
    @Test(arguments: [64, 128, 256, 1024, 4096, 65_536])
    func connectionsOriginsFilesAndWhoIsToldFitIn(total: Int) {
        let connections = DescriptorBudget(total: total).connections
        #expect(connections >= 4)
        guard total >= 256 else { return }
        // Each client may need a connection to an origin; a quarter as many more, at most 64, are told that there are
        // too many.
        #expect(2 * connections + min(64, connections / 4) + min(512, total / 4) < total)
    }

    @Test func enoughDescriptorsMakeTenThousandConnections() {
        #expect(DescriptorBudget(total: 65_536).connections == 10_000)
    }
}
