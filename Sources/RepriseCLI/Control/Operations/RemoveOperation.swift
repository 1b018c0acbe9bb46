import Foundation
import Reprise
import RepriseProxy
import RepriseStreams

/// Removes titles and files.
struct RemoveOperation: ControlOperation {
    static let name = "remove"

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
    var names: Names?

    private var rule: Names { names ?? Names() }

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
        case (let urls?, nil, false): return .named(urls)
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
        let content = try await Content(cache)
        switch try selection() {
        case .everything: return try await remove(content.everything, of: content, in: cache)
        case .matching(let filter):
            let wanted = content.references(filter, now: cache.clock.wallClock())
            return try await remove(wanted, of: content, in: cache, learning: true)
        case .named(let urls):
            let urls = try await rule.keys(for: urls, in: cache)
            let missing = urls.first { url in
                !content.everything.contains { rule.matches(url, for: $0.key, url: $0.url) }
            }
            let wanted = content.everything.filter { reference in
                urls.contains { rule.matches($0, for: reference.key, url: reference.url) }
            }
            return try await remove(wanted, of: content, in: cache, learning: true, missing: missing)
        }
    }

    private func remove(
        _ wanted: [TitleReference], of content: Content, in cache: MediaCache, learning: Bool = false,
        missing: String? = nil
    ) async throws -> Outcome {
        let keys = wanted.map(\.key)
        if learning { try await cache.learnFiles(of: keys, policy: rule.policy) }
        let pins = Set(keys).intersection(content.pins.map(\.key)).count
        guard dry != true else {
            let forecast = try await cache.forecast(ofRemovingTitles: keys)
            let titles = wanted.map(\.key).filter(content.isTitle)
            let files = try await cache.forecast(ofRemovingTitles: titles).files
            return Outcome(
                entries: forecast.entries, pins: pins, freedBytes: forecast.freedBytes, missing: missing, problem: nil,
                dry: DryRun(content.items(wanted, without: files)))
        }
        let outcome = try await cache.removedTitles(keys)
        let rest = try await cache.entries().count
        return Outcome(
            entries: max(0, content.entries.count - rest), pins: pins, freedBytes: outcome.freed, missing: missing,
            problem: outcome.problem.map(Problem.init), dry: nil)
    }
}

/// What a cache has before a removal.
private struct Content {
    let entries: [CacheEntry]
    /// Pins of URLs of which nothing is stored yet.
    let pins: [CacheInspector.AwaitedEntry]
    /// Files that belong to no stream are titles, too.
    let titles: [Title]
    /// Their names, by their keys.
    private let names: [CacheKey: String?]

    init(_ cache: MediaCache) async throws {
        entries = try await cache.entries()
        pins = try await cache.awaitedEntries()
        titles = try await cache.titles()
        names = Dictionary(titles.map { ($0.key, $0.name) }) { first, _ in first }
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
