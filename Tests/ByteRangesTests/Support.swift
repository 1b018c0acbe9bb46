import ByteRanges
import Testing

/// SplitMix64: the same seed gives the same test on every machine.
struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}

/// Records an issue on a mismatch only: `#expect` in a loop of a million steps would dominate the run.
@inline(__always)
func compare<T: Equatable>(
    _ actual: T, _ expected: T, _ context: @autoclosure () -> String, sourceLocation: SourceLocation = #_sourceLocation
) {
    guard actual != expected else { return }
    Issue.record("\(context()): got \(actual), expected \(expected)", sourceLocation: sourceLocation)
}

/// A naive set: one flag per position.
struct BitArray: Equatable {
    var bits: [Bool]

    init(length: Int) { bits = Array(repeating: false, count: length) }

    /// The layout whose flags are the low bits of `mask`.
    init(length: Int, mask: Int) { bits = (0..<length).map { mask >> $0 & 1 == 1 } }

    mutating func set(_ range: Range<Int64>, to value: Bool) {
        for position in range { bits[Int(position)] = value }
    }

    /// The runs in `range` whose flags all equal `value`.
    func runs(of value: Bool, in range: Range<Int64>) -> [Range<Int64>] {
        var runs: [Range<Int64>] = []
        var start: Int64?
        for position in range {
            if bits[Int(position)] == value {
                start = start ?? position
            } else if let lower = start {
                runs.append(lower..<position)
                start = nil
            }
        }
        if let lower = start { runs.append(lower..<range.upperBound) }
        return runs
    }

    var spans: [Range<Int64>] { runs(of: true, in: 0..<Int64(bits.count)) }
}

extension ByteRangeSet {
    init(_ ranges: [Range<Int64>], chunkCapacity: Int) {
        self.init(chunkCapacity: chunkCapacity)
        for range in ranges { insert(range) }
    }

    /// Like `elementsEqual(_:)`, without its generic calls, which an unoptimized build does not specialize.
    func hasSpans(_ spans: [Range<Int64>]) -> Bool {
        guard spanCount == spans.count else { return false }
        var iterator = makeIterator()
        for span in spans {
            guard let next = iterator.next() else { return false }
            if next.lowerBound != span.lowerBound || next.upperBound != span.upperBound { return false }
        }
        return iterator.next() == nil
    }
}

func shifted(_ ranges: [Range<Int64>], by base: Int64) -> [Range<Int64>] {
    ranges.map { base + $0.lowerBound..<base + $0.upperBound }
}
