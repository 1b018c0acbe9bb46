import TestLimits
import Testing

@testable import RepriseCLI

/// When a program that writes a file counts as stuck.
@Suite(.limit(minutes: 1)) struct GrowthWatchTests {
    @Test func aFileThatGrowsIsWaitedFor() {
        #expect(moments((0..<600).map { (Int64($0 / 30), .seconds($0)) }) == [])
    }

    @Test func aFileThatStaysAsItIsIsNot() {
        let looks: [(Int64, Duration)] = [
            (0, .zero), (48, .seconds(59)), (48, .seconds(118)), (48, .seconds(119)), (49, .seconds(120)),
        ]
        #expect(moments(looks) == [.seconds(119)])
    }

    @Test func aFileThatIsNeverMadeIsNot() {
        #expect(moments([(0, .zero), (0, GrowthWatch.patience)]) == [GrowthWatch.patience])
    }

    /// The times at which the program counts as stuck.
    private func moments(_ looks: [(size: Int64, time: Duration)]) -> [Duration] {
        var watch = GrowthWatch()
        return looks.filter { watch.isStuck(size: $0.size, at: $0.time) }.map(\.time)
    }
}
