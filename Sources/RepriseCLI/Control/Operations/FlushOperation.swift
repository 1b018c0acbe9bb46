import Reprise
import RepriseProxy

/// Records everything that the cache has noted, so that those who read the directory find it.
struct FlushOperation: ControlOperation {
    static let name = "flush"

    /// The cache key of a file whose bytes are counted.
    var key: String?

    struct Outcome: Codable, Sendable {
        /// Bytes of the file, also those at the end of an unfinished chunk, which are not recorded.
        var storedBytes: Int64?
    }

    func run(in cache: MediaCache, progress: @escaping @Sendable (NoProgress) -> Void) async throws -> Outcome {
        await cache.flush()
        guard let key = key.map({ CacheKey($0) }), let title = try await cache.inspector()?.entries(of: key).first
        else {
            return Outcome()
        }
        let resource = try cache.resource(for: title.url, key: key)
        return Outcome(storedBytes: await resource.storedProgress().ranges.byteCount)
    }
}
