/// How a URL becomes a cache key.
public struct CacheKeyPolicy: Sendable {
    private let makeKey: @Sendable (ResourceURL) -> String

    /// Creates a policy from `makeKey`.
    ///
    /// URLs for which `makeKey` returns the same text share one entry; you guarantee that they name one representation.
    public init(_ makeKey: @escaping @Sendable (ResourceURL) -> String) { self.makeKey = makeKey }

    /// The whole URL: the default.
    public static let url = CacheKeyPolicy { $0.description }

    /// The URL without any query.
    public static let droppingQuery = CacheKeyPolicy { url in
        let text = url.description
        return String(text.prefix { $0 != "?" })
    }

    /// The URL without the query items with these names, such as the signature and expiry of a signed URL.
    ///
    /// Names are compared exactly, before any percent-decoding. The remaining items keep their order.
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
