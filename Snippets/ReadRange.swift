// Reads a range through the cache: stored bytes come from the disk, the rest from the origin.

import Reprise
import RepriseHTTPClient

let origin = NIOOrigin()
let cache = try await MediaCache.open(directory: "media-cache", origin: origin)
let film = try cache.resource(for: "https://example.com/film.mp4")
let read = try await film.read(.bounded(0..<1000))
for try await piece in read { print("\(piece.count) bytes") }
print("\(read.servedBytes(from: .store)) of them were on disk")
await cache.close()
await origin.shutdown()
