/// The value of a Range field in bytes: one or more parts of a representation (RFC 9110 §14.2).
public struct RangeField: Sendable, Hashable {
    /// Maximum number of parts in a value; more is an attack (RFC 9110 §17.15), not a player.
    public static let mostSpecs = 128

    /// The parts in the order of the field; never empty, at most ``mostSpecs``.
    public let specs: [RangeSpec]

    /// The only part, or `nil` if there are several.
    public var single: RangeSpec? { specs.count == 1 ? specs.first : nil }

    /// Parses a field value; `nil` means that the recipient ignores the field.
    ///
    /// That is the case for another range unit, for invalid syntax, for a first position above the last one (RFC 9110
    /// §14.1.1, §14.2), for more than ``mostSpecs`` parts and for more than 8 KiB. The unit is compared
    /// case-insensitively. Empty list elements are ignored (§5.6.1.2). Numbers above 2^53 count as 2^53.
    public init?(_ value: String) {
        guard var scanner = FieldScanner(value), let unit = scanner.token(), unit.lowercased() == "bytes",
            scanner.skip("=")
        else { return nil }
        var specs: [RangeSpec] = []
        let isValid = scanner.list { scanner in
            guard specs.count < Self.mostSpecs, let spec = RangeSpec(scanning: &scanner) else { return false }
            specs.append(spec)
            return true
        }
        guard isValid, !specs.isEmpty else { return nil }
        self.specs = specs
    }

    /// Creates a field that requests one part.
    ///
    /// - Precondition: `spec` is neither empty nor negative; such a spec cannot be printed.
    public init(_ spec: RangeSpec) {
        precondition(spec.isPrintable, "A Range field needs a range of at least one byte, from a non-negative offset")
        specs = [spec]
    }

    /// Creates a field that requests the bytes of a half-open range.
    ///
    /// - Precondition: `range` is not empty and starts at 0 or later.
    public init(_ range: Range<Int64>) {
        self.init(.bounded(range))
    }
}

extension RangeField: CustomStringConvertible {
    /// The field value, `bytes=0-499,-500`.
    public var description: String {
        "bytes=" + specs.map(\.description).joined(separator: ",")
    }
}

/// One part of a representation as requested by a client, before its length is known (RFC 9110 §14.1.2).
public enum RangeSpec: Sendable, Hashable {
    /// From the lower bound up to, not including, the upper one: `0-499` is `.bounded(0..<500)`.
    case bounded(Range<Int64>)
    /// From this offset to the end: `500-`.
    case from(Int64)
    /// The last bytes, up to this many: `-500`.
    case suffix(Int64)

    /// The bytes that the spec selects from a representation of `completeLength` bytes, or `nil` if it selects none.
    ///
    /// An end beyond the representation is clipped. A start at or beyond it, a suffix of no bytes, and any spec on an
    /// empty representation are unsatisfiable: RFC 9110 §14.1.2. (There a suffix of an empty representation counts as
    /// satisfiable, but no Content-Range could express the answer.) Negative numbers select nothing.
    public func resolve(completeLength: Int64) -> Range<Int64>? {
        switch self {
        case .bounded(let range):
            guard range.lowerBound >= 0, range.lowerBound < completeLength, !range.isEmpty else { return nil }
            return range.lowerBound..<min(range.upperBound, completeLength)
        case .from(let start):
            guard start >= 0, start < completeLength else { return nil }
            return start..<completeLength
        case .suffix(let length):
            guard length > 0, completeLength > 0 else { return nil }
            return (completeLength - min(length, completeLength))..<completeLength
        }
    }

    /// Whether the answer depends on where a representation of `completeLength` bytes ends.
    ///
    /// That is the case if the range would be refused or truncated, or if it is a suffix.
    package func dependsOnEnd(completeLength: Int64) -> Bool {
        switch self {
        case .bounded(let range): range.upperBound > completeLength
        case .from(let start): start >= completeLength
        case .suffix: true
        }
    }

    /// Whether the range starts at byte 0.
    package var beginsAtStart: Bool {
        switch self {
        case .bounded(let range): range.lowerBound == 0
        case .from(let start): start == 0
        case .suffix: false
        }
    }

    /// Whether the printed form would be valid: not empty, not negative.
    var isPrintable: Bool {
        switch self {
        case .bounded(let range): range.lowerBound >= 0 && !range.isEmpty
        case .from(let number), .suffix(let number): number >= 0
        }
    }

    /// The same spec with its numbers clipped to 2^53, which no representation exceeds; `nil` if it is empty or
    /// negative, so that no Range field can express it.
    package var clipped: RangeSpec? {
        guard isPrintable else { return nil }
        switch self {
        case .bounded(let range):
            guard range.lowerBound < .largestPosition else { return .from(.largestPosition) }
            return .bounded(range.lowerBound..<min(range.upperBound, .largestPosition))
        case .from(let start): return .from(min(start, .largestPosition))
        case .suffix(let length): return .suffix(min(length, .largestPosition))
        }
    }

    /// Reads `first-last`, `first-` or `-length`.
    ///
    /// The largest end is 2^53, exclusive; a larger last position means the same (RFC 9110 §14.1.2). A first position
    /// that large lies beyond every representation, hence `.from(1 << 53)`, which nothing satisfies.
    init?(scanning scanner: inout FieldScanner) {
        guard let first = Decimal(scanning: &scanner) else {
            guard scanner.skip("-"), let length = Decimal(scanning: &scanner) else { return nil }
            self = .suffix(length.clamped(to: .largestPosition))
            return
        }
        guard scanner.skip("-") else { return nil }
        let start = first.clamped(to: .largestPosition)
        guard let last = Decimal(scanning: &scanner) else {
            self = .from(start)
            return
        }
        guard first <= last else { return nil }
        guard start < .largestPosition else {
            self = .from(start)
            return
        }
        self = .bounded(start..<last.clamped(to: .largestPosition - 1) + 1)
    }
}

extension RangeSpec: CustomStringConvertible {
    /// The spec as it stands in a Range field, with an inclusive end.
    public var description: String {
        switch self {
        case .bounded(let range): "\(range.lowerBound)-\(range.upperBound &- 1)"
        case .from(let start): "\(start)-"
        case .suffix(let length): "-\(length)"
        }
    }
}

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

/// The value of an Accept-Ranges field: which range units the origin supports (RFC 9110 §14.3).
public enum AcceptRanges: Sendable, Hashable {
    /// Bytes, and possibly other units.
    case bytes
    /// `none`: range requests are not supported.
    case unsupported
    /// Only unknown units, in lower case.
    case other([String])

    /// Parses a field value, case-insensitively; `nil` if it names no unit, is invalid or over 8 KiB.
    public init?(_ value: String) {
        guard var scanner = FieldScanner(value) else { return nil }
        var units: [String] = []
        let isValid = scanner.list { scanner in
            guard let unit = scanner.token() else { return false }
            units.append(unit.lowercased())
            return true
        }
        guard isValid, !units.isEmpty else { return nil }
        if units.contains("bytes") {
            self = .bytes
        } else if units.contains("none") {
            self = .unsupported
        } else {
            self = .other(units)
        }
    }

    /// Whether byte ranges are supported; `nil` if the field does not say.
    public var supportsBytes: Bool? {
        switch self {
        case .bytes: true
        case .unsupported: false
        case .other: nil
        }
    }
}

extension AcceptRanges: CustomStringConvertible {
    /// The field value.
    public var description: String {
        switch self {
        case .bytes: "bytes"
        case .unsupported: "none"
        case .other(let units): units.joined(separator: ", ")
        }
    }
}
