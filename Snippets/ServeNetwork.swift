// Serves other machines: with a token in the path, a list of origins, and no access to the local network.

import Reprise
import RepriseHTTPClient
import RepriseProxy

var client = NIOOrigin.Configuration()
client.forbidsPrivateAddresses = true
client.allowsHost = { $0 == "media.example.com" }
let origin = NIOOrigin(configuration: client)
let cache = try await MediaCache.open(directory: "media-cache", origin: origin)

var configuration = ProxyConfiguration()
configuration.host = "0.0.0.0"
configuration.token = "long-random-text"
configuration.allowedHosts = ["media.example.com"]
let server = try await ProxyServer.start(cache, configuration: configuration)
// snippet.hide
print(server.address)
await server.stop()
await cache.close()
await origin.shutdown()
