import Reprise

/// How what people call entries becomes their keys.
protocol Naming {
    /// Query items that are not part of the cache key.
    var dropQueryItem: [String] { get }
}

/// A ``Naming`` that goes into an operation.
struct Names: Naming, Codable, Sendable {
    let dropQueryItem: [String]
}

extension Naming {
    /// The same, for an operation.
    var names: Names { Names(dropQueryItem: dropQueryItem) }

    /// Whether `name` is the URL or the key of `entry`, or a URL with that key.
    func matches(_ name: String, entry: CacheEntry) -> Bool { matches(name, for: entry.key, url: entry.url) }

    /// The same for the entry or the pin under `entryKey`.
    func matches(_ name: String, for entryKey: CacheKey, url entryURL: ResourceURL) -> Bool {
        if entryURL.description == name || entryKey.text == name { return true }
        guard !dropQueryItem.isEmpty, let url = try? ResourceURL(name) else { return false }
        let key = policy.key(for: url)
        // Behind a line feed stands what tells the variants of one URL apart.
        return entryKey.text.prefix { $0 != "\n" } == key.text
    }

    /// How the keys of entries are derived from URLs.
    var policy: CacheKeyPolicy {
        dropQueryItem.isEmpty ? .url : .droppingQueryItems(Set(dropQueryItem))
    }

    /// The resource of `name`, a URL or an identifier, in `cache`.
    ///
    /// Throws ``RepriseError`` with code `notStored` for an identifier of nothing.
    func resource(of name: String, in cache: MediaCache) async throws -> MediaResource {
        guard let title = try await Identifier(name)?.title(in: cache) else {
            return try resource(for: name, in: cache)
        }
        return try cache.resource(for: title.url, keyPolicy: CacheKeyPolicy { _ in title.key.text })
    }

    /// `names`, with the keys for those that are identifiers.
    func keys(for names: [String], in cache: MediaCache) async throws -> [String] {
        var keys: [String] = []
        for name in names { keys.append(try await Identifier(name)?.title(in: cache).key.text ?? name) }
        return keys
    }

    /// The resource at `url` in `cache`, by these names if they say anything.
    func resource(for url: String, in cache: MediaCache) throws(RepriseError) -> MediaResource {
        let url = try ResourceURL(url)
        return try dropQueryItem.isEmpty ? cache.resource(for: url) : cache.resource(for: url, keyPolicy: policy)
    }
}
