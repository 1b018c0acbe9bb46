import ByteRanges
import Foundation
import GRDB

/// A row of `part`: which bytes of an entry stay, because the beginning of a file or a stream is kept.
struct PartRow: IndexRow {
    /// Those that can be read: of a damaged row, the entry stays without its bytes.
    let ranges: ByteRangeSet

    init(_ row: Row) {
        let packed: Data = row.value("ranges") ?? Data()
        let numbers = packed.withUnsafeBytes { bytes in
            stride(from: 0, to: bytes.count - bytes.count % 8, by: 8).map {
                Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: $0, as: Int64.self))
            }
        }
        var ranges = ByteRangeSet()
        for index in stride(from: 1, to: numbers.count, by: 2) where (0..<numbers[index]).contains(numbers[index - 1]) {
            ranges.insert(numbers[index - 1]..<numbers[index])
        }
        self.ranges = ranges
    }

    /// Adds a row: `ranges` of the entry `name` stay because of the retention of `holder`.
    static func save(_ ranges: ByteRangeSet, of name: String, for holder: String, in database: Database) throws {
        let packed = ranges.reduce(into: Data()) { data, range in
            for number in [range.lowerBound, range.upperBound] {
                withUnsafeBytes(of: number.littleEndian) { data.append(contentsOf: $0) }
            }
        }
        try database.execute(
            sql: "INSERT OR REPLACE INTO part (keyHash, holder, bytes, ranges) VALUES (?, ?, ?, ?)",
            arguments: [name, holder, ranges.extents.byteCount, packed])
    }
}

extension ByteRangeSet {
    /// The extents in which its bytes lie: what stays on disk because of them.
    var extents: ByteRangeSet {
        reduce(into: []) { extents, range in
            let size = FetchSchedule.extent
            extents.insert(range.lowerBound / size * size..<(range.upperBound + size - 1) / size * size)
        }
    }
}
