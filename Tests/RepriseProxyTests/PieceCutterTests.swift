import Reprise
import TestLimits
import Testing

@testable import RepriseProxy

/// Pieces of a read, cut for an answer.
@Suite(.limit(minutes: 1)) struct PieceCutterTests {
    /// What is made of pieces in memory of these lengths.
    private static func cut(
        _ lengths: [Int], atMost most: Int?, upToEndOf count: Int64? = nil
    ) async throws -> [[UInt8]] {
        var start = 0
        var pieces = lengths.map { length in
            defer { start += length }
            return (start..<start + length).map { UInt8($0) }
        }[...]
        var cutter = PieceCutter(atMost: most, upToEndOf: count)
        var result: [[UInt8]] = []
        while let piece = try await cutter.next({ pieces.popFirst().map { .memory($0) } }) {
            result.append(try piece.bytes())
            #expect(cutter.isAtEnd == (Int64(result.reduce(0) { $0 + $1.count }) == count))
        }
        return result
    }

    @Test("the last byte is a piece of its own where the end matters") func end() async throws {
        let cases: [(most: Int?, lengths: [Int], cut: [Int])] = [
            (nil, [10, 3, 7], [10, 3, 6, 1]), (4, [10, 10], [4, 4, 2, 4, 4, 1, 1]), (nil, [19, 1], [19, 1]),
            (nil, [20], [19, 1]), (1, [20], Array(repeating: 1, count: 20)),
        ]
        for (most, lengths, expected) in cases {
            let pieces = try await Self.cut(lengths, atMost: most, upToEndOf: 20)
            #expect(pieces.map(\.count) == expected)
            #expect(pieces.flatMap { $0 } == (0..<20).map { UInt8($0) })
        }
        let single = try await Self.cut([1], atMost: nil, upToEndOf: 1)
        #expect(single.map(\.count) == [1])
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

    @Test("bytes in memory are copied for the socket 64 KiB at a time") func copies() async throws {
        var pieces: [MediaPiece] = [.memory([UInt8](repeating: 1, count: 200_000))]
        var cutter = PieceCutter(atMost: nil)
        var lengths: [Int] = []
        while let piece = try await cutter.next({ pieces.popLast() }) { lengths.append(piece.count) }
        #expect(lengths == [65_536, 65_536, 65_536, 3392])
    }
}
