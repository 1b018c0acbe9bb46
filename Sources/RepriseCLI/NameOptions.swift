import ArgumentParser
import Reprise
import RepriseStreams

/// How URLs on the command line become the names of entries.
struct NameOptions: ParsableArguments {
    @Option(
        help: Setting.dropQueryItem.help(
            "Query item that is not part of the cache key, as it was given to fetch, pin or serve.", valueName: "name"))
    var dropQueryItem: [String] = []

    func validate() throws { try Setting.dropQueryItem.check(option: dropQueryItem) }

    /// What is in force.
    func names(_ cache: CacheOptions) throws -> Names { try cache.names(dropQueryItem) }

    /// Why there is no entry called `name`: it is no valid URL, or nothing is stored.
    static func nothingStored(_ name: String) -> RepriseError {
        let scheme = name.prefix { $0 != ":" }.lowercased()
        if scheme == "http" || scheme == "https" {
            do throws(RepriseError) { _ = try ResourceURL(name) } catch { return error }
        }
        return RepriseError(.notStored, "Nothing is stored for \(URLText.redacted(name)). See: reprise list")
    }
}

extension CacheOptions {
    /// How URLs become keys, where `items` are given as query items to drop.
    func names(_ items: [String]) throws -> Names {
        try Names(items, from: settings())
    }
}

extension Names {
    /// Those in force where `items` are given as query items to drop.
    init(_ items: [String], from settings: Settings) throws {
        self.init(
            dropQueryItem: try settings.value(.dropQueryItem, given: items), hosts: settings.hosts.keyRules)
    }
}

extension Names {
    /// The entry called `name` that was used last.
    func entry(_ name: String, in inspector: CacheInspector) throws(RepriseError) -> CacheEntry {
        var found: [CacheEntry] = []
        for key in keys(of: name, or: .url) { found += try inspector.entries(of: key) }
        if let entry = found.max(by: { $0.lastUsed < $1.lastUsed }) { return entry }
        // Under another key, such as that of a partition.
        guard let entry = try inspector.entries().first(where: { matches(name, entry: $0) }) else {
            throw NameOptions.nothingStored(name)
        }
        return entry
    }

    /// The stream called `name` of which only other files are stored than its outermost playlist; `nil` if there is
    /// none.
    func rest(_ name: String, in inspector: CacheInspector) throws(RepriseError) -> StoredTitle? {
        var found: Title?
        for key in keys(of: name, or: .url) where found == nil { found = try inspector.title(of: key) }
        if found == nil { found = try inspector.titles().first { matches(name, for: $0.key, url: $0.url) } }
        guard let title = found, title.isStream, title.fileCount > 0 else { return nil }
        return try StoredTitle(title, inspector, policy: policy)
    }
}
