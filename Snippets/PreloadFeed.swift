// Preloads what may be played soon: a feed, a queue, an album.

// snippet.hide
import Reprise
import RepriseHTTPClient
import RepriseStreams

let origin = NIOOrigin()
// snippet.show
var configuration = MediaCache.Configuration()
configuration.downloadsStreams = true  // HLS and DASH, too
let cache = try await MediaCache.open(directory: "media-cache", origin: origin, configuration: configuration)
let clips = try (1...200).map { try cache.resource(for: "https://example.com/clips/\($0).mp4") }

// In the callback of a scroll view: the rest of the list follows by itself.
cache.preload(clips, current: 3)

// Other amounts: of the next one thirty seconds, of the two behind it one segment or six seconds.
cache.preload(clips, current: 3) { distance in
    switch distance {
    case 1: .seconds(30)
    case 2...3: .segments(1)
    default: nil
    }
}
for await list in cache.preloads.updates() {
    for preload in list { print(preload.url.redacted, preload.amount, preload.state) }
}
