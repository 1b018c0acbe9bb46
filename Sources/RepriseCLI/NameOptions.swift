import ArgumentParser
import Reprise

/// How URLs on the command line become the names of entries.
struct NameOptions: ParsableArguments, Naming {
    @Option(
        help: ArgumentHelp(
            "Query item that is not part of the cache key, as it was given to fetch, pin or serve; may be repeated.",
            valueName: "name"))
    var dropQueryItem: [String] = []

    func validate() throws { try Self.check(dropQueryItem) }

    /// Refuses names that no query item has.
    static func check(_ items: [String]) throws {
        if items.contains("") { throw ValidationError("--drop-query-item is empty; name a query item.") }
        if let item = items.first(where: { $0.contains { "=&?#".contains($0) } }) {
            throw ValidationError("--drop-query-item is \"\(item)\"; give the name alone, such as signature.")
        }
    }

    /// The entry called `name` that was used last.
    func entry(_ name: String, in inspector: CacheInspector) throws(RepriseError) -> CacheEntry {
        guard let entry = try inspector.entries().first(where: { matches(name, entry: $0) }) else {
            throw Self.nothingStored(name)
        }
        return entry
    }

    /// Why there is no entry called `name`: it is no valid URL, or nothing is stored.
    static func nothingStored(_ name: String) -> RepriseError {
        let scheme = name.prefix { $0 != ":" }.lowercased()
        if scheme == "http" || scheme == "https" {
            do throws(RepriseError) { _ = try ResourceURL(name) } catch { return error }
        }
        return RepriseError(.notStored, "Nothing is stored for \(URLText.redacted(name)). See: reprise list")
    }
}
