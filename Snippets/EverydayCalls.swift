// What a program does with single files, besides playing them.
import Foundation
import Reprise
import RepriseHTTPClient

let origin = NIOOrigin()
let cache = try await MediaCache.open(
    directory: "media-cache", origin: origin, configuration: MediaCache.Configuration(limit: 5_000_000_000))
guard let url = URL(string: "https://example.com/cover.jpg") else { exit(64) }

let cover = try cache.resource(for: url)
print(try await cover.data().count, "bytes in memory")
for try await piece in try await cover.read(0..<1000) { print(piece.count) }
for try await piece in try await cover.read(1000...) { print(piece.count) }
if await cover.isCached, let file = await cover.fileURL() { print("lies in", file.path) }
try await cover.export(to: URL(fileURLWithPath: "cover.jpg"))

try await cache.retain(cover, as: .pinned)  // stays until it is released
try await cache.setLimit(2_000_000_000)  // evicts what does not fit
let playable = try await cache.entries(complete: true)  // what plays without the origin
try await cache.remove(url)
try await cache.remove(host: "old.example.com")
try await cache.remove(tag: "podcasts")  // titles that were given this tag
try await cache.removeAll()
print(playable.count, "files were complete")
await cache.close()
await origin.shutdown()
