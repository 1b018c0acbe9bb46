import ByteRanges
import Foundation
import HTTPSemantics
import HTTPTypes
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// Downloads run two at a time, end when they cannot be stored, and are not restarted when they are complete.
@Suite(.limit(minutes: 2)) struct DownloadTests {
    private static func end(_ log: EventLog) async -> RepriseError? {
        guard case .downloadEnded(_, let error) = await log.first(isEnd) else { return nil }
        return error
    }

    private static func isEnd(_ event: CacheEvent) -> Bool {
        if case .downloadEnded = event { true } else { false }
    }

    @Test(arguments: [false, true]) func aFinishedDownloadIsLeftAlone(varies: Bool) async throws {
        try await Bench.run { bench async throws in
            bench.publish("/film", length: 300_000) { if varies { $0.fields = [.vary: "Accept-Language"] } }
            let log = EventLog(bench.cache)
            try await bench.cache.retain(try bench.cache.resource(for: bench.origin.url("/film")), as: .download)
            #expect(await Self.end(log) == nil)
            let requests = bench.origin.snapshot.requestCount
            try await bench.reopened { cache async throws in
                #expect(await cache.downloads.list().map(\.fraction) == [1])
                // It would come before this one.
                bench.publish("/other", length: 1_000)
                let log = EventLog(cache)
                let other = try cache.resource(for: bench.origin.url("/other"))
                try await cache.retain(other, as: .download)
                guard case .downloadEnded(other.key, nil) = await log.first(Self.isEnd) else {
                    Issue.record("the finished download was begun again")
                    return
                }
            }
            #expect(bench.origin.snapshot.requestCount == requests + 1)
        }
    }

    @Test func twoRunAtOnce() async throws {
        try await Bench.run { bench async throws in
            let log = EventLog(bench.cache)
            for name in ["/a", "/b", "/c"] {
                bench.publish(name, length: 300_000)
                if name != "/c" { bench.origin.hold(name, at: 100_000) }
                try await bench.cache.retain(try bench.cache.resource(for: bench.origin.url(name)), as: .download)
            }
            for name in ["/a", "/b"] {
                #expect(try await bench.bytes(name, .bounded(0..<90_000)).count == 90_000)
            }
            // Only the two before it hold the third back.
            #expect(try await bench.bytes("/c").count == 300_000)
            for name in ["/a", "/b"] { bench.origin.release(name) }
            var ends: [CacheKey] = []
            while ends.count < 3, case .downloadEnded(let key, let error) = await log.first(Self.isEnd) {
                #expect(error == nil)
                ends.append(key)
            }
            #expect(ends.count == 3)
            #expect(ends.first?.text != bench.origin.url("/c"))
            #expect(try await bench.cache.entries().filter(\.isComplete).count == 3)
        }
    }

    @Test func whatIsLargerThanTheLimitIsNotFetched() async throws {
        try await Bench.run(configure: { $0.limit = 10_000_000 }) { bench async throws in
            bench.publish("/film", length: 60_000_000)
            bench.origin.hold("/film", at: 1_000_000)
            let log = EventLog(bench.cache)
            try await bench.cache.retain(try bench.cache.resource(for: bench.origin.url("/film")), as: .download)
            #expect(await Self.end(log)?.code == .storageFull)
            #expect(bench.origin.snapshot.bodyBytesSent <= 1_000_000)
        }
    }

    @Test("a download that cannot fit evicts nothing and is not fetched")
    func aDownloadThatCannotFitEvictsNothing() async throws {
        try await Bench.run(configure: { $0.limit = 10_000_000 }) { bench async throws in
            for name in ["/a", "/b"] {
                bench.publish(name, length: 3_000_000)
                _ = try await bench.bytes(name)
            }
            bench.publish("/d", length: 9_000_000)
            let pinned = try bench.cache.resource(for: bench.origin.url("/a"))
            try await bench.cache.retain(pinned, as: .pinned)
            // A part of it that is stored does not count against it.
            _ = try await bench.bytes("/d", .bounded(0..<100_000))
            let before = bench.cache.statistics.bytesFetched
            let log = EventLog(bench.cache)
            let film = try bench.cache.resource(for: bench.origin.url("/d"))
            try await bench.cache.retain(film, as: .download)
            let ended = await log.first { if case .downloadEnded = $0 { true } else { false } }
            guard case .downloadEnded(_, let error?) = ended else { throw Missing() }
            #expect(error.code == .storageFull)
            #expect(error.message.contains("pinned entries"), "\(error)")
            await bench.cache.becomeIdle()
            #expect(bench.cache.statistics.bytesFetched == before)
            #expect(Set(try await bench.cache.entries().map(\.url.target)) == ["/a", "/b", "/d"])
        }
    }

    private struct Missing: Error {}

    @Test(arguments: [false, true]) func whatCannotBeStoredIsNotFetchedToItsEnd(isSealed: Bool) async throws {
        let disk = FaultyDisk()
        let key = try #require(KeyFile.key(hexadecimal: String(repeating: "5a", count: 32)))
        try await Bench.run(configure: {
            $0.fileSystem = disk
            $0.encryption = isSealed ? CacheEncryption(key: key) : nil
        }) { bench async throws in
            bench.publish("/film", length: 60_000_000)
            bench.origin.hold("/film", at: 30_000_000)
            disk.setFault { $0 > 3 ? .error(EIO) : nil }
            let log = EventLog(bench.cache)
            try await bench.cache.retain(try bench.cache.resource(for: bench.origin.url("/film")), as: .download)
            #expect(await Self.end(log)?.code == .storageUnavailable)
        }
    }

    @Test("bytes that do not fit on the disk are asked for once", arguments: [true, false])
    func whatDoesNotFitIsAskedForOnce(hasValidator: Bool) async throws {
        let disk = FaultyDisk()
        try await Bench.run(configure: { $0.fileSystem = disk }) { bench async throws in
            bench.publish("/film", length: 2_000_000, etag: hasValidator ? "\"1\"" : nil)
            disk.setFault { [cache = bench.cache] _ in
                cache.statistics.bytesFetched < 500_000 ? nil : .error(ENOSPC)
            }
            let log = EventLog(bench.cache)
            try await bench.cache.retain(try bench.cache.resource(for: bench.origin.url("/film")), as: .download)
            #expect(await Self.end(log)?.code == .storageFull)
            #expect(await bench.origin.settledSnapshot().requests.count == 1)
        }
    }

    @Test func aFullDiskIsNamedAndNotTheLimit() async throws {
        let disk = FaultyDisk()
        disk.setFreeBytes { 1_000_000 }
        try await Bench.run(configure: {
            $0.fileSystem = disk
            $0.minimumFree = 200_000_000
        }) { bench async throws in
            bench.publish("/film", length: 3_000_000)
            let log = EventLog(bench.cache)
            try await bench.cache.retain(try bench.cache.resource(for: bench.origin.url("/film")), as: .download)
            let error = await Self.end(log)
            #expect(error?.code == .storageFull)
            #expect(error?.message.contains("minimumFree") == true, "\(error?.message ?? "")")
        }
    }

    @Test(
        "a file that cannot be made for want of room is such a lack, although bytes are free",
        arguments: [ENOSPC, EDQUOT])
    func noRoomForAnotherFile(error number: Int32) async throws {
        let disk = FaultyDisk()
        try await Bench.run(configure: { $0.fileSystem = disk }) { bench async throws in
            bench.publish("/film", length: 3_000_000)
            disk.setOpenError(number)
            let log = EventLog(bench.cache)
            try await bench.cache.retain(try bench.cache.resource(for: bench.origin.url("/film")), as: .download)
            let error = await Self.end(log)
            #expect(error?.code == .storageFull, "\(error?.message ?? "")")
        }
    }

    @Test func aFolderThatCannotBeWrittenIsNamedAndNotTheLimit() async throws {
        let disk = FaultyDisk()
        try await Bench.run(configure: { $0.fileSystem = disk }) { bench async throws in
            bench.publish("/film", length: 3_000_000)
            disk.setOpenError(13)
            let log = EventLog(bench.cache)
            try await bench.cache.retain(try bench.cache.resource(for: bench.origin.url("/film")), as: .download)
            let error = await Self.end(log)
            #expect(error?.code == .storageUnavailable)
            #expect(error?.message.contains("Permission denied") == true, "\(error?.message ?? "")")
        }
    }

    @Test func whatMustNotBeStoredIsNotFetched() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/film", length: 60_000_000) { $0.fields = [.cacheControl: "no-store"] }
            bench.origin.hold("/film", at: 1_000_000)
            let log = EventLog(bench.cache)
            try await bench.cache.retain(try bench.cache.resource(for: bench.origin.url("/film")), as: .download)
            #expect(await Self.end(log)?.code == .notStored)
        }
    }

    @Test func aDownloadThatIsReleasedAndWantedAgainGoesOn() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/film", length: 300_000)
            bench.origin.hold("/film", at: 100_000)
            let log = EventLog(bench.cache)
            let resource = try bench.cache.resource(for: bench.origin.url("/film"))
            for retention in [Retention.download, .cached, .download] {
                try await bench.cache.retain(resource, as: retention)
            }
            bench.origin.release("/film")
            #expect(await Self.end(log) == nil)
            #expect(await resource.storedProgress().ranges.contains(0..<300_000))
            #expect(try await bench.cache.retention(of: resource) == .download)
        }
    }

    @Test func aRefusedPinLeavesTheOneBefore() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 400_000)
            _ = try await bench.bytes("/a")
            try await bench.cache.retain(
                try bench.cache.resource(for: bench.origin.url("/a")), as: .pinned(until: nil))
            try await bench.reopened(configure: { $0.limit = 100_000 }) { cache async throws in
                let resource = try cache.resource(for: bench.origin.url("/a"))
                await #expect(throws: RepriseError.self) {
                    try await cache.retain(resource, as: .pinned(until: .distantFuture))
                }
                #expect(try await cache.retention(of: resource) == .pinned(until: nil))
            }
        }
    }
}
