import ByteRanges
import TestLimits
import Testing

/// Every layout of a short bit array, against every range of it.
///
/// The answers are read off the bits once, as tables; the loops then only look up and compare.
@Suite(.limit(minutes: 1))
struct ExhaustiveTests {
    struct Setup: Sendable, CustomTestStringConvertible {
        var length = 8
        var base: Int64 = 0
        var chunkCapacity = 2
        var testDescription: String { "length \(length) from \(base), \(chunkCapacity) spans to a chunk" }
    }

    static let setups = [
        Setup(length: 12, chunkCapacity: 512), Setup(length: 9, chunkCapacity: 2), Setup(length: 8, chunkCapacity: 4),
        Setup(length: 6, base: .min), Setup(length: 6, base: .max - 6), Setup(length: 6, base: -3),
        Setup(length: 6, base: .min, chunkCapacity: 512), Setup(length: 6, base: .max - 6, chunkCapacity: 512),
    ]

    /// The spans of every layout, and all ranges with the mask of their bits.
    struct Tables {
        let spans: [[Range<Int64>]]
        let ranges: [(range: Range<Int64>, mask: Int)]
        let sets: [ByteRangeSet]

        init(_ setup: Setup) {
            let length = setup.length
            spans = (0..<1 << length).map { mask in
                shifted(BitArray(length: length, mask: mask).spans, by: setup.base)
            }
            ranges = (0...length).flatMap { lower in
                (lower...length).map { upper in
                    let range = setup.base + Int64(lower)..<setup.base + Int64(upper)
                    return (range, (1 << upper) - (1 << lower))
                }
            }
            sets = spans.map { ByteRangeSet($0, chunkCapacity: setup.chunkCapacity) }
        }
    }

    @Test("Insert and remove set and clear the bits, and return whether anything changed", arguments: setups)
    func changesMatchTheBits(setup: Setup) throws {
        let tables = Tables(setup)
        for layout in tables.sets.indices {
            for (range, mask) in tables.ranges {
                var set = tables.sets[layout]
                let didInsert = set.insert(range)
                try check(set, tables.spans[layout | mask], "\(range) into \(tables.sets[layout])")
                compare(didInsert, layout | mask != layout, "\(range) into \(tables.sets[layout])")

                set = tables.sets[layout]
                let didRemove = set.remove(range)
                try check(set, tables.spans[layout & ~mask], "\(range) out of \(tables.sets[layout])")
                compare(didRemove, layout & ~mask != layout, "\(range) out of \(tables.sets[layout])")
            }
        }
    }

    private func check(_ set: ByteRangeSet, _ spans: [Range<Int64>], _ context: @autoclosure () -> String) throws {
        if set.chunkCapacity < 512 || spans.count > 4 { try set.checkInvariants() }
        if !set.hasSpans(spans) { Issue.record("\(context()): got \(set), expected \(spans)") }
    }

    @Test("Queries of a range agree with the bits in it", arguments: setups)
    func rangeQueriesMatchTheBits(setup: Setup) {
        let tables = Tables(setup)
        let all = tables.spans.count - 1
        for (layout, set) in tables.sets.enumerated() {
            for (range, mask) in tables.ranges {
                // A bit outside the range cannot change the answer, so the masked layout's own runs are the clipped
                // ones.
                let holes = tables.spans[all & ~layout & mask]
                compare(set.spans(in: range), tables.spans[layout & mask], "spans of \(set) in \(range)")
                compare(set.holes(in: range), holes, "holes of \(set) in \(range)")
                compare(set.firstHole(in: range), holes.first, "first hole of \(set) in \(range)")
                compare(set.contains(range), holes.isEmpty, "\(set) contains \(range)")
                compare(set.intersects(range), layout & mask != 0, "\(set) intersects \(range)")
            }
        }
    }

    @Test("Queries of a position agree with the bits from there on", arguments: setups)
    func positionQueriesMatchTheBits(setup: Setup) {
        let tables = Tables(setup)
        let end = setup.base + Int64(setup.length)
        for (layout, set) in tables.sets.enumerated() {
            for offset in 0..<setup.length {
                let position = setup.base + Int64(offset)
                let stored = (layout >> offset | 1 << (setup.length + 1)).onesFromBottom
                compare(set.contains(position), layout >> offset & 1 == 1, "\(set) contains \(position)")
                compare(
                    set.storedPrefix(from: position), position..<position + Int64(stored),
                    "stored prefix of \(set) from \(position)")
                let hole = position + Int64(stored)
                compare(set.firstHole(from: position), hole == .max ? nil : hole, "hole of \(set) from \(position)")
            }
            compare(set.contains(end), false, "\(set) contains \(end)")
            compare(set.storedPrefix(from: end), end..<end, "stored prefix of \(set) from \(end)")
            compare(set.firstHole(from: end), end == .max ? nil : end, "hole of \(set) from \(end)")
            compare(set.byteCount, Int64(layout.nonzeroBitCount), "byte count of \(set)")
            let bounds = tables.spans[layout].first.map { $0.lowerBound..<(tables.spans[layout].last ?? $0).upperBound }
            compare(set.bounds, bounds, "bounds of \(set)")
        }
    }

    @Test(
        "Union, intersection, difference and symmetric difference are OR, AND, AND NOT and XOR of the bits",
        arguments: [
            Setup(length: 7), Setup(length: 6, base: .max - 6), Setup(length: 6, base: .min, chunkCapacity: 512),
        ])
    func algebraMatchesTheBits(setup: Setup) throws {
        let tables = Tables(setup)
        for (a, one) in tables.sets.enumerated() {
            for (b, other) in tables.sets.enumerated() {
                compare(one.union(other), tables.sets[a | b], "\(one) ∪ \(other)")
                compare(one.intersection(other), tables.sets[a & b], "\(one) ∩ \(other)")
                compare(one.subtracting(other), tables.sets[a & ~b], "\(one) − \(other)")
                compare(one.symmetricDifference(other), tables.sets[a ^ b], "\(one) △ \(other)")
            }
        }
        for set in tables.sets { try set.symmetricDifference(tables.sets[0b10101]).checkInvariants() }
    }
}

extension Int {
    /// How many ones there are below the lowest zero.
    fileprivate var onesFromBottom: Int { (~self).trailingZeroBitCount }
}
