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
