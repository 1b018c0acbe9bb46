// Watches the cache's events, and how much of a file is stored.

// snippet.hide
import Reprise
import RepriseHTTPClient

let origin = NIOOrigin()
let cache = try await MediaCache.open(directory: "media-cache", origin: origin)
// snippet.show
let events = cache.events()
let watcher = Task {
    for await event in events {
        switch event {
        case .fetchStarted(_, let range): print("asking the origin for", range)
        case .fetchRetried(_, let delay, let error): print("again in \(delay):", error)
        case .readEnded(_, let store, let joined, let origin):
            print("from the store \(store), from others' fetches \(joined), from its own \(origin)")
        case .storeBypassed(_, let reason): print("not stored:", reason)
        default: break
        }
    }
}

let song = try cache.resource(for: "https://example.com/song.mp3")
for try await _ in try await song.read() {
    guard let stored = song.storedInMemory() else { continue }
    let length = stored.information.completeLength.map(String.init) ?? "?"
    print("\(stored.ranges.byteCount) of \(length) bytes are stored")
}
print("\(cache.statistics.bytesSaved) bytes did not have to be fetched")
await cache.close()  // ends the stream of events, too
await watcher.value
// snippet.hide
await origin.shutdown()
