import Reprise
import RepriseProxy

/// Limits how much the titles with a tag occupy.
struct LimitOperation: ControlOperation {
    typealias Outcome = NoOutcome

    static let name = "limit"

    let tag: String
    /// Bytes on disk; `nil` for no limit.
    let limit: Int64?

    func run(in cache: MediaCache, progress: @escaping @Sendable (NoProgress) -> Void) async throws -> NoOutcome {
        guard limit ?? 0 >= 0 else { throw RepriseError(.invalidArgument, "\"limit\" is a number of bytes.") }
        try await cache.setLimit(limit, forTag: tag)
        return NoOutcome()
    }
}
