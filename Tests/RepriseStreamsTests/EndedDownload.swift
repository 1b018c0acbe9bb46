import Reprise
import Testing

extension MediaCache {
    /// Waits until the only download has ended, waits or has failed.
    @discardableResult
    func endedDownload() async throws -> Download {
        for await list in downloads.updates(every: .zero) {
            switch list.first?.state {
            case .done, .failed, .waiting: return try #require(list.first)
            default: continue
            }
        }
        throw RepriseError(.closed, "The cache was closed.")
    }
}
