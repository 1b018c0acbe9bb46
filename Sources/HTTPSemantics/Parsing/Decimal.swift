/// A run of decimal digits of any length, compared and converted without overflow.
struct Decimal: Comparable {
    /// The digits without leading zeros; empty for zero.
    private let digits: ArraySlice<UInt8>

    /// Reads 1*DIGIT.
    init?(scanning scanner: inout FieldScanner) {
        guard let run = scanner.run(where: FieldScanner.isDigit) else { return nil }
        digits = run.drop { $0 == UInt8(ascii: "0") }
    }

    /// The number as an offset or a length in bytes; `nil` above ``Swift/Int64/largestPosition``.
    var position: Int64? {
        exactly.flatMap { $0 <= .largestPosition ? $0 : nil }
    }

    /// The number, if it fits.
    private var exactly: Int64? {
        var value: Int64 = 0
        for digit in digits {
            let (tens, overflowed) = value.multipliedReportingOverflow(by: 10)
            let (sum, carried) = tens.addingReportingOverflow(Int64(digit - UInt8(ascii: "0")))
            guard !overflowed, !carried else { return nil }
            value = sum
        }
        return value
    }

    /// The number, or `limit` if it is larger.
    func clamped(to limit: Int64) -> Int64 {
        min(exactly ?? limit, limit)
    }

    static func < (lhs: Decimal, rhs: Decimal) -> Bool {
        if lhs.digits.count != rhs.digits.count { return lhs.digits.count < rhs.digits.count }
        return lhs.digits.lexicographicallyPrecedes(rhs.digits)
    }

    static func == (lhs: Decimal, rhs: Decimal) -> Bool {
        lhs.digits.elementsEqual(rhs.digits)
    }
}

extension Int64 {
    /// The largest offset or length that counts as a number of bytes: 2^53, nine petabytes.
    ///
    /// No file is that large, JSON and JavaScript represent every smaller integer exactly, and a thousand such numbers
    /// add up without overflow. Every offset and length is checked against it on entry: from fields, from the disk,
    /// from the program. Code behind that check may then add.
    package static let largestPosition: Int64 = 1 << 53
}
