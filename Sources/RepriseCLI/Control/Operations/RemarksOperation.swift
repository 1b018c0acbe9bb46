import Reprise
import RepriseProxy

/// Returns the problems that a server has noticed with the host of a URL since it started.
struct RemarksOperation: ControlOperation {
    static let name = "remarks"

    let url: String

    struct Outcome: Codable, Sendable {
        /// Oldest first.
        let remarks: [HostRemark]
    }

    func run(in cache: MediaCache, progress: @escaping @Sendable (NoProgress) -> Void) async throws -> Outcome {
        let host = try ResourceURL(url).authority
        return Outcome(remarks: cache.hostRemarks.filter { $0.host == host })
    }
}
