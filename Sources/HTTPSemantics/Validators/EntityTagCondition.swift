/// The value of an If-Match or If-None-Match field (RFC 9110 §13.1.1, §13.1.2).
public enum EntityTagCondition: Sendable, Hashable {
    /// `*`: any representation that exists.
    case any
    /// One of these tags; never empty when parsed.
    case tags([EntityTag])

    /// Parses a field value; `nil` if it is neither `*` nor a list of tags, or over 8 KiB.
    ///
    /// Empty list elements are ignored (RFC 9110 §5.6.1.2); one invalid tag makes the whole value invalid.
    public init?(_ value: String) {
        guard var scanner = FieldScanner(value) else { return nil }
        if scanner.skip("*") {
            guard scanner.isAtEnd else { return nil }
            self = .any
            return
        }
        var tags: [EntityTag] = []
        let isValid = scanner.list { scanner in
            guard let tag = EntityTag(scanning: &scanner) else { return false }
            tags.append(tag)
            return true
        }
        guard isValid, !tags.isEmpty else { return nil }
        self = .tags(tags)
    }

    /// Whether `tag` matches one of the tags by strong comparison, as required for If-Match (RFC 9110 §13.1.1).
    ///
    /// `*` matches whenever a representation `exists`, with or without a tag.
    public func stronglyMatches(_ tag: EntityTag?, exists: Bool) -> Bool {
        matches(tag, exists: exists) { $0.stronglyMatches($1) }
    }

    /// Whether `tag` matches one of the tags by weak comparison, as required for If-None-Match (RFC 9110 §13.1.2).
    ///
    /// `*` matches whenever a representation `exists`, with or without a tag.
    public func weaklyMatches(_ tag: EntityTag?, exists: Bool) -> Bool {
        matches(tag, exists: exists) { $0.weaklyMatches($1) }
    }

    private func matches(_ tag: EntityTag?, exists: Bool, by comparison: (EntityTag, EntityTag) -> Bool) -> Bool {
        guard exists else { return false }
        switch self {
        case .any: return true
        case .tags(let tags):
            guard let tag else { return false }
            return tags.contains { comparison($0, tag) }
        }
    }
}

extension EntityTagCondition: CustomStringConvertible {
    /// The field value: `*` or `"a", W/"b"`.
    public var description: String {
        switch self {
        case .any: "*"
        case .tags(let tags): tags.map(\.description).joined(separator: ", ")
        }
    }
}
