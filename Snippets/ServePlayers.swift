// Serves any player on this machine through the cache.

import Reprise
import RepriseHTTPClient
import RepriseProxy

let origin = NIOOrigin()
let cache = try await MediaCache.open(directory: "media-cache", origin: origin)
let server = try await ProxyServer.start(cache)
print("mpv \(server.address)/https/example.com/film.mp4")
// snippet.hide
if CommandLine.arguments.contains("--wait") { _ = readLine() }
// snippet.show
await server.stop()
await cache.close()
await origin.shutdown()
