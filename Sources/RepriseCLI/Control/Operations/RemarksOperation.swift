import Reprise
import RepriseProxy

/// What a server has remarked about the host of a URL since it began.
struct RemarksOperation: ControlOperation {
    static let name = "remarks"

    let url: String

    struct Outcome: Codable, Sendable {
        /// Sentences for people, the oldest first.
        let reasons: [String]
    }

    func run(in cache: MediaCache, progress: @escaping @Sendable (NoProgress) -> Void) async throws -> Outcome {
        let host = try ResourceURL(url).authority
        return Outcome(reasons: cache.hostRemarks.filter { $0.host == host }.map(\.reason))
    }
}
