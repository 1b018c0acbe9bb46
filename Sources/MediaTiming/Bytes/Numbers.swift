extension Int64 {
    /// The nearest whole number in `0...2^53`; 0 for NaN.
    init(saturating value: Double) {
        guard value > 0 else {
            self = 0
            return
        }
        self = value < Double(MediaBytes.largestPosition) ? Int64(value) : MediaBytes.largestPosition
    }

    /// A position behind this one; malformed beyond 2^53.
    func moved(by size: Int64) throws(Stop) -> Int64 {
        let (sum, overflowed) = addingReportingOverflow(size)
        guard !overflowed, (0...MediaBytes.largestPosition).contains(sum) else { throw .malformed }
        return sum
    }
}

extension ArraySlice<UInt8> {
    /// The byte at this distance from the slice's start.
    func byte(_ index: Int) -> UInt8 { self[startIndex + index] }

    /// The first bytes as a big-endian number; there must be as many.
    func number(_ count: Int) -> UInt64 { prefix(count).reduce(0) { $0 << 8 | UInt64($1) } }

    /// A big-endian number of `count` bytes at `index`; there must be as many.
    func number(at index: Int, count: Int) -> UInt64 { self[(startIndex + index)...].number(count) }

    /// A little-endian number of `count` bytes at `index`; there must be as many.
    func littleEndian(at index: Int, count: Int) -> UInt64 {
        self[(startIndex + index)...].prefix(count).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Whether `text` stands at `index`.
    func has(_ text: StaticString, at index: Int = 0) -> Bool {
        let length = text.utf8CodeUnitCount
        guard index >= 0, count >= index + length else { return false }
        for offset in 0..<length where byte(index + offset) != text.utf8Start[offset] { return false }
        return true
    }
}
