import HTTPSemantics
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// What the user keeps stays stored until another version is whole.
@Suite(.limit(minutes: 2)) struct KeptReplacementTests {
    private static let length: Int64 = 600_000

    /// Runs `body` with a cache that keeps the first version of a film, whose origin has the second one by now.
    private static func run(
        as retention: Retention = .pinned, brokenAt most: Int64?,
        _ body: (Bench, MediaResource) async throws -> Void
    ) async throws {
        try await Bench.run(configure: { $0.retry.attempts = 0 }) { bench async throws in
            bench.publish("/film", length: length)
            let film = try bench.cache.resource(for: bench.origin.url("/film"))
            try await bench.cache.retain(film, as: retention)
            #expect(try await film.read().collect() == TestPattern.bytes(in: 0..<length, seed: 1))
            await bench.cache.becomeIdle()
            await bench.cache.engine.store?.recorder.flush()
            bench.publish("/film", length: 900_000, seed: 2, etag: "\"v2\"") { $0.truncateAfter = most }
            try await body(bench, film)
        }
    }

    private static func stored(_ bench: Bench) -> [String] { DiskUse.mediaFiles(of: bench.directory.path) }

    @Test("a new version that breaks off does not replace what is kept", arguments: [Retention.pinned, .download])
    func brokenOff(retention: Retention) async throws {
        try await Self.run(as: retention, brokenAt: 5_000) { bench, film async throws in
            bench.origin.hold("/film", at: 4_000)
            let read = try await film.readValidated(.from(0))
            _ = try await read.next()
            // It would bring the rest, piece by piece.
            bench.origin.set(.init(.bytes([]), personality: .init { $0.resetBeforeHead = true }), at: "/film")
            bench.origin.release("/film")
            await #expect(throws: RepriseError.self) { try await read.drain() }
            read.cancel()
            await bench.cache.becomeIdle()
            await eventually { Self.stored(bench).count == 1 }
            let first = TestPattern.bytes(in: 0..<Self.length, seed: 1)
            #expect(bench.cache.storedBytes == Self.length)
            #expect(try await film.read().collect() == first)
            try await bench.reopened(configure: { $0.reuse.isOffline = true }) { cache async throws in
                let film = try cache.resource(for: bench.origin.url("/film"))
                #expect(try await film.read().collect() == first)
                #expect(cache.storedBytes == Self.length)
            }
        }
    }

    @Test("a new version that comes whole replaces what is kept, also in the next process")
    func whole() async throws {
        try await Self.run(brokenAt: nil) { bench, film async throws in
            let second = TestPattern.bytes(in: 0..<900_000, seed: 2)
            #expect(try await film.readValidated(.from(0)).collect() == second)
            await bench.cache.becomeIdle()
            await bench.cache.engine.store?.recorder.flush()
            #expect(Self.stored(bench).count == 1)
            #expect(bench.cache.storedBytes == 900_000)
            try await bench.reopened(configure: { $0.reuse.isOffline = true }) { cache async throws in
                let film = try cache.resource(for: bench.origin.url("/film"))
                #expect(cache.storedBytes == 900_000, "no record of the first version is left")
                #expect(try await film.read().collect() == second)
            }
        }
    }

    @Test("a removal in between leaves nothing") func removed() async throws {
        try await Self.run(brokenAt: nil) { bench, film async throws in
            bench.origin.hold("/film", at: 100_000)
            let read = try await film.readValidated(.from(0))
            _ = try await read.next()
            #expect(Self.stored(bench).count == 2)
            _ = try await bench.cache.remove(film.key)
            bench.origin.release("/film")
            read.cancel()
            await bench.cache.becomeIdle()
            #expect(Self.stored(bench).isEmpty)
            #expect(bench.cache.storedBytes == 0)
        }
    }

    @Test("a process that ends in between leaves what is kept, and no more") func ended() async throws {
        try await Self.run(brokenAt: nil) { bench, film async throws in
            bench.origin.hold("/film", at: 100_000)
            let read = try await film.readValidated(.from(0))
            _ = try await read.next()
            await bench.cache.engine.store?.recorder.flush()
            try await bench.reopened(configure: { $0.reuse.isOffline = true }) { cache async throws in
                let film = try cache.resource(for: bench.origin.url("/film"))
                #expect(try await film.read().collect() == TestPattern.bytes(in: 0..<Self.length, seed: 1))
                await eventually { Self.stored(bench).count == 1 }
                #expect(cache.storedBytes == Self.length)
            }
            bench.origin.release("/film")
            read.cancel()
        }
    }

    @Test("a kept file plays on to its end when the origin has much less of it", arguments: [200_000, 0])
    func shrunk(length: Int64) async throws {
        try await Self.run(brokenAt: nil) { bench, film async throws in
            bench.publish("/film", length: length, seed: 3, etag: "\"v3\"")
            for range in [0..<1000, 500_000..<600_000] as [Range<Int64>] {
                let bytes = try await film.readValidated(.bounded(range)).collect()
                #expect(bytes == TestPattern.bytes(in: range, seed: 1))
            }
            #expect(bench.cache.storedBytes == Self.length)
            bench.publish("/film", length: 400_000, seed: 2, etag: "\"v2\"")
            let error = await #expect(throws: RepriseError.self) {
                try await film.readValidated(.bounded(500_000..<600_000)).collect()
            }
            #expect(error?.code == .rangeNotSatisfiable, "of another version the length counts")
        }
    }
}
