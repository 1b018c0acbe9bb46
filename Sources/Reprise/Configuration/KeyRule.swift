/// A ``CacheKeyPolicy`` that can be recorded: the parts of a URL that do not belong to its key.
package struct KeyRule: Sendable, Hashable, Codable {
    /// The rule for one host.
    package struct Host: Sendable, Hashable, Codable {
        /// Names of the dropped query items; `nil` for those of all hosts.
        package let items: [String]?
        /// The dropped segments of the path: numbers counted from 1, and beginnings followed by `*`.
        ///
        /// The last segment is never dropped, because it distinguishes files.
        package let pathSegments: [String]
        /// The host whose entries are used, with its port if that is not the default; `nil` for the URL's own.
        package let sameAs: String?

        package init(items: [String]? = nil, pathSegments: [String] = [], sameAs: String? = nil) {
            self.items = items.map { Set($0).sorted() }
            self.pathSegments = Set(pathSegments).sorted()
            self.sameAs = sameAs
        }
    }

    /// Names of the dropped items, in alphabetical order; `nil` for the whole query.
    private let items: [String]?
    /// The rules of single hosts; for a name with a leading dot, of its subdomains too.
    private let hosts: [String: Host]?

    /// Drops the items named `items`, unless `hosts` says otherwise.
    package init(dropping items: Set<String>, hosts: [String: Host] = [:]) {
        self.items = items.sorted()
        self.hosts = hosts.isEmpty ? nil : hosts
    }

    private init(items: [String]?) { (self.items, hosts) = (items, nil) }

    /// Drops the whole query.
    static let droppingQuery = KeyRule(items: nil)

    /// The policy that follows this rule.
    package var policy: CacheKeyPolicy { CacheKeyPolicy(self) }

    /// Makes keys of URLs.
    ///
    /// Percent-encodings that differ in case are equivalent (RFC 3986 §6.2.2.1).
    var keys: @Sendable (ResourceURL) -> String {
        let text = texts
        return { url in Self.uppercased(text(url)) }
    }

    private var texts: @Sendable (ResourceURL) -> String {
        guard let items else { return { url in String(url.description.prefix { $0 != "?" }) } }
        let others = Set(items)
        guard let hosts else { return { url in Self.text(url.description, dropping: others) } }
        let sets = hosts.mapValues { $0.items.map { Set($0) } ?? others }
        return { url in
            let name = HostPattern.mostSpecific(hosts.keys, for: url.host) ?? ""
            return Self.text(hosts[name]?.url(for: url) ?? url.description, dropping: sets[name] ?? others)
        }
    }

    private static func text(_ text: String, dropping names: Set<String>) -> String {
        guard !names.isEmpty, let question = text.firstIndex(of: "?") else { return text }
        let kept = text[text.index(after: question)...].split(separator: "&", omittingEmptySubsequences: false)
            .filter { item in !names.contains(String(item.prefix { $0 != "=" })) }
        return text[..<question] + (kept.isEmpty ? "" : "?" + kept.joined(separator: "&"))
    }

    /// `text` with upper-case letters in its percent-encodings.
    private static func uppercased(_ text: String) -> String {
        var text = text
        return text.withUTF8 { bytes in
            guard bytes.contains(UInt8(ascii: "%")) else { return nil }
            var (result, digits) = (Array(bytes), 0)
            for (index, byte) in bytes.enumerated() {
                if digits > 0, UInt8(ascii: "a")...UInt8(ascii: "f") ~= byte { result[index] = byte & ~0x20 }
                digits = byte == UInt8(ascii: "%") ? 2 : max(0, digits - 1)
            }
            return String(decoding: result, as: UTF8.self)
        } ?? text
    }
}

extension KeyRule.Host {
    /// The text of `url` with the host and the path of the key, and the whole query.
    fileprivate func url(for url: ResourceURL) -> String {
        let path = url.target.prefix { $0 != "?" }
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        // The first segment is empty, because paths start with a slash.
        let kept = segments.enumerated().filter { number, segment in
            number == 0 || number == segments.count - 1 || !drops(segment, number: number)
        }
        return "\(url.scheme.rawValue)://\(sameAs ?? url.authority)"
            + kept.map(\.element).joined(separator: "/") + url.target.dropFirst(path.count)
    }

    private func drops(_ segment: Substring, number: Int) -> Bool {
        pathSegments.contains { rule in
            rule.hasSuffix("*") ? segment.hasPrefix(rule.dropLast()) : Int(rule) == number
        }
    }
}
