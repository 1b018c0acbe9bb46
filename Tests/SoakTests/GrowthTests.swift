import RepriseTesting
import TestLimits
import Testing

@testable import Soak

@Suite(.limit(minutes: 1))
struct GrowthTests {
    private func isGrowth(_ samples: [Double]) throws -> Bool {
        try #require(Growth(samples, warmUp: 120, share: 0.1, amount: 4)).isGrowth
    }

    @Test("Noise around a level is not growth", arguments: UInt64(1)...20)
    func noise(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        #expect(try !isGrowth((0..<720).map { _ in 60 + .random(in: -8...8, using: &random) }))
    }

    @Test("A slow leak under noise is growth", arguments: UInt64(1)...20)
    func leak(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        #expect(try isGrowth((0..<720).map { 60 + Double($0) / 20 + .random(in: -4...4, using: &random) }))
    }

    @Test("A rise at the beginning, which levels off, is not growth")
    func plateau() throws {
        #expect(try !isGrowth((0..<720).map { min(60, 30 + Double($0) / 4) }))
    }

    @Test("One peak is not growth, wherever it is", arguments: [0, 200, 400, 600])
    func peak(start: Int) throws {
        #expect(try !isGrowth((0..<720).map { (start..<start + 20).contains($0) ? 90 : 60 }))
    }

    @Test("Growth below the allowance is not growth")
    func allowance() throws {
        #expect(try !isGrowth((0..<720).map { 60 + Double($0) / 100 }))
    }

    @Test("A few samples are inconclusive")
    func few() {
        #expect(Growth([1, 2, 4, 8], warmUp: 0, share: 0, amount: 0) == nil)
    }
}
