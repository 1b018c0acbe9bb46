import ByteRanges
import HTTPSemantics
@testable import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// A file goes on arriving while its player takes nothing, as far as the configuration says.
@Suite(.limit(minutes: 2)) struct ReadAheadTests {
    private static let length: Int64 = 12 << 20

    /// Begins to play `/a`, takes one piece, and waits until as many bytes are stored as `isEnough` says.
    private static func paused(
        _ readAhead: ReadAhead, of body: TestOrigin.Content = .pattern(seed: 1, length: length), limit: Int64? = nil,
        demand: Demand = .playing, until isEnough: (Int64) -> Bool
    ) async throws -> Int64 {
        var stored: Int64 = 0
        try await Bench.run(configure: {
            $0.readAhead = { host in host == "127.0.0.1" ? readAhead : .asRequested }
            if let limit { $0.limit = limit }
        }) { bench async throws in
            bench.origin.set(TestOrigin.Resource(body, mediaType: "audio/wav", etag: "\"v1\""), at: "/a")
            let read = try await bench.cache.resource(for: bench.origin.url("/a")).read(nil, demand: demand)
            _ = try await read.next()
            await eventually { isEnough(bench.cache.storedBytes) }
            // What stands still is not on its way any more.
            await bench.cache.engine.store?.recorder.flush()
            stored = bench.cache.storedBytes
            read.cancel()
        }
        return stored
    }

    @Test("a paused player has as many bytes ahead as the configuration says")
    func bytesAhead() async throws {
        let stored = try await Self.paused(.bytes(5_000_000)) { $0 >= 5_000_000 }
        #expect(stored < 8_000_000)
    }

    @Test("a paused player has the whole file, if that fits into the store")
    func wholeFile() async throws {
        #expect(try await Self.paused(.toEnd) { $0 == Self.length } == Self.length)
    }

    @Test("without reading ahead, of a host or of a file that does not fit, it is 1 MiB at most")
    func asRequested() async throws {
        for (readAhead, limit) in [(ReadAhead.asRequested, nil), (.toEnd, 10 << 20)] as [(ReadAhead, Int64?)] {
            let stored = try await Self.paused(readAhead, limit: limit) { $0 > 0 }
            #expect(stored <= 2 << 20, "\(readAhead)")
        }
    }

    @Test("what is missing comes before a player reaches it, and only once")
    func holesAhead() async throws {
        try await Bench.run(configure: { $0.readAhead = { _ in .toEnd } }) { bench async throws in
            bench.origin.set(
                TestOrigin.Resource(.pattern(seed: 1, length: Self.length), mediaType: "video/mp4", etag: "\"v1\""),
                at: "/a")
            for start in [0, 4 << 20] as [Int64] {
                let part = try await bench.cache.resource(for: bench.origin.url("/a")).read(
                    .bounded(start..<start + (2 << 20)), demand: .preload)
                while try await part.next() != nil {}
            }
            let read = try await bench.cache.resource(for: bench.origin.url("/a")).read(nil)
            _ = try await read.next()
            await eventually { bench.cache.storedBytes >= Self.length }
            read.cancel()
            #expect(bench.origin.snapshot.bytesSentMoreThanOnce == 0)
            #expect(bench.origin.snapshot.requestCount == 4)
        }
    }

    @Test("reading ahead ends with the player")
    func theEnd() async throws {
        try await Bench.run(configure: { $0.readAhead = { _ in .toEnd } }) { bench async throws in
            bench.origin.set(
                TestOrigin.Resource(.pattern(seed: 1, length: Self.length), mediaType: "video/mp4", etag: "\"v1\""),
                at: "/a")
            bench.origin.hold("/a", at: 6 << 20)
            let read = try await bench.cache.resource(for: bench.origin.url("/a")).read(nil)
            _ = try await read.next()
            await bench.origin.waitUntil { $0.bodyBytesSent >= 6 << 20 }
            read.cancel()
            await eventually { bench.cache.fetchesUnderWay == 0 }
            bench.origin.release("/a")
            #expect(bench.cache.storedBytes < Self.length)
        }
    }

    @Test("after a seek the file arrives from the new place")
    func seek() async throws {
        try await Bench.run(configure: { $0.readAhead = { _ in .bytes(2 << 20) } }) { bench async throws in
            bench.origin.set(
                TestOrigin.Resource(.pattern(seed: 1, length: Self.length), mediaType: "video/mp4", etag: "\"v1\""),
                at: "/a")
            let resource = try bench.cache.resource(for: bench.origin.url("/a"))
            for (start, stored) in [(0, 2 << 20), (6 << 20, 4 << 20)] as [(Int64, Int64)] {
                let read = try await resource.read(.from(start))
                _ = try await read.next()
                await eventually { bench.cache.storedBytes >= stored }
                read.cancel()
            }
            #expect(bench.origin.snapshot.requestCount == 2)
            #expect(bench.cache.storedBytes < 9 << 20)
        }
    }

    @Test("what is read ahead waits for a player that waits")
    func precedence() async throws {
        try await Bench.run(configure: { $0.readAhead = { _ in .toEnd } }) { bench async throws in
            for path in ["/a", "/b"] {
                bench.origin.set(
                    TestOrigin.Resource(
                        .pattern(seed: 1, length: Self.length), mediaType: "video/mp4", etag: "\"v1\""),
                    at: path)
            }
            bench.origin.hold("/a", at: 4 << 20)
            bench.origin.hold("/b", at: 100_000)
            let paused = try await bench.cache.resource(for: bench.origin.url("/a")).read(nil)
            _ = try await paused.next()
            await eventually { bench.cache.storedBytes >= 4 << 20 }
            let playing = try await bench.cache.resource(for: bench.origin.url("/b")).read(nil)
            let all = Task {
                var count = 0
                while let piece = try await playing.next() { count += piece.count }
                return count
            }
            await eventually { bench.cache.storedBytes >= (4 << 20) + 90_000 }
            bench.origin.release("/a")
            await eventually { bench.cache.engine.precedence.yielding >= 1 }
            #expect(bench.cache.storedBytes < Self.length)
            bench.origin.release("/b")
            #expect(try await all.value == Self.length)
            await eventually { bench.cache.storedBytes >= 2 * Self.length }
            paused.cancel()
        }
    }

    @Test("players that seek and leave never wait for what is read ahead for one another")
    func crowd() async throws {
        let length: Int64 = 1_500_000
        try await Bench.run(configure: { $0.readAhead = { _ in .toEnd } }) { bench async throws in
            for film in 0..<40 {
                var resource = TestOrigin.Resource(
                    .pattern(seed: 1, length: length), mediaType: "video/mp4", etag: "\"v1\"")
                resource.personality.bytesPerSecond = film.isMultiple(of: 2) ? nil : 20_000_000
                bench.origin.set(resource, at: "/\(film)")
                let url = bench.origin.url("/\(film)")
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for client in 0..<5 {
                        group.addTask {
                            var random = SeededGenerator(seed: UInt64(film * 5 + client))
                            for _ in 0..<6 { try await Self.seek(in: bench, url, length: length, using: &random) }
                        }
                    }
                    try await group.waitForAll()
                }
            }
        }
    }

    /// Reads from somewhere, and leaves before the end or at the end.
    private static func seek(
        in bench: Bench, _ url: String, length: Int64, using random: inout SeededGenerator
    ) async throws {
        let start = Int64.random(in: 0..<length, using: &random)
        let end = min(length, start + ([10, 1000, 70_000, 400_000].randomElement(using: &random) ?? 10))
        let range: RangeSpec? =
            [nil, .bounded(start..<end), .bounded(start..<end), .from(start)]
            .randomElement(using: &random) ?? nil
        let read = try await bench.cache.resource(for: url).read(range)
        defer { read.cancel() }
        var rest = Bool.random(using: &random) ? 100_000 : Int.max
        while rest > 0, let piece = try await read.next() { rest -= piece.count }
    }

    @Test("seconds are bytes by what the file says: 20 s of sound at 176,400 bytes a second")
    func seconds() async throws {
        let sound = WAVE.file(seconds: 60)
        let stored = try await Self.paused(.seconds(20), of: .bytes(sound)) { $0 >= 20 * WAVE.bytesPerSecond }
        #expect(stored < 30 * WAVE.bytesPerSecond)
    }
}

/// Uncompressed sound, of which each second has as many bytes.
private enum WAVE {
    static let bytesPerSecond: Int64 = 176_400

    /// A file of so many seconds of silence (44,100 Hz, two channels of 16 bits).
    static func file(seconds: Int64) -> [UInt8] {
        let count = seconds * bytesPerSecond
        func little(_ value: Int64, _ size: Int) -> [UInt8] { (0..<size).map { UInt8(value >> (8 * $0) & 0xFF) } }
        var bytes = Array("RIFF".utf8) + little(count + 36, 4) + Array("WAVEfmt ".utf8) + little(16, 4)
        bytes += little(1, 2) + little(2, 2) + little(44_100, 4) + little(bytesPerSecond, 4) + little(4, 2)
        bytes += little(16, 2) + Array("data".utf8) + little(count, 4)
        return bytes + [UInt8](repeating: 0, count: Int(count))
    }
}
