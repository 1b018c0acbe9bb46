/// Reads the attributes of a tag (rfc8216bis §4.2): names match as a whole, and commas in quoted strings split
/// nothing.
struct AttributeReader {
    private let bytes: [UInt8]
    private var position: Int
    private let end: Int
    /// Whether a quoted string does not end, or text stands where an attribute should.
    private(set) var isMalformed = false

    init(_ bytes: [UInt8], at place: Range<Int>) {
        self.bytes = bytes
        position = place.lowerBound
        end = place.upperBound
    }

    /// The next attribute; malformed ones are skipped.
    mutating func next() -> AttributeSpan? {
        while position < end {
            while position < end, bytes[position].isBlank || bytes[position] == UInt8(ascii: ",") { position += 1 }
            let start = position
            while position < end, Self.isName(bytes[position]) { position += 1 }
            let name = start..<position
            guard !name.isEmpty, position < end, bytes[position] == UInt8(ascii: "=") else {
                if position < end { isMalformed = true }
                skipToComma()
                continue
            }
            position += 1
            guard let (value, isQuoted) = value() else { return nil }
            let whole = start..<position
            let after = bytes.trimmed(position..<end)
            if !after.isEmpty, bytes[after.lowerBound] != UInt8(ascii: ",") {
                isMalformed = true
                skipToComma()
            }
            return AttributeSpan(whole: whole, name: name, value: value, isQuoted: isQuoted)
        }
        return nil
    }

    private mutating func value() -> (Range<Int>, isQuoted: Bool)? {
        guard position < end, bytes[position] == UInt8(ascii: "\"") else {
            let start = position
            while position < end, bytes[position] != UInt8(ascii: ",") { position += 1 }
            return (bytes.trimmed(start..<position), false)
        }
        let start = position + 1
        guard let close = bytes[start..<end].firstIndex(of: UInt8(ascii: "\"")) else {
            isMalformed = true
            position = end
            return nil
        }
        position = close + 1
        return (start..<close, true)
    }

    /// Moves behind the next comma that is not inside a quoted string.
    private mutating func skipToComma() {
        var isInside = false
        while position < end {
            let byte = bytes[position]
            position += 1
            if byte == UInt8(ascii: "\"") { isInside.toggle() }
            if byte == UInt8(ascii: ","), !isInside { return }
        }
    }

    /// Upper case in the specification; the lower case of malformed lists names other attributes.
    private static func isName(_ byte: UInt8) -> Bool {
        byte.isLetter || byte.isDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }
}

/// An attribute of an HLS tag, and where it stands.
package struct AttributeSpan: Hashable, Sendable {
    /// `NAME=value`, quotation marks included.
    package let whole: Range<Int>
    /// The name.
    package let name: Range<Int>
    /// The value, without quotation marks.
    package let value: Range<Int>
    /// Whether the value is a quoted string.
    package let isQuoted: Bool
}
