import ByteRanges
import Primitives

/// Bytes of files, each counted once.
final class DistinctBytes: Sendable {
    private struct Key: Hashable {
        let file: Int
        let version: Int
    }

    private let ranges = Mutex<[Key: ByteRangeSet]>([:])

    /// How many there are.
    var count: Int64 { ranges.withLock { $0.values.reduce(0) { $0 + $1.byteCount } } }

    func insert(_ range: Range<Int64>, file: Int, version: Int) {
        ranges.withLock { ranges in
            _ = ranges[Key(file: file, version: version), default: ByteRangeSet()].insert(range)
        }
    }
}
