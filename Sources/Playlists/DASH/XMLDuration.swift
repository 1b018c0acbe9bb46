/// Reads durations of XML: `PT1H2M3.5S` (XML Schema 2 §3.2.6).
enum XMLDuration {
    /// The duration in seconds; `nil` if it is malformed or negative.
    ///
    /// A year counts 365 days, a month 30.
    static func seconds(_ bytes: [UInt8], at place: Range<Int>) -> Double? {
        var index = place.lowerBound
        guard index < place.upperBound, bytes[index] == UInt8(ascii: "P") else { return nil }
        index += 1
        var isTime = false
        var total = 0.0
        var hasPart = false
        while index < place.upperBound {
            if bytes[index] == UInt8(ascii: "T"), !isTime {
                isTime = true
                index += 1
                continue
            }
            let start = index
            while index < place.upperBound, bytes[index].isDigit || bytes[index] == UInt8(ascii: ".") { index += 1 }
            guard index < place.upperBound, let number = Number.decimal(bytes, at: start..<index),
                let unit = unit(bytes[index], isTime: isTime)
            else { return nil }
            total += number * unit
            hasPart = true
            index += 1
        }
        return hasPart && total <= Double(Number.largest) ? total : nil
    }

    private static func unit(_ byte: UInt8, isTime: Bool) -> Double? {
        switch (byte, isTime) {
        case (UInt8(ascii: "Y"), false): 31_536_000
        case (UInt8(ascii: "M"), false): 2_592_000
        case (UInt8(ascii: "D"), false): 86_400
        case (UInt8(ascii: "H"), true): 3_600
        case (UInt8(ascii: "M"), true): 60
        case (UInt8(ascii: "S"), true): 1
        default: nil
        }
    }
}
