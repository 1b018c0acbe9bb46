import Reprise
import RepriseProxy

/// Lets URLs go again when room is needed.
struct UnpinOperation: ControlOperation {
    static let name = "unpin"

    /// URLs or identifiers.
    let urls: [String]
    let names: Names

    struct Outcome: Codable, Sendable {
        /// The first URL under which nothing was kept.
        let missing: String?
    }

    func run(in cache: MediaCache, progress: @escaping @Sendable (NoProgress) -> Void) async throws -> Outcome {
        var missing: String?
        for url in urls {
            let resource = try await names.resource(of: url, in: cache)
            if try await cache.retention(of: resource) == .cached { missing = missing ?? url }
            try await cache.retain(resource, as: .cached)
        }
        return Outcome(missing: missing)
    }
}
