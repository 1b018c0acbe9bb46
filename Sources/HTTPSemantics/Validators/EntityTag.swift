/// A name given by the origin to one state of a representation (RFC 9110 §8.8.3).
///
/// Two tags are equal if their bytes and their weakness are. Whether they *match* is a different question: see
/// ``stronglyMatches(_:)`` and ``weaklyMatches(_:)``.
public struct EntityTag: Sendable {
    /// The text between the quotes; opaque, compared byte by byte.
    public let opaqueTag: String
    /// Whether it has the prefix `W/`: equivalent content, but possibly different bytes.
    public let isWeak: Bool

    /// Creates a tag from its parts; `nil` if `opaqueTag` contains a character that is not allowed.
    ///
    /// Quotes, spaces and control characters are not allowed. U+FFFD is rejected too: it replaces bytes that are not
    /// UTF-8, so two different tags would look the same.
    public init?(opaqueTag: String, isWeak: Bool = false) {
        guard opaqueTag.utf8.allSatisfy(Self.isTagCharacter),
            !opaqueTag.unicodeScalars.contains("\u{FFFD}")
        else { return nil }
        self.opaqueTag = opaqueTag
        self.isWeak = isWeak
    }

    /// Parses a field value that is one tag; `nil` for anything else, including unquoted tags and `w/`.
    public init?(_ value: String) {
        guard var scanner = FieldScanner(value), let tag = Self(scanning: &scanner), scanner.isAtEnd else { return nil }
        self = tag
    }

    init?(scanning scanner: inout FieldScanner) {
        let isWeak = scanner.skip("W/")
        guard scanner.skip("\"") else { return nil }
        let opaqueTag = scanner.run(where: Self.isTagCharacter) ?? []
        guard scanner.skip("\"") else { return nil }
        self.init(opaqueTag: String(decoding: opaqueTag, as: UTF8.self), isWeak: isWeak)
    }

    /// Strong comparison: the same tag, and neither is weak (RFC 9110 §8.8.3.2).
    public func stronglyMatches(_ other: EntityTag) -> Bool {
        !isWeak && !other.isWeak && weaklyMatches(other)
    }

    /// Weak comparison: the same tag, weak or not (RFC 9110 §8.8.3.2).
    public func weaklyMatches(_ other: EntityTag) -> Bool {
        opaqueTag.utf8.elementsEqual(other.opaqueTag.utf8)
    }

    /// Visible ASCII without the quote, and everything above (`etagc`).
    private static func isTagCharacter(_ byte: UInt8) -> Bool {
        byte == 0x21 || byte >= 0x23 && byte != 0x7F
    }
}

// String compares by canonical equivalence; tags compare by their bytes.
extension EntityTag: Hashable {
    /// Whether both have the same bytes and the same weakness; not one of the RFC's two comparisons.
    public static func == (lhs: EntityTag, rhs: EntityTag) -> Bool {
        lhs.isWeak == rhs.isWeak && lhs.weaklyMatches(rhs)
    }

    /// Feeds weakness and bytes to `hasher`.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(isWeak)
        for byte in opaqueTag.utf8 { hasher.combine(byte) }
    }
}

extension EntityTag: CustomStringConvertible {
    /// The field value: `"xyzzy"` or `W/"xyzzy"`.
    public var description: String { (isWeak ? "W/\"" : "\"") + opaqueTag + "\"" }
}
