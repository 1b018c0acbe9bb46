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
