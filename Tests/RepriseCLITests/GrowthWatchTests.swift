import TestLimits
import Testing

@testable import RepriseCLI

/// When a program that writes a file counts as stuck.
@Suite(.limit(minutes: 1)) struct GrowthWatchTests {
    @Test func aFileThatGrowsIsWaitedFor() {
        var watch = GrowthWatch()
        for second in 0..<600 { #expect(!watch.isStuck(size: Int64(second / 30), at: .seconds(second))) }
    }

    @Test func aFileThatStaysAsItIsIsNot() {
        var watch = GrowthWatch()
        #expect(!watch.isStuck(size: 0, at: .zero))
        #expect(!watch.isStuck(size: 48, at: .seconds(59)))
        #expect(!watch.isStuck(size: 48, at: .seconds(118)))
        #expect(watch.isStuck(size: 48, at: .seconds(119)))
    }

    @Test func aFileThatIsNeverMadeIsNot() {
        var watch = GrowthWatch()
        #expect(!watch.isStuck(size: 0, at: .zero))
        #expect(watch.isStuck(size: 0, at: GrowthWatch.patience))
    }
}
