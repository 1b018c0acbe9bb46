import RepriseTesting
import TestLimits
import Testing

@Suite(.limit(minutes: 1))
struct PatternTests {
    @Test("A range of the pattern is the bytes at its offsets, whatever its alignment")
    func ranges() {
        let bytes = (0..<100).map { TestPattern.byte(at: $0, seed: 3) }
        for start in 0..<20 {
            for end in start..<60 {
                #expect(TestPattern.bytes(in: Int64(start)..<Int64(end), seed: 3) == Array(bytes[start..<end]))
            }
        }
        let far: Int64 = 5_000_000_000
        #expect(TestPattern.bytes(in: far + 3..<far + 4, seed: 3) == [TestPattern.byte(at: far + 3, seed: 3)])
    }

    @Test("Another seed is another pattern, also some places further on")
    func seeds() {
        let first = TestPattern.bytes(in: 0..<1024, seed: 1)
        let second = TestPattern.bytes(in: 0..<64, seed: 2)
        #expect(!first.indices.dropLast(64).contains { first[$0..<$0 + 64].elementsEqual(second) })
    }

    @Test("The seeded generator gives the published numbers of SplitMix64 for the seed 1234567")
    func generator() {
        var generator = SeededGenerator(seed: 1_234_567)
        let published: [UInt64] = [
            6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
            4_593_380_528_125_082_431, 16_408_922_859_458_223_821,
        ]
        #expect(published.map { _ in generator.next() } == published)
    }
}
