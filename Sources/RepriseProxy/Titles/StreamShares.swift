import Foundation
import Primitives
import Reprise

/// Caches the stored share of each stream on the pages of titles.
///
/// A stream's playlists are read again only after something about the stream has changed.
final class StreamShares: Sendable {
    /// The state of a stream when its playlists were read; differs once the stored bytes change.
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
        let time: Duration
    }

    private let known = Mutex<[CacheKey: Known]>([:])
    /// Maximum number of remembered titles; if it is exceeded, all are forgotten.
    private let capacity: Int

    init(capacity: Int = 4 * TitlePage.largest) { self.capacity = capacity }

    /// Returns the streams among `items`, and calls `read` only for items that are new or have changed.
    ///
    /// What was read less than `lasting` before `now` is used all the same: a stream that plays changes all the time.
    func streams(
        _ items: [TitlePage.Item], at now: Duration = .zero, lasting: Duration = .zero,
        read: ([TitlePage.Item]) async throws -> [CacheKey: StoredStream]
    ) async throws -> [CacheKey: StoredStream] {
        let (streams, changed) = known.withLock { known in
            var (streams, changed) = ([CacheKey: StoredStream](), [TitlePage.Item]())
            for item in items {
                if let former = known[item.title.key], former.stamp == Stamp(item) || now - former.time < lasting {
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
                known[item.title.key] = Known(stamp: Stamp(item), stream: found[item.title.key], time: now)
            }
        }
        return streams.merging(found) { $1 }
    }
}
