// Keeps one entry for a file whose URL is newly signed each time.

// snippet.hide
import Reprise
import RepriseHTTPClient

let origin = NIOOrigin()
// snippet.show
var configuration = MediaCache.Configuration()
configuration.keyPolicy = .droppingQueryItems(["Expires", "Signature", "Key-Pair-Id"])
let cache = try await MediaCache.open(directory: "media-cache", origin: origin, configuration: configuration)

let monday = try cache.resource(for: "https://cdn.example.com/film.mp4?Expires=1&Signature=aaa&lang=en")
let friday = try cache.resource(for: "https://cdn.example.com/film.mp4?Expires=2&Signature=bbb&lang=en")
print(monday.key == friday.key)  // true: https://cdn.example.com/film.mp4?lang=en
// snippet.hide
await cache.close()
await origin.shutdown()
// snippet.show

/// A custom key: the file's number in the path names the representation, whichever mirror it is on.
let byNumber = CacheKeyPolicy { url in "film/" + url.lastPathComponent }
// snippet.hide
_ = byNumber
