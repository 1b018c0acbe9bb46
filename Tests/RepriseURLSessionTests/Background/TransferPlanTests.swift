import RepriseTesting
import TestLimits
import Testing

@testable import RepriseURLSession

@Suite("Which transfers a hole needs", .limit(minutes: 1))
struct TransferPlanTests {
    @Test func aHoleIsOneTransferUpToTheLimit() {
        #expect(TransferPlan.transfers(for: 5..<105, underWay: [], largest: 100) == [5..<105])
        #expect(TransferPlan.transfers(for: 5..<106, underWay: [], largest: 100) == [5..<105, 105..<106])
        #expect(
            TransferPlan.transfers(for: 0..<(200 << 20), underWay: []).map(\.count) == [
                64 << 20, 64 << 20, 64 << 20, 8 << 20,
            ])
    }

    @Test func whatIsUnderWayIsLeftOut() {
        #expect(TransferPlan.transfers(for: 0..<100, underWay: [40..<60], largest: 1000) == [0..<40, 60..<100])
        #expect(TransferPlan.transfers(for: 0..<100, underWay: [60..<200, 0..<60], largest: 1000) == [])
        #expect(
            TransferPlan.transfers(for: 50..<100, underWay: [0..<60, 200..<300], largest: 30) == [60..<90, 90..<100])
    }

    @Test("against a bit for each byte", arguments: 1...200 as ClosedRange<UInt64>)
    func plansAreRight(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        func range() -> Range<Int64> {
            let start = Int64.random(in: 0..<60, using: &generator)
            return start..<start + Int64.random(in: 1...40, using: &generator)
        }
        let hole = range()
        let underWay = (0..<Int.random(in: 0...4, using: &generator)).map { _ in range() }
        let largest = Int64.random(in: 1...30, using: &generator)
        let plan = TransferPlan.transfers(for: hole, underWay: underWay, largest: largest)
        var brought = [Int](repeating: 0, count: 100)
        for range in plan { for byte in range { brought[Int(byte)] += 1 } }
        for byte in Int64(0)..<100 {
            let isMissing = hole.contains(byte) && !underWay.contains { $0.contains(byte) }
            #expect(brought[Int(byte)] == (isMissing ? 1 : 0), "byte \(byte), seed \(seed)")
        }
        #expect(plan.allSatisfy { !$0.isEmpty && Int64($0.count) <= largest })
        #expect(plan.map(\.lowerBound) == plan.map(\.lowerBound).sorted())
    }
}
