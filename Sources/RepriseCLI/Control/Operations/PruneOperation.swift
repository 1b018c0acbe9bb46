import Reprise
import RepriseProxy

/// Removes the least recently used entries.
struct PruneOperation: ControlOperation {
    static let name = "prune"
    static let editsTitles = true

    /// Bytes that the media may occupy at most afterwards.
    let size: Int64?
    /// Seconds; what was not used for so long goes.
    let olderThan: Int64?
    /// Only titles with this tag.
    let tag: String?
    /// Whether it only says what would go.
    var dry: Bool?

    struct Outcome: Codable, Sendable {
        let freedBytes: Int64
        /// Bytes that the media occupy, of all titles or of those with the tag.
        let leftBytes: Int64
        /// Why files are left.
        let problem: Problem?
        /// What would go, if that was asked.
        var dry: DryRun?
    }

    func run(in cache: MediaCache, progress: @escaping @Sendable (NoProgress) -> Void) async throws -> Outcome {
        guard size != nil || olderThan != nil, size ?? 0 >= 0, 1...TitleFilter.longestAge ~= olderThan ?? 1, tag != ""
        else {
            throw RepriseError(
                .invalidArgument, "prune takes a size of at least 0 bytes, an age of at least one second, or both.")
        }
        if dry == true { return try await forecast(cache) }
        let (freed, problem) = try await prune(cache)
        return Outcome(
            freedBytes: freed, leftBytes: try await occupied(in: cache), problem: problem.map(Problem.init))
    }

    private func prune(_ cache: MediaCache) async throws -> (freed: Int64, problem: RepriseError?) {
        let age = olderThan.map { Duration.seconds($0) }
        guard let tag else { return await cache.pruned(toSize: size, olderThan: age) }
        return try await cache.prunedTitles(tagged: tag, toSize: size, olderThan: age)
    }

    private func forecast(_ cache: MediaCache) async throws -> Outcome {
        let age = olderThan.map { Duration.seconds($0) }
        let forecast =
            if let tag {
                try await cache.forecast(ofPruningTitlesTagged: tag, toSize: size, olderThan: age)
            } else {
                try await cache.forecast(ofPruningToSize: size, olderThan: age)
            }
        return Outcome(
            freedBytes: forecast.freedBytes, leftBytes: max(0, try await occupied(in: cache) - forecast.freedBytes),
            problem: nil,
            dry: DryRun(
                forecast.urls.map { url in
                    DryRun.Item(url: url.redacted, staysInPart: forecast.trimmed.contains(url) ? true : nil)
                }))
    }

    private func occupied(in cache: MediaCache) async throws -> Int64 {
        guard let tag else { return cache.allocatedBytes.media }
        return try await cache.titles().reduce(0) { $0 + ($1.tag == tag ? $1.allocatedBytes : 0) }
    }
}
