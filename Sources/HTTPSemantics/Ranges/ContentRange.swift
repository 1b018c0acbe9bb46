/// The value of a Content-Range field in bytes (RFC 9110 §14.4).
public enum ContentRange: Sendable, Hashable {
    /// The body contains these bytes of a representation of `completeLength` bytes; `nil` for the `*` of `bytes 0-9/*`.
    case satisfied(Range<Int64>, completeLength: Int64?)
    /// `bytes */N` of a 416: no byte was selected, and the representation is this long.
    case unsatisfied(completeLength: Int64)

    /// Parses a field value; `nil` if it is invalid, in another unit or over 8 KiB.
    ///
    /// A last position below the first, a complete length not above the last position (RFC 9110 §14.4), and numbers
    /// above 2^53 are invalid: no file is that large. The unit is compared case-insensitively.
    public init?(_ value: String) {
        guard var scanner = FieldScanner(value), let unit = scanner.token(), unit.lowercased() == "bytes",
            scanner.run(where: { $0 == UInt8(ascii: " ") }) != nil,
            let parsed = Self(scanning: &scanner), scanner.isAtEnd
        else { return nil }
        self = parsed
    }

    private init?(scanning scanner: inout FieldScanner) {
        if scanner.skip("*/") {
            guard let length = Decimal(scanning: &scanner)?.position else { return nil }
            self = .unsatisfied(completeLength: length)
            return
        }
        guard let first = Decimal(scanning: &scanner)?.position, scanner.skip("-"),
            let last = Decimal(scanning: &scanner)?.position, first <= last, last < .largestPosition, scanner.skip("/")
        else { return nil }
        let range = first..<last + 1
        if scanner.skip("*") {
            self = .satisfied(range, completeLength: nil)
            return
        }
        guard let length = Decimal(scanning: &scanner)?.position, length >= range.upperBound else { return nil }
        self = .satisfied(range, completeLength: length)
    }
}

extension ContentRange: CustomStringConvertible {
    /// The field value, with an inclusive end: `bytes 0-499/1000`, `bytes 0-499/*` or `bytes */1000`.
    ///
    /// A range without bytes has no valid form; it prints as unsatisfied, or as `bytes */0` if the length is unknown.
    public var description: String {
        switch self {
        case .satisfied(let range, let length) where range.isEmpty:
            return "bytes */\(length ?? 0)"
        case .satisfied(let range, let length):
            let complete = length.map(String.init) ?? "*"
            return "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(complete)"
        case .unsatisfied(let length):
            return "bytes */\(length)"
        }
    }
}
