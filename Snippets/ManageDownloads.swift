// Lists, orders, pauses and resumes downloads.

// snippet.hide
import Reprise
import RepriseHTTPClient

let origin = NIOOrigin()
let cache = try await MediaCache.open(directory: "media-cache", origin: origin)
let film = try cache.resource(for: "https://example.com/film.mp4")
// snippet.show
let downloads = cache.downloads
try await downloads.add(film)
try await downloads.move(film.key, before: nil)
try await downloads.pause(film.key)
try await downloads.resume(film.key)
for await list in downloads.updates() {
    for download in list { print(download.url.redacted, download.state, download.fraction) }
}
