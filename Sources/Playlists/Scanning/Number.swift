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
