import ByteRanges
import Foundation
import HTTPSemantics
import Primitives
import Reprise
import RepriseHTTPClient
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// The limit holds at every sample, and evictions match those of an ideal cache.
///
/// Sizes are a quarter of the real ones (16 MiB for 500 media of 256 KiB to 5 MiB) unless `REPRISE_LONG` is set.
@Suite(.serialized, .limit(minutes: 30)) struct LimitTests {
    private static let isLong = ProcessInfo.processInfo.environment["REPRISE_LONG"] != nil
    private static let mebibyte: Int64 = 1 << 20

    /// An LRU cache of 1 MiB extents that sees every access in order.
    private struct IdealCache {
        let capacity: Int64
        private var used: Int64 = 0
        private var time = 0
        private var extents: [String: (size: Int64, time: Int)] = [:]
        private(set) var hits: Int64 = 0
        private(set) var total: Int64 = 0

        init(capacity: Int64) { self.capacity = capacity }

        mutating func access(_ name: String, _ size: Int64) {
            time += 1
            total += size
            if extents[name] != nil {
                hits += size
            } else {
                used += size
                while used > capacity, let oldest = extents.min(by: { $0.value.time < $1.value.time }) {
                    used -= oldest.value.size
                    extents[oldest.key] = nil
                }
            }
            extents[name] = (size, time)
        }

        var ratio: Double { Double(hits) / Double(max(total, 1)) }
    }

    @Test func theLimitHoldsAndTheRightOnesGo() async throws {
        let scale: Int64 = Self.isLong ? 1 : 4
        let limit = 64 * Self.mebibyte / scale
        try await Bench.run(configure: { $0.limit = limit }) { bench async throws in
            var random = SeededGenerator(seed: 11)
            let lengths = (0..<500).map { _ in
                Int64.random(in: Self.mebibyte...20 * Self.mebibyte, using: &random) / scale
            }
            for (index, length) in lengths.enumerated() {
                bench.publish("/\(index)", length: length, seed: UInt64(index))
            }
            let ideal = Mutex(IdealCache(capacity: limit))
            let peak = Mutex(Int64(0))
            let hits = Mutex(Int64(0))
            let served = Mutex(Int64(0))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for client in 0..<8 {
                    group.addTask {
                        var random = SeededGenerator(seed: UInt64(client) + 100)
                        for _ in 0..<(Self.isLong ? 60 : 25) {
                            // Popular ones are requested much more often than others.
                            let index = min(499, Int(pow(500, Double.random(in: 0..<1, using: &random))) - 1)
                            let read = try await bench.cache.resource(for: bench.origin.url("/\(index)")).read()
                            var position: Int64 = 0
                            while let piece = try await read.next() {
                                let end = position + Int64(piece.count)
                                for extent in position / Self.mebibyte...(end - 1) / Self.mebibyte
                                where extent * Self.mebibyte >= position {
                                    let size = min(Self.mebibyte, lengths[index] - extent * Self.mebibyte)
                                    ideal.withLock { $0.access("\(index)/\(extent)", size) }
                                }
                                position = end
                                let used = DiskUse.bytes(under: bench.directory.path) { $0 <= limit + Self.mebibyte }
                                peak.withLock { $0 = max($0, used) }
                            }
                            #expect(position == lengths[index])
                            let reused = read.servedBytes(from: .store) + read.servedBytes(from: .joined)
                            hits.withLock { $0 += reused }
                            served.withLock { $0 += position }
                        }
                    }
                }
                try await group.waitForAll()
            }
            let top = peak.withLock { $0 }
            #expect(top <= limit + Self.mebibyte, "\(top - limit) bytes above the limit")
            #expect(top > limit * 8 / 10)
            let real = Double(hits.withLock { $0 }) / Double(served.withLock { $0 })
            let best = ideal.withLock { $0.ratio }
            print("hit ratio \(real), ideal \(best), \(served.withLock { $0 }) bytes")
            #expect(real > best - 0.02, "hit ratio \(real), ideal \(best)")
        }
    }

    /// 1 GB under 100 MB, or a tenth of each.
    @Test(arguments: [false, true]) func anEntryTenTimesTheLimitPlaysAndSeeksBack(isSealed: Bool) async throws {
        let length: Int64 = Self.isLong ? 1_000_000_000 : 100_000_000
        let limit = length / 10
        let key = try #require(KeyFile.key(hexadecimal: String(repeating: "01", count: 32)))
        try await Bench.run(configure: {
            $0.limit = limit
            if isSealed { $0.encryption = CacheEncryption(key: key) }
        }) { bench async throws in
            bench.publish("/film", length: length)
            let log = EventLog(bench.cache)
            let resource = try bench.cache.resource(for: bench.origin.url("/film"))
            var peak: Int64 = 0
            for range in [0..<length, length / 2..<length / 2 + 5_000_000, 0..<3_000_000] {
                let read = try await resource.read(.bounded(range))
                var position = range.lowerBound
                while let piece = try await read.next() {
                    let end = position + Int64(piece.count)
                    let isRight = try piece.bytes() == TestPattern.bytes(in: position..<end, seed: 1)
                    #expect(isRight, "wrong bytes in \(position)..<\(end)")
                    position = end
                    peak = max(peak, DiskUse.bytes(under: bench.directory.path))
                }
                #expect(position == range.upperBound)
            }
            #expect(peak <= limit + Self.mebibyte, "\(peak - limit) bytes above the limit")
            #expect(peak > limit * 8 / 10)
            // Beginning and end are still stored, because players look for the file's structure there.
            let stored = await resource.storedProgress().ranges
            #expect(stored.contains(0..<Self.mebibyte / 2))
            #expect(stored.contains(length - 1000..<length))
            await bench.cache.close()
            let bypasses = await log.all().filter { if case .storeBypassed = $0 { true } else { false } }
            #expect(bypasses.isEmpty, "\(bypasses)")
        }
    }

    @Test func whatIsBeingReadStaysWhereItIs() async throws {
        try await Bench.run(configure: { $0.limit = 10_000_000 }) { bench async throws in
            bench.publish("/film", length: 60_000_000)
            let resource = try bench.cache.resource(for: bench.origin.url("/film"))
            let first = try await resource.read(.bounded(3 << 20..<4 << 20))
            var held: [MediaPiece] = []
            while let piece = try await first.next() { held.append(piece) }
            _ = try await resource.read().drain()
            var position: Int64 = 3 << 20
            for piece in held {
                let end = position + Int64(piece.count)
                #expect(try piece.bytes() == TestPattern.bytes(in: position..<end, seed: 1))
                position = end
            }
            // Once it is no longer held, it is evicted like the rest.
            held = []
            _ = try await resource.read(.bounded(20_000_000..<60_000_000)).drain()
            #expect(await !resource.storedProgress().ranges.contains(3 << 20..<4 << 20))
        }
    }

    @Test func aFileSystemWithoutHolesStreamsOn() async throws {
        let disk = FaultyDisk()
        disk.forbidPunching()
        try await Bench.run(configure: {
            $0.limit = 10_000_000
            $0.fileSystem = disk
        }) { bench async throws in
            bench.publish("/film", length: 20_000_000)
            #expect(try await bench.bytes("/film") == TestPattern.bytes(in: 0..<20_000_000, seed: 1))
            #expect(DiskUse.bytes(under: bench.directory.path) <= 10_000_000 + Self.mebibyte)
        }
    }

    @Test func anEntryOverItsOwnLimitIsNotStored() async throws {
        try await Bench.run(configure: { $0.entryLimit = 300_000 }) { bench async throws in
            bench.publish("/large", length: 400_000)
            bench.publish("/small", length: 200_000)
            bench.publish("/unknown", length: 900_000) { $0.framing = .chunked }
            for (path, length) in [("/large", Int64(400_000)), ("/small", 200_000), ("/unknown", 900_000)] {
                #expect(try await bench.bytes(path) == TestPattern.bytes(in: 0..<length, seed: 1))
            }
            let entries = try await bench.cache.entries()
            #expect(entries.allSatisfy { $0.allocatedBytes <= 300_000 + 128 << 10 })
            #expect(!entries.contains { $0.url.lastPathComponent == "large" })
        }
    }

    @Test func whatIsTooOldGoes() async throws {
        let clock = ShiftableClock()
        try await Bench.run(configure: { $0.clock = clock.cacheClock }) { bench async throws in
            for path in ["/old", "/new"] { bench.publish(path, length: 100_000) }
            _ = try await bench.bytes("/old")
            clock.shift(by: .seconds(86_400 * 9))
            _ = try await bench.bytes("/new")
            clock.shift(by: .seconds(86_400 * 2))
            await bench.cache.prune(olderThan: .seconds(86_400 * 10))
            #expect(try await bench.cache.entries().map(\.url.lastPathComponent) == ["new"])
            await bench.cache.prune(toSize: 0)
            #expect(try await bench.cache.entries().isEmpty)
            #expect(bench.cache.storedBytes == 0)
            #expect(bench.cache.allocatedBytes.media == 0)
        }
    }

    /// A file system of 6 MB: the limit is far above its size.
    @Test func aRealDiskThatFillsUpNeverStopsPlayback() async throws {
        let directory = try TemporaryDirectory()
        guard try await Self.mount(directory.path) else {
            print("skipped: a small file system can be mounted by root on Linux only")
            return
        }
        let origin = try await TestOrigin.start()
        let result: Result<Void, any Error>
        do { result = .success(try await Self.fill(directory.path + "/cache", origin)) } catch {
            result = .failure(error)
        }
        await origin.stop()
        _ = try await ChildProcess.run("/bin/umount", ["-l", directory.path])
        try result.get()
    }

    private static func mount(_ path: String) async throws -> Bool {
        #if os(Linux)
            guard getuid() == 0, FileManager.default.isExecutableFile(atPath: "/bin/mount") else { return false }
            let outcome = try await ChildProcess.run("/bin/mount", ["-t", "tmpfs", "-o", "size=6m", "tmpfs", path])
            return outcome.exit == .status(0)
        #else
            return false
        #endif
    }

    private static func fill(_ directory: String, _ origin: TestOrigin) async throws {
        for index in 0..<12 {
            origin.set(TestOrigin.Resource(.pattern(seed: UInt64(index), length: 1_700_000)), at: "/\(index)")
        }
        let client = NIOOrigin()
        var configuration = MediaCache.Configuration()
        configuration.minimumFree = 0
        let cache = try await MediaCache.open(directory: directory, origin: client, configuration: configuration)
        for index in 0..<12 {
            let read = try await cache.resource(for: origin.url("/\(index)")).read()
            #expect(try await read.collect() == TestPattern.bytes(in: 0..<1_700_000, seed: UInt64(index)))
        }
        #expect(cache.storedBytes > 0)
        await cache.close()
        let again = try await MediaCache.open(directory: directory, origin: client, configuration: configuration)
        for index in 0..<12 {
            let read = try await again.resource(for: origin.url("/\(index)")).read()
            #expect(try await read.collect() == TestPattern.bytes(in: 0..<1_700_000, seed: UInt64(index)))
        }
        await again.close()
        await client.shutdown()
    }
}
