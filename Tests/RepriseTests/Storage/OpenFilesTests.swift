import HTTPSemantics
import Primitives
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// How many descriptors a cache needs.
@Suite(.limit(minutes: 2)) struct OpenFilesTests {
    private static func pattern(_ range: Range<Int64>) -> [UInt8] { TestPattern.bytes(in: range, seed: 1) }

    @Test func filesOfIdleResourcesAreClosedAndOpenedAgain() async throws {
        let disk = FaultyDisk()
        try await Bench.run(configure: {
            $0.fileSystem = disk
            $0.openFiles = 20
        }) { bench async throws in
            for number in 0..<300 {
                bench.publish("/\(number)", length: 20_000)
                _ = try await bench.bytes("/\(number)", .bounded(0..<10_000))
                #expect(disk.openFiles <= 21)
            }
            await bench.cache.becomeIdle()
            let requests = bench.origin.snapshot.requestCount
            for number in 0..<300 {
                #expect(try await bench.bytes("/\(number)", .bounded(0..<10_000)) == Self.pattern(0..<10_000))
                #expect(disk.openFiles <= 21)
            }
            #expect(bench.origin.snapshot.requestCount == requests)
            // Missing bytes are written to a file that is reopened for it.
            #expect(try await bench.bytes("/3") == Self.pattern(0..<20_000))
            #expect(bench.cache.storedBytes == 3_010_000)
        }
    }

    @Test func aPieceKeepsItsDescriptorAndAReaderItsFile() async throws {
        let disk = FaultyDisk()
        try await Bench.run(configure: {
            $0.fileSystem = disk
            $0.openFiles = 1
        }) { bench async throws in
            bench.publish("/film", length: 3 << 20)
            _ = try await bench.bytes("/film")
            let film = try bench.cache.resource(for: bench.origin.url("/film"))
            let read = try await film.read()
            guard case .stored(let region) = try #require(try await read.next()) else { return }
            for number in 0..<10 {
                bench.publish("/\(number)", length: 10_000)
                _ = try await bench.bytes("/\(number)")
            }
            // Its name is removed while it is being read.
            _ = try await bench.cache.remove(film.key)
            for number in 0..<10 { _ = try await bench.bytes("/\(number)") }
            #expect(try region.bytes() == Self.pattern(region.range))
            #expect(try await read.collect() == Self.pattern(region.range.upperBound..<3 << 20))
        }
    }

    @Test(arguments: [EMFILE, ENFILE]) func noDescriptorIsTheTroubleOfOneRead(error: Int32) async throws {
        let disk = FaultyDisk()
        try await Bench.run(configure: {
            $0.fileSystem = disk
            $0.openFiles = 1
        }) { bench async throws in
            for name in ["/a", "/b", "/c"] {
                bench.publish(name, length: 100_000)
                _ = try await bench.bytes(name)
            }
            let log = EventLog(bench.cache)
            let requests = bench.origin.snapshot.requestCount
            disk.setOpenError(error)
            #expect(try await bench.bytes("/a") == Self.pattern(0..<100_000))
            #expect(bench.origin.snapshot.requestCount == requests + 1)
            let told = await log.first { if case .storeBypassed = $0 { true } else { false } }
            guard case .storeBypassed(_, let reason) = told else { return }
            #expect(reason.contains(String(cString: strerror(error))), "\(reason)")
            disk.setOpenError(nil)
            #expect(bench.cache.storedBytes == 300_000, "nothing of it was thrown away")
            #expect(try await bench.bytes("/a") == Self.pattern(0..<100_000))
            #expect(bench.origin.snapshot.requestCount == requests + 1)
            bench.publish("/d", length: 100_000)
            _ = try await bench.bytes("/d")
            #expect(bench.cache.storedBytes == 400_000, "the disk counts as broken")
        }
    }

    @Test(arguments: [EFBIG, EINVAL, EOVERFLOW]) func aFileThatCannotGrowIsNoBrokenDisk(error: Int32) async throws {
        let disk = FaultyDisk()
        try await Bench.run(configure: { $0.fileSystem = disk }) { bench async throws in
            bench.publish("/a", length: 300_000)
            bench.publish("/b", length: 300_000)
            disk.setFault { _ in .error(error) }
            #expect(try await bench.bytes("/a") == Self.pattern(0..<300_000))
            disk.setFault { _ in nil }
            #expect(try await bench.bytes("/b") == Self.pattern(0..<300_000))
            #expect(bench.cache.storedBytes == 300_000)
        }
    }
}
