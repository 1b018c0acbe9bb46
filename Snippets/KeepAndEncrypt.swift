// Keeps files regardless of eviction, in an encrypted cache with limits.
import Reprise
import RepriseHTTPClient

let origin = NIOOrigin()
var configuration = MediaCache.Configuration()
configuration.limit = 5_000_000_000
configuration.minimumFree = 1_000_000_000
configuration.maximumAge = .seconds(90 * 86_400)
configuration.encryption = CacheEncryption(provider: KeyFile(path: "/run/secrets/reprise.key"))
let cache = try await MediaCache.open(directory: "media-cache", origin: origin, configuration: configuration)

let film = try cache.resource(for: "https://example.com/film.mp4")
try await cache.retain(film, as: .download)  // fetched until it is complete, also after a restart
try await cache.retain(film, as: .pinned)  // stored bytes are kept
try await cache.retain(film, as: .first(.seconds(10)))  // the beginning is fetched and kept, the rest may be evicted
try await cache.retain(film, as: .cached)  // may be evicted
print("\(cache.allocatedBytes.media) bytes on disk")
await cache.close()
await origin.shutdown()
