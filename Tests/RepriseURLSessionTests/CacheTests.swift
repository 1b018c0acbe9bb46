import HTTPSemantics
import HTTPTypes
import Reprise
import RepriseTesting
import TestLimits
import Testing

@testable import RepriseURLSession

@Suite("A cache over the URLSession client", .limit(minutes: 1))
struct CacheTests {
    private func bytes(_ read: MediaRead) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let piece = try await read.next() { bytes += try piece.bytes() }
        return bytes
    }

    @Test func whatWasReadOnceIsNotSentAgain() async throws {
        try await withOrigin { origin, client in
            let length: Int64 = 3_000_000
            origin.set(resource(length), at: "/song.mp3")
            let directory = try TemporaryDirectory()
            let cache = try await MediaCache.open(directory: directory.path, origin: client)
            let song = try cache.resource(for: origin.url("/song.mp3"))
            #expect(try await bytes(song.read(.bounded(1_000_000..<1_500_000))) == pattern(1_000_000..<1_500_000))
            #expect(try await bytes(song.read()) == pattern(0..<length))
            #expect(try await bytes(song.read()) == pattern(0..<length))
            let tally = await origin.settledSnapshot()["/song.mp3"]
            #expect(tally.bytesSentMoreThanOnce == 0)
            #expect(tally.bodyBytesSent == length)
            await cache.close()
        }
    }

    @Test func aBodyThatBreaksOffIsCompletedWithARange() async throws {
        try await withOrigin { origin, client in
            var broken = resource(2_000_000)
            broken.override = { _, number in number == 1 ? .init { $0.truncateAfter = 700_000 } : nil }
            origin.set(broken, at: "/song.mp3")
            let directory = try TemporaryDirectory()
            var configuration = MediaCache.Configuration()
            configuration.retry.firstDelay = .milliseconds(1)
            let cache = try await MediaCache.open(
                directory: directory.path, origin: client, configuration: configuration)
            let read = try await cache.resource(for: origin.url("/song.mp3")).read()
            #expect(try await bytes(read) == pattern(0..<2_000_000))
            let snapshot = await origin.settledSnapshot()
            #expect(snapshot.requests.map(\.range) == [nil, "bytes=700000-"])
            #expect(snapshot["/song.mp3"].bytesSentMoreThanOnce == 0)
            await cache.close()
        }
    }
}
