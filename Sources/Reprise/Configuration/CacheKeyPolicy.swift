/// How a URL becomes a cache key.
public struct CacheKeyPolicy: Sendable {
    private let makeKey: @Sendable (ResourceURL) -> String
    /// What it is made from; `nil` for a program's own function.
    package let rule: KeyRule?

    /// Creates a policy from `makeKey`.
    ///
    /// URLs for which `makeKey` returns the same text share one entry; you guarantee that they name one representation.
    public init(_ makeKey: @escaping @Sendable (ResourceURL) -> String) { (self.makeKey, rule) = (makeKey, nil) }

    init(_ rule: KeyRule) { (makeKey, self.rule) = (rule.keys, rule) }

    /// The whole URL: the default.
    public static let url = KeyRule(dropping: []).policy

    /// The URL without any query.
    public static let droppingQuery = KeyRule.droppingQuery.policy

    /// The URL without the query items with these names, such as the signature and expiry of a signed URL.
    ///
    /// Names are compared exactly, before any percent-decoding. The remaining items keep their order.
    public static func droppingQueryItems(_ names: Set<String>) -> CacheKeyPolicy {
        KeyRule(dropping: names).policy
    }

    /// The key of `url`.
    public func key(for url: ResourceURL) -> CacheKey { CacheKey(makeKey(url)) }
}
