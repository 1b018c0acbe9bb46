/// How segments are encrypted: `EXT-X-KEY` or `EXT-X-SESSION-KEY` (rfc8216bis §4.4.4.4).
package struct Key: Hashable, Sendable {
    /// `METHOD`.
    package enum Method: Hashable, Sendable {
        /// `NONE`: not encrypted.
        case none
        /// `AES-128`: whole segments, CBC.
        case aes128
        /// `AES-256-GCM`: whole segments.
        case aes256GCM
        /// `SAMPLE-AES`.
        case sampleAES
        /// `SAMPLE-AES-CTR`.
        case sampleAESCTR
        /// A method that no draft knows, or none.
        case other(String)

        init(_ name: String) {
            switch name {
            case "NONE": self = .none
            case "AES-128": self = .aes128
            case "AES-256-GCM": self = .aes256GCM
            case "SAMPLE-AES": self = .sampleAES
            case "SAMPLE-AES-CTR": self = .sampleAESCTR
            default: self = .other(name)
            }
        }
    }

    /// How it encrypts.
    package internal(set) var method = Method.other("")
    /// `KEYFORMAT`; `identity`, the key itself, by default.
    package internal(set) var format = "identity"
    /// `KEYFORMATVERSIONS`.
    package internal(set) var formatVersions: String?
    /// `IV` as written; `nil` if the media sequence number is the initialization vector.
    package internal(set) var initializationVector: String?
    /// Index in ``HLSPlaylist/links``; `nil` without a URI.
    package internal(set) var link: Int?
    /// The whole line.
    package internal(set) var line: Range<Int>

    /// Whether the link names a file with the key's bytes; other formats belong to a rights system.
    package var isIdentity: Bool { format == "identity" }
}

/// Reads `EXT-X-KEY` and `EXT-X-SESSION-KEY` (rfc8216bis §4.4.4.4, §4.4.6.5).
enum KeyReader {
    static func read(_ value: Range<Int>, kind: LinkKind, in text: inout HLSText) throws(PlaylistError) -> Key {
        try text.budget.keep(Key.self)
        var key = Key(line: text.line.whole)
        var attributes = AttributeReader(text.bytes, at: value)
        while let attribute = attributes.next() {
            switch text.name(attribute) {
            case "METHOD": key.method = Key.Method(try text.string(attribute))
            case "URI": key.link = try text.addLink(kind, attribute: attribute) ?? key.link
            case "IV": key.initializationVector = try text.string(attribute)
            case "KEYFORMAT": key.format = try text.string(attribute)
            case "KEYFORMATVERSIONS": key.formatVersions = try text.string(attribute)
            default: break
            }
        }
        text.note(attributes)
        return key
    }
}

/// The keys of a list, and those of them that hold at once: one of each format (rfc8216bis §4.4.4.4).
struct KeyRing {
    private(set) var keys: [Key] = []
    /// Keys that hold together, as indices; the first set is empty.
    private(set) var sets: [[Int]] = [[]]
    private var current: [Int] = []
    /// Whether ``current`` is not yet the last of ``sets``.
    private var isChanged = false

    /// Adds a key.
    ///
    /// It replaces the one of its format; method `NONE` replaces all. Throws when so many formats are mixed that the
    /// sets would be longer than the list.
    mutating func add(_ key: Key, limits: PlaylistLimits) throws(PlaylistError) {
        keys.append(key)
        isChanged = true
        guard key.method != .none else {
            current = []
            return
        }
        current.removeAll { keys[$0].format == key.format }
        current.append(keys.count - 1)
        guard current.count <= limits.keyFormats else {
            throw PlaylistError(
                .tooManyKeys, "Keys of more than \(limits.keyFormats) formats hold at once.", at: key.line.lowerBound)
        }
    }

    /// Index of the set that holds now.
    mutating func currentSet() -> Int {
        guard isChanged else { return current.isEmpty ? 0 : sets.count - 1 }
        isChanged = false
        guard !current.isEmpty else { return 0 }
        sets.append(current)
        return sets.count - 1
    }
}
