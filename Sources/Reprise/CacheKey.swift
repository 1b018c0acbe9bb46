import Crypto
import HTTPSemantics

/// Selects the stored responses of a resource.
///
/// Never contains a range (RFC 9111 §2).
public struct CacheKey: Hashable, Sendable, CustomStringConvertible {
    /// The key itself; by default the URL.
    public let text: String

    /// Creates a key from any text.
    public init(_ text: String) { self.text = text }

    /// SHA-256 of the text, in lower-case hexadecimal: what file names and the index use.
    ///
    /// Computed at each call.
    public var hash: String { hexadecimal(SHA256.hash(data: Array(text.utf8))) }

    /// The key up to its first question mark, fit for logs.
    public var redacted: String { String(text.prefix { $0 != "?" }) }

    /// The key's text.
    public var description: String { text }
}

/// Selections by Vary (RFC 9111 §4.1).
///
/// URLs hold no line feed, so that no URL can name another one's selection.
extension CacheKey {
    /// The key of the selection that answers `request`.
    func selection(by vary: Vary, for request: OriginRequest) -> CacheKey {
        CacheKey("\(text)\n\(vary.selection(request.fields))")
    }

    /// The key without its selection.
    var signpost: CacheKey {
        text.utf8.firstIndex(of: UInt8(ascii: "\n")).map { CacheKey(String(text[..<$0])) } ?? self
    }
}

/// How a URL becomes a cache key.
public struct CacheKeyPolicy: Sendable {
    private let makeKey: @Sendable (ResourceURL) -> String

    /// A policy of your own.
    ///
    /// URLs for which `makeKey` returns the same text share one entry: vouch that they name one representation.
    public init(_ makeKey: @escaping @Sendable (ResourceURL) -> String) { self.makeKey = makeKey }

    /// The whole URL: the default.
    public static let url = CacheKeyPolicy { $0.description }

    /// The URL without any query.
    public static let droppingQuery = CacheKeyPolicy { url in
        let text = url.description
        return String(text.prefix { $0 != "?" })
    }

    /// The URL without the query items of these names, such as the signature and expiry of a signed URL.
    ///
    /// Names compare exactly, before any percent-decoding. The order of the items that stay is kept.
    public static func droppingQueryItems(_ names: Set<String>) -> CacheKeyPolicy {
        CacheKeyPolicy { url in
            let text = url.description
            guard let question = text.firstIndex(of: "?") else { return text }
            let kept = text[text.index(after: question)...].split(separator: "&", omittingEmptySubsequences: false)
                .filter { item in !names.contains(String(item.prefix { $0 != "=" })) }
            return text[..<question] + (kept.isEmpty ? "" : "?" + kept.joined(separator: "&"))
        }
    }

    /// The key of `url`.
    public func key(for url: ResourceURL) -> CacheKey { CacheKey(makeKey(url)) }
}
