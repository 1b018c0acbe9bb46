/// The value of an Accept-Ranges field: which range units the origin answers (RFC 9110 §14.3).
public enum AcceptRanges: Sendable, Hashable {
    /// Bytes, perhaps other units too.
    case bytes
    /// `none`: do not bother to ask for a part.
    case unsupported
    /// Only units that nobody here knows, in lower case.
    case other([String])

    /// Parses a field value, whose case does not matter; `nil` if it names no unit, is invalid or over 8 KiB.
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

    /// Whether byte ranges are answered; `nil` if the field does not tell.
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
