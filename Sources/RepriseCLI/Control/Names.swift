import HTTPTypes
import Reprise

/// How what people call entries becomes their keys; it goes into operations.
struct Names: Codable, Sendable, Equatable {
    /// Query items that are not part of the cache key.
    let dropQueryItem: [String]
    /// The rules of single hosts; for a name with a leading dot, of its subdomains too.
    var hosts: [String: KeyRule.Host]?

    init(dropQueryItem: [String] = [], hosts: [String: KeyRule.Host] = [:]) {
        (self.dropQueryItem, self.hosts) = (dropQueryItem, hosts.isEmpty ? nil : hosts)
    }

    /// Missing members are empty.
    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        dropQueryItem = try members.decodeIfPresent([String].self, forKey: .dropQueryItem) ?? []
        hosts = try members.decodeIfPresent([String: KeyRule.Host].self, forKey: .hosts)
    }

    /// Whether they say nothing: then a server's own rule holds.
    var isEmpty: Bool { dropQueryItem.isEmpty && hosts == nil }

    /// Whether `name` is the URL or the key of `entry`, or a URL with that key.
    func matches(_ name: String, entry: CacheEntry) -> Bool { matches(name, for: entry.key, url: entry.url) }

    /// The same for the entry or the pin under `entryKey`.
    func matches(_ name: String, for entryKey: CacheKey, url entryURL: ResourceURL) -> Bool {
        if entryURL.description == name || entryKey.text == name { return true }
        guard !isEmpty, let url = try? ResourceURL(name) else { return false }
        let key = policy.key(for: url)
        return entryKey.primary == key
    }

    /// The keys that `name`, a URL or a key, may stand for; by `policy` if these names say nothing.
    func keys(of name: String, or policy: CacheKeyPolicy) -> [CacheKey] {
        let url = try? ResourceURL(name)
        return [CacheKey(name)] + (url.map { [(isEmpty ? policy : self.policy).key(for: $0)] } ?? [])
    }

    /// How the keys of entries are derived from URLs.
    var policy: CacheKeyPolicy { KeyRule(dropping: Set(dropQueryItem), hosts: hosts ?? [:]).policy }

    /// The resource of `name`, a URL or an identifier, in `cache`.
    ///
    /// Throws ``RepriseError`` with code `notStored` for an identifier of nothing.
    func resource(
        of name: String, in cache: MediaCache, fields: HTTPFields = [:]
    ) async throws -> MediaResource {
        guard let title = try await Identifier(name)?.title(in: cache) else {
            return try resource(for: name, in: cache, fields: fields)
        }
        return try cache.resource(for: title.url, key: title.key, fields: fields)
    }

    /// `names`, with the keys for those that are identifiers.
    func keys(for names: [String], in cache: MediaCache) async throws -> [String] {
        var keys: [String] = []
        for name in names { keys.append(try await Identifier(name)?.title(in: cache).key.text ?? name) }
        return keys
    }

    /// The resource at `url` in `cache`, by these names if they say anything.
    func resource(
        for url: String, in cache: MediaCache, fields: HTTPFields = [:]
    ) throws(RepriseError) -> MediaResource {
        let url = try ResourceURL(url)
        guard !isEmpty else { return try cache.resource(for: url, fields: fields) }
        return try cache.resource(for: url, keyPolicy: policy, fields: fields)
    }
}

extension KeyedDecodingContainer {
    /// Synthesized decoders call this: operations without names follow the server's own rule.
    func decode(_ type: Names.Type, forKey key: Key) throws -> Names {
        try decodeIfPresent(type, forKey: key) ?? Names()
    }
}
