import Foundation
import Reprise
import RepriseProxy
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// Stored responses that are sent region by region, and what may happen to the file, the cache and the client during
/// that.
@Suite(.limit(minutes: 1)) struct OutgoingHitTests {
    private static let length: Int64 = 24 << 20

    private static func isFilm(_ bytes: [UInt8], _ range: Range<Int64>, seed: UInt64 = 1) -> Bool {
        bytes == TestPattern.bytes(in: range, seed: seed)
    }

    /// The one data file of `bench`.
    private static func file(_ bench: Bench) throws -> String {
        try #require(DiskUse.mediaFiles(of: bench.directory.path).first)
    }

    /// A client that has read the head and the first bytes of a stored film, and reads no more.
    private static func begin(_ proxy: ProxyBench, _ path: String = "/film.mp4") async throws -> RawClient {
        let client = try RawClient(port: proxy.server.port, receiveBufferSize: 16 << 10)
        try await client.get(proxy.target(path))
        #expect(try await client.head().fields["cache-status"] == "reprise; hit")
        #expect(isFilm(try await client.body(1000), 0..<1000))
        return client
    }

    @Test(arguments: [true, false])
    func aFileThatIsCutOffWhileItIsSentEndsTheResponseAndStopsNothingElse(_ usesSendfile: Bool) async throws {
        try await ProxyBench.run(configureProxy: {
            $0.threads = 1
            $0.usesSendfile = usesSendfile
        }) { proxy async throws in
            proxy.bench.publish("/film.mp4", length: Self.length)
            _ = try await proxy.bench.bytes("/film.mp4")
            let client = try await Self.begin(proxy)
            let handle = try #require(FileHandle(forWritingAtPath: try Self.file(proxy.bench)))
            try handle.truncate(atOffset: 0)
            // Missing bytes are fetched again, or the response ends: never a wrong byte, never a busy loop.
            let rest = try await client.upTo(Int(Self.length) - 1000)
            #expect(Self.isFilm(rest, 1000..<1000 + Int64(rest.count)))
            let again = try await proxy.get("/film.mp4")
            let isWhole = Self.isFilm(again.body, 0..<Self.length)
            #expect(isWhole)
        }
    }

    @Test(arguments: [true, false])
    func aFilmWhoseExtentsAreEvictedWhileItIsSentIsWhole(_ usesSendfile: Bool) async throws {
        let clock = ShiftableClock()
        try await ProxyBench.run(
            configureProxy: { $0.usesSendfile = usesSendfile },
            configure: {
                $0.limit = 32 << 20
                $0.minimumFree = 0
                $0.clock = clock.cacheClock
            }
        ) { proxy async throws in
            proxy.bench.publish("/film.mp4", length: Self.length)
            proxy.bench.publish("/other.mp4", length: 20 << 20, seed: 2)
            _ = try await proxy.bench.bytes("/film.mp4")
            let client = try await Self.begin(proxy)
            // The film is then the one that was used longest ago, whatever second it is.
            clock.shift(by: .seconds(10))
            _ = try await proxy.bench.bytes("/other.mp4")
            #expect(proxy.bench.cache.storedBytes <= 32 << 20)
            let rest = try await client.body(Int(Self.length) - 1000)
            let isWhole = Self.isFilm(rest, 1000..<Self.length)
            #expect(isWhole)
            #expect(proxy.bench.origin.snapshot["/film.mp4"].requestCount > 1, "some of it had to be fetched again")
        }
    }

    @Test(arguments: [true, false])
    func aFilmThatIsRemovedWhileItIsSentIsWhole(_ usesSendfile: Bool) async throws {
        try await ProxyBench.run(configureProxy: { $0.usesSendfile = usesSendfile }) { proxy async throws in
            proxy.bench.publish("/film.mp4", length: Self.length)
            _ = try await proxy.bench.bytes("/film.mp4")
            let client = try await Self.begin(proxy)
            try await proxy.bench.cache.remove(proxy.bench.cache.resource(for: proxy.bench.origin.url("/film.mp4")).key)
            let rest = try await client.body(Int(Self.length) - 1000)
            let isWhole = Self.isFilm(rest, 1000..<Self.length)
            #expect(isWhole)
        }
    }

    @Test func onlyBytesThatLeftAreCounted() async throws {
        try await ProxyBench.run { proxy async throws in
            proxy.bench.publish("/film.mp4", length: Self.length)
            _ = try await proxy.bench.bytes("/film.mp4")
            let before = proxy.bench.cache.statistics
            for _ in 0..<5 { try await Self.begin(proxy).disconnect() }
            await eventually { proxy.server.connections == 0 }
            let left = proxy.bench.cache.statistics.bytesFromStore - before.bytesFromStore
            #expect(left < 5 * Self.length / 2, "5 films of 24 MiB were begun, and next to nothing was read")
            #expect(proxy.bench.cache.statistics.reads - before.reads == 5)
            let whole = try await proxy.get("/film.mp4", ["Range: bytes=0-9999"])
            #expect(whole.body.count == 10_000)
            await eventually { proxy.server.connections == 0 }
            #expect(proxy.bench.cache.statistics.bytesFromStore - before.bytesFromStore == left + 10_000)
        }
    }

    #if os(Linux)
        @Test func bytesThatAreNotInMemoryAreReadOffTheEventLoop() async throws {
            try await ProxyBench.run { proxy async throws in
                proxy.bench.publish("/film.mp4", length: Self.length)
                _ = try await proxy.bench.bytes("/film.mp4")
                let path = try Self.file(proxy.bench)
                guard try Self.drop(path) else {
                    return print("skipped: the file system of \(path) keeps no page out of memory, or cannot tell")
                }
                // Checking it may already bring it into memory.
                let small = try await proxy.get("/film.mp4", ["Range: bytes=5000000-5000999"])
                #expect(Self.isFilm(small.body, 5_000_000..<5_001_000))
                // Pages that are being read ahead stay until that is over.
                await eventually { (try? Self.drop(path)) == true }
                let cold = proxy.server.coldReads
                let large = try await proxy.get("/film.mp4", ["Range: bytes=1000000-2999999"])
                let isRight = Self.isFilm(large.body, 1_000_000..<3_000_000)
                #expect(isRight)
                #expect(proxy.server.coldReads > cold)
                let warm = proxy.server.coldReads
                _ = try await proxy.get("/film.mp4", ["Range: bytes=1000000-2999999"])
                #expect(proxy.server.coldReads == warm, "now it is in memory")
                #expect(proxy.bench.origin.snapshot.requestCount == 1)
            }
        }

        /// Drops the file at `path` from the page cache; false if that is impossible.
        private static func drop(_ path: String) throws -> Bool {
            let handle = try #require(FileHandle(forUpdatingAtPath: path))
            let descriptor = handle.fileDescriptor
            guard fsync(descriptor) == 0, posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED) == 0 else {
                return false
            }
            let file = try SystemFileSystem().open(path, create: false)
            var byte: UInt8 = 0
            // Near its end, because the check makes the system read ahead from there.
            return try withUnsafeMutableBytes(of: &byte) { try file.readResident(into: $0, at: length - 4096) == nil }
        }
    #endif
}
