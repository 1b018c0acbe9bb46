import TestLimits
import Testing

@testable import RepriseCLI

/// When a program that writes a file counts as stuck.
@Suite(.limit(minutes: 1)) struct GrowthWatchTests {
    @Test func aFileThatGrowsIsWaitedFor() {
        #expect(stuck((0..<600).map { Int64($0 / 30) }) == [])
    }

    @Test func aFileThatStaysAsItIsIsNot() {
        let same = Array(repeating: 48 as Int64, count: 61)
        #expect(stuck([0] + same + [49]) == [61])
        #expect(stuck([48] + same.dropLast(2) + [47] + same.dropLast(2)) == [], "each change starts the count")
    }

    @Test func aFileThatIsNeverMadeIsNot() {
        #expect(stuck(Array(repeating: 0, count: 61)) == [60])
    }

    /// The numbers of the looks at which the program counts as stuck.
    private func stuck(_ sizes: [Int64]) -> [Int] {
        var watch = GrowthWatch()
        return sizes.indices.filter { watch.isStuck(size: sizes[$0]) }
    }
}
