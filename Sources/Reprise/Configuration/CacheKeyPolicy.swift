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

/// Policies for well-known services: the query items that say who asks, and until when, are no part of the key.
///
/// All other items stay, such as the quality of a transcoded stream. Users are not part of the key either: where one
/// must not see what another may, use partitions (``MediaCache/resource(for:fields:partition:)-(ResourceURL,_,_)``).
/// URLs of other services are kept whole, unless they have items of these names. The documents that each is made after
/// are named in `docs/public-api.md`.
extension CacheKeyPolicy {
    /// Servers with the interface of Subsonic: Navidrome, Airsonic, Gonic and others.
    ///
    /// Drops user, password, token and salt, which is another one in each URL, and the names of client and versions.
    public static let subsonic = droppingQueryItems(["u", "p", "t", "s", "apiKey", "v", "c", "f"])

    /// Jellyfin: drops the token, and the device and the play that a URL is for.
    public static let jellyfin = droppingQueryItems([
        "ApiKey", "api_key", "X-Emby-Token", "X-MediaBrowser-Token", "DeviceId", "deviceId", "PlaySessionId",
        "playSessionId",
    ])

    /// Plex: drops the token, and what says which program on which device plays.
    public static let plex = droppingQueryItems([
        "X-Plex-Token", "X-Plex-Client-Identifier", "X-Plex-Session-Identifier", "X-Plex-Session-Id",
        "X-Plex-Playback-Session-Id", "X-Plex-Playback-Id", "X-Plex-Product", "X-Plex-Version", "X-Plex-Platform",
        "X-Plex-Platform-Version", "X-Plex-Provides", "X-Plex-Device", "X-Plex-Device-Name", "X-Plex-Model",
        "X-Plex-Language",
    ])

    /// URLs signed for Amazon CloudFront, with a canned or a custom policy.
    public static let cloudFront = droppingQueryItems([
        "Expires", "Policy", "Signature", "Key-Pair-Id", "Hash-Algorithm",
    ])

    /// URLs signed for Google Cloud Storage (V4 and V2) and Cloud CDN.
    ///
    /// `generation`, which selects a version of an object, stays.
    public static let googleCloud = droppingQueryItems([
        "X-Goog-Algorithm", "X-Goog-Credential", "X-Goog-Date", "X-Goog-Expires", "X-Goog-SignedHeaders",
        "X-Goog-Signature", "GoogleAccessId", "Expires", "Signature", "KeyName",
    ])

    /// URLs of Azure Storage with a shared access signature: of an account, a service or a user.
    ///
    /// `snapshot` and `versionid`, which select a version of a blob, stay, and so do the fields that a URL sets, such
    /// as `rsct`.
    public static let azure = droppingQueryItems([
        "sv", "ss", "srt", "sr", "sp", "st", "se", "sip", "spr", "si", "sig", "sdd", "ses", "skoid", "sktid", "skt",
        "ske", "sks", "skv", "saoid", "suoid", "scid", "sduoid", "skdutid",
    ])
}

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
