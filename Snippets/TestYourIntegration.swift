// Tests an integration against a real server on loopback, which counts what it sent and fails on request.

import Foundation
import Reprise
import RepriseHTTPClient
import RepriseTesting

let server = try await TestOrigin.start()
server.set(.init(.pattern(seed: 1, length: 10_000), mediaType: "video/mp4"), at: "/film.mp4")
let directory = try TemporaryDirectory()
let origin = NIOOrigin()
let cache = try await MediaCache.open(directory: directory.path, origin: origin)

// What your program does; here it reads a part, then everything.
let film = try cache.resource(for: server.url("/film.mp4"))
_ = try await film.data(.bounded(200..<500))
let bytes = try await film.data()

// The bytes are right, and none was sent twice.
precondition(bytes.elementsEqual(TestPattern.bytes(in: 0..<10_000, seed: 1)))
let sent = await server.settledSnapshot()["/film.mp4"]
precondition(sent.bodyBytesSent == 10_000)
precondition(sent.bytesSentMoreThanOnce == 0)

// A server that breaks off after 4,000 bytes of each response: the cache continues from there.
let breaksOff = TestOrigin.Personality { $0.truncateAfter = 4_000 }
server.set(.init(.pattern(seed: 2, length: 10_000), personality: breaksOff), at: "/song.mp3")
let song = try await cache.resource(for: server.url("/song.mp3")).data()
precondition(song.elementsEqual(TestPattern.bytes(in: 0..<10_000, seed: 2)))

await cache.close()
await origin.shutdown()
await server.stop()
// snippet.hide

func withClock() async throws {
    // snippet.show
    let clock = ManualClock()
    var configuration = MediaCache.Configuration()
    let start = Date(timeIntervalSince1970: 1_800_000_000)
    configuration.clock = CacheClock(clock, wallClock: { start + clock.now.offset / .seconds(1) })
    // Open the cache with it and read; then let an hour pass:
    clock.advance(by: .seconds(3600))
    // snippet.hide
    _ = configuration
}
_ = withClock
