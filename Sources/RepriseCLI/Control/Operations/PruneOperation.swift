import Reprise
import RepriseProxy

/// Removes the least recently used entries.
struct PruneOperation: ControlOperation {
    static let name = "prune"

    /// Bytes that the media may occupy at most afterwards.
    let size: Int64?
    /// Seconds; what was not used for so long goes.
    let olderThan: Int64?
    /// Only titles with this tag.
    let tag: String?

    struct Outcome: Codable, Sendable {
        let freedBytes: Int64
        /// Bytes that the media occupy, of all titles or of those with the tag.
        let leftBytes: Int64
        /// Why files are left.
        let problem: Problem?
    }

    func run(in cache: MediaCache, progress: @escaping @Sendable (NoProgress) -> Void) async throws -> Outcome {
        guard size != nil || olderThan != nil, size ?? 0 >= 0, 1...Self.longest ~= olderThan ?? 1, tag != "" else {
            throw RepriseError(
                .invalidArgument, "prune takes a size of at least 0 bytes, an age of at least one second, or both.")
        }
        let (freed, problem) = try await prune(cache)
        return Outcome(
            freedBytes: freed, leftBytes: try await occupied(in: cache), problem: problem.map(Problem.init))
    }

    private func prune(_ cache: MediaCache) async throws -> (freed: Int64, problem: RepriseError?) {
        let age = olderThan.map { Duration.seconds($0) }
        guard let tag else { return await cache.pruned(toSize: size, olderThan: age) }
        return try await cache.prunedTitles(tagged: tag, toSize: size, olderThan: age)
    }

    private func occupied(in cache: MediaCache) async throws -> Int64 {
        guard let tag else { return cache.allocatedBytes.media }
        return try await cache.titles().reduce(0) { $0 + ($1.tag == tag ? $1.allocatedBytes : 0) }
    }

    /// The longest time that an option takes, in seconds: so many weeks.
    private static let longest = Int64(Int32.max) * 604_800
}
