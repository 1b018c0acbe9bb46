extension [UInt8] {
    /// Whether the bytes at `place` are those of `text`.
    func matches(_ place: Range<Int>, text: StaticString) -> Bool {
        place.count == text.utf8CodeUnitCount && hasPrefix(text, at: place.lowerBound)
    }

    /// Whether `text` stands at `start`.
    func hasPrefix(_ text: StaticString, at start: Int) -> Bool {
        let length = text.utf8CodeUnitCount
        guard start >= 0, start <= count, length <= count - start else { return false }
        let expected = text.utf8Start
        for offset in 0..<length where self[start + offset] != expected[offset] { return false }
        return true
    }

    /// `place` without spaces and tabs at both ends.
    func trimmed(_ place: Range<Int>) -> Range<Int> {
        var (start, end) = (place.lowerBound, place.upperBound)
        while start < end, self[start].isBlank { start += 1 }
        while end > start, self[end - 1].isBlank { end -= 1 }
        return start..<end
    }

    /// The bytes at `place` as text; those that are not UTF-8 become U+FFFD.
    func text(_ place: Range<Int>) -> String { String(decoding: self[place], as: UTF8.self) }

    /// The place of the first `text` within `place`.
    func firstPlace(of text: StaticString, in place: Range<Int>) -> Int? {
        let length = text.utf8CodeUnitCount
        guard length > 0, place.count >= length else { return nil }
        var index = place.lowerBound
        while index <= place.upperBound - length {
            if self[index] == text.utf8Start[0], hasPrefix(text, at: index) { return index }
            index += 1
        }
        return nil
    }
}

extension UInt8 {
    /// A space or a tab.
    var isBlank: Bool { self == 0x20 || self == 0x09 }

    /// White space of XML (XML 1.0 §2.3), which includes the ends of lines.
    var isSpace: Bool { self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0D }

    /// A control character of ASCII.
    var isControl: Bool { self < 0x20 || self == 0x7F }

    /// An ASCII letter.
    var isLetter: Bool { (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self) }

    /// An ASCII digit.
    var isDigit: Bool { (0x30...0x39).contains(self) }

    /// The value of a hexadecimal digit.
    var hexadecimalValue: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x37
        case 0x61...0x66: self - 0x57
        default: nil
        }
    }

    /// The letter in lower case; other bytes as they are.
    var lowercased: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
}

/// Reads numbers of playlists; larger ones than 2^53 are refused.
enum Number {
    /// The largest number that counts: 2^53, as for offsets everywhere in Reprise.
    static let largest: Int64 = 1 << 53

    /// A decimal-integer (rfc8216bis §4.2): digits only.
    static func integer(_ bytes: [UInt8], at place: Range<Int>) -> Int64? {
        guard !place.isEmpty, place.count <= 20 else { return nil }
        var value: Int64 = 0
        for index in place {
            let byte = bytes[index]
            guard (0x30...0x39).contains(byte) else { return nil }
            value = value * 10 + Int64(byte - 0x30)
            guard value <= largest else { return nil }
        }
        return value
    }

    /// A decimal-floating-point, or a signed one if `isSigned` (rfc8216bis §4.2): digits and at most one point.
    static func decimal(_ bytes: [UInt8], at place: Range<Int>, isSigned: Bool = false) -> Double? {
        var index = place.lowerBound
        let isNegative = isSigned && index < place.upperBound && bytes[index] == UInt8(ascii: "-")
        if isNegative { index += 1 }
        var mantissa: Int64 = 0
        var scale = 1.0
        var hasDigit = false
        var hasPoint = false
        while index < place.upperBound {
            let byte = bytes[index]
            index += 1
            if byte == UInt8(ascii: "."), !hasPoint {
                hasPoint = true
                continue
            }
            guard (0x30...0x39).contains(byte) else { return nil }
            hasDigit = true
            if hasPoint {
                // More digits than a Double holds change nothing.
                guard mantissa < 1 << 53, scale < 1e15 else { continue }
                scale *= 10
            }
            mantissa = mantissa * 10 + Int64(byte - 0x30)
            guard hasPoint || mantissa <= largest else { return nil }
        }
        guard hasDigit else { return nil }
        let value = Double(mantissa) / scale
        return isNegative ? -value : value
    }
}
