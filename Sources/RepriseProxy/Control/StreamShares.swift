import Foundation
import Primitives
import Reprise

/// How much is stored of the streams on pages of titles, which is read from their playlists once as long as nothing of
/// a stream changes.
final class StreamShares: Sendable {
    /// What a stream was when it was looked at; all of it together changes with the stored bytes.
    private struct Stamp: Equatable {
        let storedBytes, allocatedBytes: Int64
        let fileCount: Int
        let lastUsed: Date?
        let generation: String?

        init(_ item: TitlePage.Item) {
            let title = item.title
            (storedBytes, allocatedBytes, fileCount) = (title.storedBytes, title.allocatedBytes, title.fileCount)
            (lastUsed, generation) = (title.lastUsed, item.information?.generation)
        }
    }

    private struct Known {
        let stamp: Stamp
        let stream: StoredStream?
    }

    private let known = Mutex<[CacheKey: Known]>([:])
    /// Most titles that are remembered; beyond them all are forgotten.
    private let capacity: Int

    init(capacity: Int = 4 * TitlePage.largest) { self.capacity = capacity }

    /// Those among `items`, which `read` looks up in the cache if it has to be.
    func streams(
        _ items: [TitlePage.Item], read: ([TitlePage.Item]) async throws -> [CacheKey: StoredStream]
    ) async throws -> [CacheKey: StoredStream] {
        let (streams, changed) = known.withLock { known in
            var (streams, changed) = ([CacheKey: StoredStream](), [TitlePage.Item]())
            for item in items {
                if let former = known[item.title.key], former.stamp == Stamp(item) {
                    streams[item.title.key] = former.stream
                } else {
                    changed.append(item)
                }
            }
            return (streams, changed)
        }
        guard !changed.isEmpty else { return streams }
        let found = try await read(changed)
        known.withLock { known in
            if known.count + changed.count > capacity { known = [:] }
            for item in changed {
                known[item.title.key] = Known(stamp: Stamp(item), stream: found[item.title.key])
            }
        }
        return streams.merging(found) { $1 }
    }
}
