import Reprise
import RepriseProxy
import RepriseStreams

/// Removes titles and files.
struct RemoveOperation: ControlOperation {
    static let name = "remove"

    /// URLs, keys or identifiers; `nil` for everything.
    let urls: [String]?
    let names: Names

    struct Outcome: Codable, Sendable {
        let entries, pins: Int
        let freedBytes: Int64
        /// The first URL under which nothing is stored.
        let missing: String?
        /// Why files are left.
        let problem: Problem?
    }

    func run(in cache: MediaCache, progress: @escaping @Sendable (NoProgress) -> Void) async throws -> Outcome {
        guard let urls else { return try await remove(nil, in: cache) }
        return try await remove(names.keys(for: urls, in: cache), in: cache)
    }

    private func remove(_ urls: [String]?, in cache: MediaCache) async throws -> Outcome {
        func isWanted(_ key: CacheKey, url: ResourceURL) -> Bool {
            guard let urls else { return true }
            return urls.contains { names.matches($0, for: key, url: url) }
        }
        let entries = try await cache.entries().map { ($0.key, $0.url) }
        // Pins of URLs of which nothing is stored yet, and names.
        let pins = try await cache.awaitedEntries().map { ($0.key, $0.url) }
        let named = try await cache.titles().map { ($0.key, $0.url) }
        let missing = urls?.first { url in
            !(entries + pins + named).contains { names.matches(url, for: $0, url: $1) }
        }
        let wanted = (entries + pins + named).filter(isWanted).map(\.0)
        if urls != nil { try await cache.learnFiles(of: wanted, policy: names.policy) }
        let outcome = try await cache.removedTitles(wanted)
        let rest = try await cache.entries().count
        return Outcome(
            entries: max(0, entries.count - rest), pins: pins.count(where: isWanted), freedBytes: outcome.freed,
            missing: missing, problem: outcome.problem.map(Problem.init))
    }
}
