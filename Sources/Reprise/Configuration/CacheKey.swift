import Crypto
import HTTPSemantics
import Primitives

/// Selects the stored responses of a resource.
///
/// Never contains a range (RFC 9111 §2).
public struct CacheKey: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The key itself; by default the URL.
    public let text: String

    /// Creates a key from any text.
    public init(_ text: String) { self.text = text }

    /// Creates a key from a literal, such as `"film-4711"`.
    public init(stringLiteral text: String) { self.text = text }

    /// SHA-256 of the text in lower-case hexadecimal, used in file names and in the index.
    ///
    /// Computed on each call.
    public var hash: String { hexadecimal(SHA256.hash(data: Array(text.utf8))) }

    /// The key up to its first question mark and without its partition, fit for logs.
    public var redacted: String { String(split.rest.prefix { $0 != "?" }) }

    /// The key's text.
    public var description: String { text }
}

/// Partitions keep the entries of one user, account or profile apart from those of others.
///
/// URLs contain no space and do not begin with `@`, so no URL can name an entry of a partition.
extension CacheKey {
    /// The partition that the entry belongs to; `nil` for none.
    public var partition: String? { split.partition }

    /// The key with the same text in `partition`.
    package func inPartition(_ partition: String?) -> CacheKey {
        guard let partition else { return self }
        return CacheKey("@\(Self.escaped(partition)) \(text)")
    }

    private var split: (partition: String?, rest: Substring) {
        guard text.utf8.first == UInt8(ascii: "@"), let space = text.utf8.firstIndex(of: UInt8(ascii: " ")),
            let name = Self.unescaped(text[text.utf8.index(after: text.startIndex)..<space])
        else { return (nil, text[...]) }
        return (name, text[text.utf8.index(after: space)...])
    }

    /// As in URLs (RFC 3986 §2.1): letters, digits and a few marks stay; every other byte becomes `%XX`.
    private static func escaped(_ name: String) -> String {
        name.utf8.reduce(into: "") { result, byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default: result += "%" + hexadecimal([byte])
            }
        }
    }

    /// `nil` if `text` is not an escaped name.
    private static func unescaped(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard let value = UInt8(Substring(rest.prefix(2)), radix: 16), rest.count >= 2 else { return nil }
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(utf8: bytes)
    }
}

/// Variants by Vary (RFC 9111 §4.1).
///
/// URLs contain no line feed, so no URL can name a variant of another URL.
extension CacheKey {
    /// The key of the variant that answers `request`.
    func variant(by vary: Vary, for request: OriginRequest) -> CacheKey {
        CacheKey("\(text)\n\(vary.selection(request.fields))")
    }

    /// The primary key (RFC 9111 §4.1): this one without its variant.
    package var primary: CacheKey {
        text.utf8.firstIndex(of: UInt8(ascii: "\n")).map { CacheKey(String(text[..<$0])) } ?? self
    }
}
