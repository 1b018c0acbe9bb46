// Keeps what one user may see from another, in one cache.

// snippet.hide
import HTTPTypes
import Reprise
import RepriseHTTPClient

let origin = NIOOrigin()
let cache = try await MediaCache.open(directory: "media-cache", origin: origin)
let (url, token, account) = ("https://example.com/film.mp4", "token", "account-1")
// snippet.show
let film = try cache.resource(for: url, fields: [.authorization: "Bearer \(token)"], partition: account)
try await cache.removeAll(partition: account)  // when the user signs out
// snippet.hide
_ = film
await cache.close()
await origin.shutdown()
