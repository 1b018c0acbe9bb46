/// A Range field that asks for one range of bytes (RFC 9110 §14.1.2, §14.2).
///
/// Deliberately written independently of HTTPSemantics: if the two readings of the RFC disagree, a test fails.
struct RangeHeader: Equatable {
    /// The first position; `nil` for a suffix.
    let first: Int64?
    /// The last position, inclusive as in the field; for a suffix its length; `nil` for "to the end".
    let last: Int64?

    /// Reads a field value; `nil` means that the origin ignores it: another unit, invalid, or several ranges.
    init?(_ value: String) {
        let unit = "bytes="
        guard value.lowercased().hasPrefix(unit) else { return nil }
        let ends = value.dropFirst(unit.count).split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2 else { return nil }
        guard let first = Self.number(ends[0]), let last = Self.number(ends[1]) else { return nil }
        if first == nil, last == nil { return nil }
        if first != nil, last != nil, Self.isLarger(ends[0], than: ends[1]) { return nil }
        self.first = first
        self.last = last
    }

    /// The bytes selected from a representation, or `nil` if the range cannot be satisfied.
    func resolve(length: Int64) -> Range<Int64>? {
        guard let first else {
            let count = min(last ?? 0, length)
            return count > 0 ? length - count..<length : nil
        }
        guard first < length else { return nil }
        guard let last, last < length else { return first..<length }
        return first..<last + 1
    }

    /// Reads digits only, neither sign nor space.
    ///
    /// The outer `nil` is an error, the inner one an empty text; a number that is too large becomes the largest one.
    private static func number(_ text: Substring) -> Int64?? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return .none }
        return .some(text.isEmpty ? nil : Int64(text) ?? .max)
    }

    /// Compares the digits, because both numbers may be larger than any integer type.
    private static func isLarger(_ one: Substring, than other: Substring) -> Bool {
        let (one, other) = (one.drop { $0 == "0" }, other.drop { $0 == "0" })
        return (one.utf8.count, String(one)) > (other.utf8.count, String(other))
    }
}
