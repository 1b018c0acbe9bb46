import Reprise
import TestLimits
import Testing

@testable import RepriseProxy

/// Pieces of a read, cut for an answer.
@Suite(.limit(minutes: 1)) struct PieceCutterTests {
    /// What is made of pieces in memory of these lengths.
    private static func cut(_ lengths: [Int], atMost most: Int?) async throws -> [[UInt8]] {
        var start = 0
        var pieces = lengths.map { length in
            defer { start += length }
            return (start..<start + length).map { UInt8($0) }
        }[...]
        var cutter = PieceCutter(atMost: most)
        var result: [[UInt8]] = []
        while let piece = try await cutter.next({ pieces.popFirst().map { .memory($0) } }) {
            result.append(try piece.bytes())
        }
        return result
    }

    @Test("pieces are cut, and never joined; no byte is lost") func lengths() async throws {
        let cases: [(most: Int?, lengths: [Int])] = [
            (nil, [10, 3, 7]), (10, [10, 3, 7]), (4, [4, 4, 2, 3, 4, 3]), (1, Array(repeating: 1, count: 20)),
        ]
        for (most, lengths) in cases {
            let pieces = try await Self.cut([10, 3, 7], atMost: most)
            #expect(pieces.map(\.count) == lengths)
            #expect(pieces.flatMap { $0 } == (0..<20).map { UInt8($0) })
        }
    }
}
