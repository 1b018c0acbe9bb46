import Reprise
import RepriseProxy

/// Allows pinned URLs to be evicted again.
struct UnpinOperation: ControlOperation {
    static let name = "unpin"
    static let editsTitles = true

    /// URLs or identifiers.
    let urls: [String]
    let names: Names

    struct Outcome: Codable, Sendable {
        /// Something that is no longer kept.
        struct Released: Codable, Sendable {
            let url: String
            /// How it was kept, as `list` says it.
            let kept: String
            let storedBytes: Int64
            /// Whether it was a download.
            let wasDownload: Bool
        }

        /// What was kept under the URLs.
        var released: [Released] = []
        /// The first URL under which nothing was kept.
        var missing: String?
    }

    func run(in cache: MediaCache, progress: @escaping @Sendable (NoProgress) -> Void) async throws -> Outcome {
        var outcome = Outcome()
        for url in urls {
            let resource = try await names.resource(of: url, in: cache)
            let before = try await cache.retention(of: resource)
            try await cache.retain(resource, as: .cached)
            if before == .cached {
                outcome.missing = outcome.missing ?? url
            } else if let kept = before.mark {
                outcome.released.append(
                    Outcome.Released(
                        url: resource.url.description, kept: kept,
                        storedBytes: try await cache.storedBytes(ofTitle: resource), wasDownload: before == .download))
            }
        }
        return outcome
    }
}
