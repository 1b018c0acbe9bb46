/// A ``CacheKeyPolicy`` that can be recorded: which items of a query are no part of the key.
package struct KeyRule: Sendable, Hashable, Codable {
    /// Names of the dropped items, in alphabetical order; `nil` for the whole query.
    private let items: [String]?
    /// The same for single hosts, in place of ``items``; for a name with a leading dot, for its subdomains too.
    private let hosts: [String: [String]]?

    /// Drops the items named `items`, and of some hosts those in `hosts`.
    package init(dropping items: Set<String>, hosts: [String: [String]] = [:]) {
        self.items = items.sorted()
        self.hosts = hosts.isEmpty ? nil : hosts.mapValues { Set($0).sorted() }
    }

    private init(items: [String]?) { (self.items, hosts) = (items, nil) }

    /// Drops the whole query.
    static let droppingQuery = KeyRule(items: nil)

    /// The policy that follows this rule.
    package var policy: CacheKeyPolicy { CacheKeyPolicy(self) }

    /// Makes keys of URLs.
    var keys: @Sendable (ResourceURL) -> String {
        guard let items else { return Self.textWithoutQuery }
        let others = Set(items)
        guard let hosts else { return { url in Self.text(of: url, dropping: others) } }
        let sets = hosts.mapValues { Set($0) }
        return { url in
            let name = HostPattern.mostSpecific(sets.keys, for: url.host)
            return Self.text(of: url, dropping: name.flatMap { sets[$0] } ?? others)
        }
    }

    @Sendable private static func textWithoutQuery(of url: ResourceURL) -> String {
        String(url.description.prefix { $0 != "?" })
    }

    private static func text(of url: ResourceURL, dropping names: Set<String>) -> String {
        let text = url.description
        guard !names.isEmpty, let question = text.firstIndex(of: "?") else { return text }
        let kept = text[text.index(after: question)...].split(separator: "&", omittingEmptySubsequences: false)
            .filter { item in !names.contains(String(item.prefix { $0 != "=" })) }
        return text[..<question] + (kept.isEmpty ? "" : "?" + kept.joined(separator: "&"))
    }
}
