import Reprise
import RepriseProxy

/// Records everything that the cache has noted, so that those who read the directory find it.
struct FlushOperation: ControlOperation {
    typealias Outcome = NoOutcome

    static let name = "flush"

    func run(in cache: MediaCache, progress: @escaping @Sendable (NoProgress) -> Void) async throws -> NoOutcome {
        await cache.flush()
        return NoOutcome()
    }
}
