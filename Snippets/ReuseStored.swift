// Changes when stored responses are used without asking the origin.

// snippet.hide
import Reprise
import RepriseHTTPClient

let origin = NIOOrigin()
// snippet.show
var configuration = MediaCache.Configuration()
configuration.reuse.playWindow = .seconds(60)  // a play is over a minute after its last read
configuration.reuse.forces = { $0 == "media.example.com" }  // responses of this host are stored, and fresh for a day
let cache = try await MediaCache.open(directory: "media-cache", origin: origin, configuration: configuration)
// snippet.hide
await cache.close()
await origin.shutdown()
