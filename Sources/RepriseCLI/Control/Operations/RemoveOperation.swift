import Foundation
import Reprise
import RepriseProxy
import RepriseStreams

/// Removes titles and files.
struct RemoveOperation: ControlOperation {
    static let name = "remove"
    static let editsTitles = true

    /// URLs, keys or identifiers.
    var urls: [String]?
    /// A host, such as `media.example.com`; with a leading dot its subdomains, too, with a port that one only.
    var host: String?
    /// The beginning of URLs.
    var prefix: String?
    /// The tag of titles.
    var tag: String?
    /// Seconds; what was not used for so long.
    var olderThan: Int64?
    /// Everything.
    var all: Bool?
    /// Whether it only says what would go.
    var dry: Bool?
    /// How URLs become keys; the server's own rule if there is none.
    var names = Names()

    struct Outcome: Codable, Sendable {
        let entries, pins: Int
        let freedBytes: Int64
        /// The first URL under which nothing is stored.
        let missing: String?
        /// Why files are left.
        let problem: Problem?
        /// What would go, if that was asked.
        let dry: DryRun?
    }

    /// What goes.
    private enum Selection {
        case everything
        case named([String])
        case matching(TitleFilter)
    }

    /// What goes; throws `invalidArgument` if that is not said, said twice, or wrong.
    private func selection() throws(RepriseError) -> Selection {
        let filter = try TitleFilter(host: host, prefix: prefix, tag: tag, olderThan: olderThan)
        switch (urls, filter, all ?? false) {
        case (nil, nil, true): return .everything
        case (let urls?, nil, false) where !urls.isEmpty: return .named(urls)
        case (nil, let filter?, false): return .matching(filter)
        default:
            throw RepriseError(
                .invalidArgument,
                "Say what to remove in one way: by URLs, by host, prefix, tag and age, or everything (all).")
        }
    }

    /// Throws ``RepriseError`` with code `invalidArgument` or `invalidURL` unless it says what to remove.
    func check() throws(RepriseError) { _ = try selection() }

    func run(in cache: MediaCache, progress: @escaping @Sendable (NoProgress) -> Void) async throws -> Outcome {
        switch try selection() {
        case .everything:
            let content = try await Content(cache)
            return try await remove(content.everything, of: content, in: cache)
        case .matching(let filter):
            let content = try await Content(cache)
            let wanted = content.references(filter, now: cache.clock.wallClock())
            return try await remove(wanted, of: content, in: cache, readingLists: true)
        case .named(let urls):
            let (content, wanted, missing) = try await named(try await names.keys(for: urls, in: cache), in: cache)
            return try await remove(wanted, of: content, in: cache, readingLists: true, missing: missing)
        }
    }

    /// What `names` stand for, with the first one that stands for nothing.
    ///
    /// Looks up their keys. Only where nothing is found under these, all of the cache is searched for the URL: it may
    /// be stored under another key, such as that of a partition.
    private func named(
        _ names: [String], in cache: MediaCache
    ) async throws -> (content: Content, wanted: [TitleReference], missing: String?) {
        var (content, wanted, missing) = (Content(), [TitleReference](), nil as String?)
        var all: Content?
        for name in names {
            let found = try await Content(cache, of: self.names.keys(of: name, or: cache.keyPolicy))
            guard found.everything.isEmpty else {
                wanted += found.everything
                content.add(found)
                continue
            }
            let searched: Content
            if let all { searched = all } else { searched = try await Content(cache) }
            all = searched
            let matches = searched.everything.filter { self.names.matches(name, for: $0.key, url: $0.url) }
            wanted += matches
            if matches.isEmpty { missing = missing ?? name }
        }
        if let all { content.add(all) }
        return (content, wanted, missing)
    }

    private func remove(
        _ wanted: [TitleReference], of content: Content, in cache: MediaCache, readingLists: Bool = false,
        missing: String? = nil
    ) async throws -> Outcome {
        let keys = wanted.map(\.key)
        // Everything needs no look: nothing is left that could need a file.
        let named = readingLists ? try await cache.storedFiles(aroundTitles: keys, policy: self.names.policy) : [:]
        let pins = Set(keys).intersection(content.pins.map(\.key)).count
        guard dry != true else {
            let forecast = try await cache.forecast(ofRemovingTitles: keys, knowing: named)
            let titles = wanted.map(\.key).filter(content.isTitle)
            let files = try await cache.forecast(ofRemovingTitles: titles, knowing: named).files
            return Outcome(
                entries: forecast.entries, pins: pins, freedBytes: forecast.freedBytes, missing: missing, problem: nil,
                dry: DryRun(content.items(wanted, without: files)))
        }
        let outcome = try await cache.removedTitles(keys, knowing: named)
        return Outcome(
            entries: outcome.entries, pins: pins, freedBytes: outcome.freed, missing: missing,
            problem: outcome.problem.map(Problem.init), dry: nil)
    }
}

/// What a cache has before a removal.
private struct Content {
    private(set) var entries: [CacheEntry] = []
    /// Pins of URLs of which nothing is stored yet.
    private(set) var pins: [CacheInspector.AwaitedEntry] = []
    /// Files that belong to no stream are titles, too.
    private(set) var titles: [Title] = []
    /// Their names, by their keys.
    private var names: [CacheKey: String?] = [:]

    /// Nothing.
    init() {}

    /// All of it.
    init(_ cache: MediaCache) async throws {
        self.init(
            entries: try await cache.entries(), pins: try await cache.awaitedEntries(),
            titles: try await cache.titles())
    }

    /// What there is under `keys`, variants included.
    init(_ cache: MediaCache, of keys: [CacheKey]) async throws {
        let found = try await cache.inspecting { inspector in
            let entries = try Set(keys).flatMap { try inspector.entries(of: $0) }
            let titles = try Set(keys + entries.map(\.key)).compactMap { try inspector.title(of: $0) }
            return Content(
                entries: entries, pins: try Set(keys).compactMap { try inspector.awaitedEntry(of: $0) },
                titles: titles)
        }
        self = found ?? Content()
    }

    private init(entries: [CacheEntry], pins: [CacheInspector.AwaitedEntry], titles: [Title]) {
        (self.entries, self.pins, self.titles) = (entries, pins, titles)
        names = Dictionary(titles.map { ($0.key, $0.name) }) { first, _ in first }
    }

    mutating func add(_ other: Content) {
        entries += other.entries
        pins += other.pins
        titles += other.titles
        names.merge(other.names) { first, _ in first }
    }

    /// All of it, titles first.
    var everything: [TitleReference] {
        let all = titles.map { ($0.key, $0.url) } + entries.map { ($0.key, $0.url) } + pins.map { ($0.key, $0.url) }
        return all.map { TitleReference(key: $0.0, url: $0.1) }
    }

    /// What `filter` means: titles, and single files of streams if it concerns them.
    func references(_ filter: TitleFilter, now: Date) -> [TitleReference] {
        var wanted = titles.filter { filter.matches($0.url, tag: $0.tag, lastUsed: $0.lastUsed, now: now) }
            .map { TitleReference(key: $0.key, url: $0.url) }
        guard filter.concernsFiles else { return wanted }
        // The first file of a title goes only with the title, whose last use counts.
        for entry in entries where !isTitle(entry.key) && !isTitle(entry.key.primary) {
            guard filter.matches(entry.url, tag: nil, lastUsed: entry.lastUsed, now: now) else { continue }
            wanted.append(TitleReference(key: entry.key, url: entry.url))
        }
        for pin in pins where !isTitle(pin.key) {
            guard filter.matches(pin.url, tag: nil, lastUsed: nil, now: now) else { continue }
            wanted.append(TitleReference(key: pin.key, url: pin.url))
        }
        return wanted
    }

    /// Whether a title begins with the file under `key`.
    func isTitle(_ key: CacheKey) -> Bool { names.keys.contains(key) }

    /// How `wanted` are told: each URL once, without those of `files` that are no titles.
    func items(_ wanted: [TitleReference], without files: Set<CacheKey>) -> [DryRun.Item] {
        var told: Set<ResourceURL> = []
        return wanted.compactMap { reference in
            guard isTitle(reference.key) || !files.contains(reference.key), told.insert(reference.url).inserted else {
                return nil
            }
            return DryRun.Item(url: reference.url.redacted, name: names[reference.key] ?? nil)
        }
    }
}
