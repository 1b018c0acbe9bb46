import Foundation
import GRDB
import HTTPSemantics
import Primitives
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A failing disk never breaks playback, and never causes a wrong byte.
@Suite(.limit(minutes: 3)) struct DiskFaultTests {
    private static func pattern(_ range: Range<Int64>) -> [UInt8] { TestPattern.bytes(in: range, seed: 1) }
    private static let errors = [ENOSPC, EDQUOT, EIO, EROFS, EACCES]

    @Test(arguments: errors, [1, 2, 5]) func aWriteThatFailsOnceIsTriedAgain(error: Int32, number: Int) async throws {
        let disk = FaultyDisk()
        try await Bench.run(configure: { $0.fileSystem = disk }) { bench async throws in
            bench.publish("/a", length: 1_000_000)
            disk.setFault { $0 == number ? .error(error) : nil }
            #expect(try await bench.bytes("/a") == Self.pattern(0..<1_000_000))
            #expect(bench.cache.storedBytes == 1_000_000)
            #expect(bench.origin.snapshot.requestCount == 1)
        }
    }

    @Test(arguments: errors, [1, 3]) func aDiskThatKeepsFailingIsLeftAloneForAMinute(
        error: Int32, number: Int
    ) async throws {
        let disk = FaultyDisk()
        let clock = ShiftableClock()
        try await Bench.run(configure: {
            $0.fileSystem = disk
            $0.clock = clock.cacheClock
        }) { bench async throws in
            bench.publish("/a", length: 1_000_000)
            bench.publish("/b", length: 300_000)
            let log = EventLog(bench.cache)
            disk.setFault { $0 >= number ? .error(error) : nil }
            #expect(try await bench.bytes("/a") == Self.pattern(0..<1_000_000))
            let told = await log.first { if case .storeBypassed = $0 { true } else { false } }
            guard case .storeBypassed(_, let reason) = told else { return }
            #expect(reason.contains("(\(String(cString: strerror(error))))"), "\(reason)")
            let writes = disk.writeCount
            #expect(try await bench.bytes("/b") == Self.pattern(0..<300_000))
            #expect(disk.writeCount == writes, "the disk is asked again within the minute")
            disk.setFault { _ in nil }
            clock.shift(by: .seconds(61))
            #expect(try await bench.bytes("/b") == Self.pattern(0..<300_000))
            #expect(try await bench.bytes("/a") == Self.pattern(0..<1_000_000))
            #expect(bench.cache.storedBytes == 1_300_000)
        }
    }

    @Test("the minute is the disk's: a file that meets it late is stored again when the others are")
    func theMinuteIsTheDisks() async throws {
        let (disk, clock) = (FaultyDisk(), ShiftableClock())
        try await Bench.run(configure: {
            $0.fileSystem = disk
            $0.clock = clock.cacheClock
        }) { bench async throws in
            bench.publish("/a", length: 300_000)
            bench.publish("/b", length: 300_000)
            _ = try await bench.bytes("/b", .bounded(0..<100_000))
            await bench.cache.becomeIdle()
            // Someone else plays it: what is known of it stays in memory.
            let file = try bench.cache.resource(for: bench.origin.url("/b"))
            let other = try await file.read(0..<100_000)
            defer { other.cancel() }
            disk.setFault { _ in .error(ENOSPC) }
            _ = try await bench.bytes("/a")
            disk.setFault { _ in nil }
            clock.shift(by: .seconds(40))
            #expect(try await bench.bytes("/b") == Self.pattern(0..<300_000))
            #expect(bench.cache.storedBytes < 200_000, "the disk is left alone")
            clock.shift(by: .seconds(21))
            #expect(try await bench.bytes("/b") == Self.pattern(0..<300_000))
            #expect(await file.storedProgress().ranges.byteCount == 300_000)
        }
    }

    @Test("a folder that cannot be written is the reason, and not the limit")
    func aFolderThatCannotBeWrittenIsTheReason() async throws {
        let disk = FaultyDisk()
        try await Bench.run(configure: { $0.fileSystem = disk }) { bench async throws in
            bench.publish("/a", length: 200_000)
            disk.setOpenError(EACCES)
            let whole = try await bench.cache.resource(for: bench.origin.url("/a")).readWhole()
            guard case .store(let reason)? = whole.obstacle else {
                Issue.record("\(String(describing: whole.obstacle))")
                return
            }
            #expect(reason.contains(String(cString: strerror(EACCES))), "\(reason)")
            #expect(try await whole.read.collect() == Self.pattern(0..<200_000))
        }
    }

    @Test("a file that changes as the disk fails ends the read: no bytes of the new one (RFC 9110 §13.1.5)")
    func theFileChangesAsTheDiskFails() async throws {
        let disk = FaultyDisk()
        try await Bench.run(configure: { $0.fileSystem = disk }) { bench async throws in
            bench.publish("/a", length: 1_000_000)
            let read = try await bench.cache.resource(for: bench.origin.url("/a")).read()
            disk.setFault { number in
                guard number >= 3 else { return nil }
                bench.publish("/a", length: 1_000_000, seed: 2, etag: "\"v2\"")
                return .error(EIO)
            }
            var bytes: [UInt8] = []
            let error = await #expect(throws: RepriseError.self) {
                while let more = try await read.nextBytes() { bytes += more }
            }
            #expect(error?.code == .validatorChanged)
            #expect(bytes == Self.pattern(0..<Int64(bytes.count)))
        }
    }

    @Test("bytes that are not stored come whole, though each of their connections fails")
    func connectionsFailAsTheDiskDoes() async throws {
        let disk = FaultyDisk()
        try await Bench.run(configure: {
            $0.fileSystem = disk
            $0.retry.firstDelay = .zero
        }) { bench async throws in
            bench.publish("/a", length: 1_000_000)
            let read = try await bench.cache.resource(for: bench.origin.url("/a")).read()
            disk.setFault { number in
                guard number >= 3 else { return nil }
                bench.publish("/a", length: 1_000_000) { $0.truncateAfter = 200_000 }
                return .error(EIO)
            }
            let isRight = try await read.collect() == Self.pattern(0..<1_000_000)
            #expect(isRight)
            #expect(read.isPastStore)
            #expect(bench.origin.snapshot.requestCount > 3)
        }
    }

    @Test func whatCannotBeReadOnceIsFetchedAndStoredAgain() async throws {
        let disk = FaultyDisk()
        try await Bench.run(configure: { $0.fileSystem = disk }) { bench async throws in
            bench.publish("/a", length: 1_000_000)
            _ = try await bench.bytes("/a")
            let log = EventLog(bench.cache)
            let isRead = Mutex(false)
            disk.setReadError { offset in
                isRead.withLock { isRead in
                    guard !isRead, offset <= 500_000 else { return nil }
                    isRead = true
                    return EIO
                }
            }
            #expect(try await bench.bytes("/a", .from(400_000)) == Self.pattern(400_000..<1_000_000))
            _ = await log.first { if case .verificationFailed = $0 { true } else { false } }
            #expect(bench.cache.statistics.bytesServed == 1_600_000)
            let requests = bench.origin.snapshot.requestCount
            #expect(requests == 2)
            #expect(try await bench.bytes("/a") == Self.pattern(0..<1_000_000))
            #expect(bench.origin.snapshot.requestCount == requests + 1, "the chunk began before the read")
            _ = try await bench.bytes("/a")
            #expect(bench.origin.snapshot.requestCount == requests + 1)
            #expect(bench.cache.storedBytes == 1_000_000)
        }
    }

    private static let encryption = KeyFile.key(hexadecimal: String(repeating: "5a", count: 32)).map {
        CacheEncryption(key: $0)
    }

    @Test func sealedBytesThatTheDiskLosesDoNotStopPlayback() async throws {
        let disk = FaultyDisk()
        try await Bench.run(configure: {
            $0.fileSystem = disk
            $0.encryption = Self.encryption
        }) { bench async throws in
            bench.publish("/a", length: 1_000_000)
            let log = EventLog(bench.cache)
            disk.setFault { _ in .lost }
            #expect(try await bench.bytes("/a") == Self.pattern(0..<1_000_000))
            let told = await log.first { if case .storeBypassed = $0 { true } else { false } }
            guard case .storeBypassed(_, let reason) = told else { return }
            #expect(reason.hasSuffix("does not keep what is written."), "\(reason)")
        }
    }

    @Test(arguments: [false, true]) func aDiskThatCannotBeReadIsLeftAloneForAMinute(isSealed: Bool) async throws {
        let disk = FaultyDisk()
        let clock = ShiftableClock()
        try await Bench.run(configure: {
            $0.fileSystem = disk
            $0.clock = clock.cacheClock
            $0.encryption = isSealed ? Self.encryption : nil
        }) { bench async throws in
            bench.publish("/a", length: 1_000_000)
            _ = try await bench.bytes("/a")
            let log = EventLog(bench.cache)
            disk.setReadError { _ in EIO }
            #expect(try await bench.bytes("/a") == Self.pattern(0..<1_000_000))
            let told = await log.first { if case .storeBypassed = $0 { true } else { false } }
            guard case .storeBypassed(_, let reason) = told else { return }
            #expect(reason.hasPrefix("Cannot read"), "\(reason)")
            disk.setReadError(nil)
            clock.shift(by: .seconds(61))
            #expect(try await bench.bytes("/a") == Self.pattern(0..<1_000_000))
            #expect(bench.cache.storedBytes == 1_000_000)
        }
    }

    @Test("a file that was cut off gives no zeros where its end is written again")
    func aFileThatWasCutOffHasNoZeros() async throws {
        try await Bench.run { bench async throws in
            let length: Int64 = 8 << 20
            bench.publish("/film", length: length)
            let film = try bench.cache.resource(for: bench.origin.url("/film"))
            _ = try await film.read().collect()
            await bench.cache.becomeIdle()
            for file in DiskUse.mediaFiles(of: bench.directory.path) { #expect(truncate(file, 1 << 20) == 0) }
            // The end comes first: from then on the file is as long as it was.
            for range in [(7 << 20)..<length, (2 << 20)..<(4 << 20), 0..<length] {
                let bytes = try await film.read(range).collect()
                let isRight = bytes == TestPattern.bytes(in: range, seed: 1)
                #expect(isRight, "\(range)")
            }
        }
    }

    @Test func aFileThatWasCutShortMeanwhileIsFetchedAgain() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 1_000_000)
            _ = try await bench.bytes("/a")
            for file in DiskUse.mediaFiles(of: bench.directory.path) { #expect(truncate(file, 300_000) == 0) }
            #expect(try await bench.bytes("/a") == Self.pattern(0..<1_000_000))
            #expect(bench.origin.snapshot.bytesSentMoreThanOnce <= 1_000_000)
            #expect(bench.cache.storedBytes == 1_000_000)
        }
    }

    @Test func aFullDiskEvictsAndGoesOn() async throws {
        let disk = FaultyDisk()
        try await Bench.run(configure: { $0.fileSystem = disk }) { bench async throws in
            bench.publish("/old", length: 400_000)
            bench.publish("/new", length: 400_000)
            _ = try await bench.bytes("/old")
            disk.setFault { $0 == 1 ? .error(ENOSPC) : nil }
            #expect(try await bench.bytes("/new") == Self.pattern(0..<400_000))
            #expect(try await bench.cache.entries().map(\.url.lastPathComponent) == ["new"])
        }
    }

    @Test func shortWritesAreGoneOnWith() async throws {
        let disk = FaultyDisk()
        try await Bench.run(configure: { $0.fileSystem = disk }) { bench async throws in
            bench.publish("/a", length: 200_000)
            disk.setFault { .short($0 % 977 + 1) }
            #expect(try await bench.bytes("/a") == Self.pattern(0..<200_000))
            try await bench.reopened { cache async throws in
                let read = try await cache.resource(for: bench.origin.url("/a")).read()
                #expect(try await read.collect() == Self.pattern(0..<200_000))
                #expect(bench.origin.snapshot.requestCount == 1)
            }
        }
    }

    @Test(arguments: [EACCES, EROFS, ENOSPC, EMFILE]) func aFileThatCannotBeMadeIsStreamed(error: Int32) async throws {
        let disk = FaultyDisk()
        try await Bench.run(configure: { $0.fileSystem = disk }) { bench async throws in
            bench.publish("/a", length: 200_000)
            disk.setOpenError(error)
            #expect(try await bench.bytes("/a") == Self.pattern(0..<200_000))
            disk.setOpenError(nil)
            #expect(try await bench.bytes("/a") == Self.pattern(0..<200_000))
            #expect(bench.cache.storedBytes == 200_000)
        }
    }

    @Test(arguments: [0, 1, 2, 3, 4, 5]) func pagesThatNeverReachedTheDiskAreFetchedAgain(seed: UInt64) async throws {
        let disk = FaultyDisk()
        try await Bench.run(configure: { $0.fileSystem = disk }) { bench async throws in
            bench.publish("/a", length: 1_000_000)
            disk.keepJournal()
            _ = try await bench.bytes("/a", .bounded(1_000..<700_000))
            _ = try await bench.bytes("/a", .bounded(650_000..<1_000_000))
            await bench.cache.close()
            var random = SeededGenerator(seed: seed)
            // All, every other one, or single ones: in each case a record exists without its bytes.
            let share = [1.0, 0.5, 0.05][Int(seed % 3)]
            let lost = try disk.cutPower { _ in Double.random(in: 0..<1, using: &random) < share }
            #expect(lost > 0)
            try await bench.reopened { cache async throws in
                let resource = try cache.resource(for: bench.origin.url("/a"))
                #expect(try await resource.read().collect() == Self.pattern(0..<1_000_000))
                #expect(try await resource.read().collect() == Self.pattern(0..<1_000_000))
            }
        }
    }

    @Test func writesThatWereOnlyReportedAreFetchedAgain() async throws {
        let disk = FaultyDisk()
        try await Bench.run(configure: { $0.fileSystem = disk }) { bench async throws in
            bench.publish("/a", length: 500_000)
            disk.setFault { $0 % 2 == 0 ? .lost : nil }
            // This process trusts what it wrote; the next one verifies it.
            _ = try await bench.cache.resource(for: bench.origin.url("/a")).read().drain()
            try await bench.reopened { cache async throws in
                let resource = try cache.resource(for: bench.origin.url("/a"))
                #expect(try await resource.read().collect() == Self.pattern(0..<500_000))
            }
        }
    }

    @Test func aDirectoryThatIsDeletedMeanwhileDoesNotStopAnything() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 3_000_000)
            bench.publish("/b", length: 300_000)
            let resource = try bench.cache.resource(for: bench.origin.url("/a"))
            let read = try await resource.read()
            var bytes = try #require(try await read.next()).bytes()
            try FileManager.default.removeItem(atPath: bench.directory.path)
            let obstacle = await resource.obstacle(toStoring: 3_000_000).map { "\($0)" }
            #expect(obstacle?.contains("\(bench.directory.path) is gone") == true, "\(obstacle ?? "nothing is said")")
            while let piece = try await read.next() { bytes += try piece.bytes() }
            #expect(bytes == Self.pattern(0..<3_000_000))
            #expect(try await bench.bytes("/b") == Self.pattern(0..<300_000))
            #expect(try await bench.bytes("/a", .suffix(10)) == Self.pattern(2_999_990..<3_000_000))
        }
    }

    @Test("what was stored and then removed by others is missed", arguments: ["media", "catalogue.sqlite"])
    func lostFiles(name: String) async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 300_000)
            let resource = try bench.cache.resource(for: bench.origin.url("/a"))
            let read = try await resource.read()
            while try await read.next() != nil {}
            #expect(await resource.loss() == nil)
            try FileManager.default.removeItem(atPath: bench.directory.path(of: name))
            #expect(await resource.loss() != nil)
        }
    }

    @Test func freeSpaceIsLeft() async throws {
        let disk = FaultyDisk()
        try await Bench.run(configure: {
            $0.fileSystem = disk
            $0.minimumFree = 1_000_000
        }) { bench async throws in
            bench.publish("/a", length: 300_000)
            let directory = bench.directory.path
            disk.setFreeBytes { 1_100_000 - DiskUse.bytes(under: directory + "/media") }
            #expect(try await bench.bytes("/a") == Self.pattern(0..<300_000))
            #expect(bench.cache.storedBytes <= 100_000)
            disk.setFreeBytes { 10_000_000 }
            bench.publish("/b", length: 300_000)
            #expect(try await bench.bytes("/b") == Self.pattern(0..<300_000))
            #expect(bench.cache.storedBytes >= 300_000)
        }
    }

    @Test func aFileThatIsGoneIsForgotten() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 300_000)
            _ = try await bench.bytes("/a")
            await bench.cache.close()
            for file in DiskUse.mediaFiles(of: bench.directory.path) {
                try FileManager.default.removeItem(atPath: file)
            }
            try await bench.reopened { cache async throws in
                let resource = try cache.resource(for: bench.origin.url("/a"))
                #expect(try await resource.read().collect() == Self.pattern(0..<300_000))
                #expect(cache.storedBytes == 300_000)
            }
        }
    }

    @Test(arguments: [EMFILE, EIO, EACCES]) func aFileThatCannotBeOpenedNowIsKept(error: Int32) async throws {
        let disk = FaultyDisk()
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 300_000)
            _ = try await bench.bytes("/a")
            try await bench.reopened(configure: {
                $0.fileSystem = disk
                $0.resumesDownloads = false
            }) { cache async throws in
                let log = EventLog(cache)
                disk.setOpenError(error)
                let resource = try cache.resource(for: bench.origin.url("/a"))
                #expect(try await resource.read().collect() == Self.pattern(0..<300_000))
                let told = await log.first { if case .storeBypassed = $0 { true } else { false } }
                guard case .storeBypassed(_, let reason) = told else { return }
                #expect(reason.contains(String(cString: strerror(error))), "\(reason)")
                #expect(try await cache.verify().unreadable == [resource.key])
                disk.setOpenError(nil)
                #expect(try await resource.read().collect() == Self.pattern(0..<300_000))
                #expect(try await cache.verify().soundBytes == 300_000)
                #expect(cache.storedBytes == 300_000)
            }
            #expect(bench.origin.snapshot.requestCount == 2)
            #expect(DiskUse.mediaFiles(of: bench.directory.path).count == 1)
        }
    }

    @Test func aFolderThatCannotBeListedKeepsItsRecords() async throws {
        let disk = FaultyDisk()
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 300_000)
            _ = try await bench.bytes("/a")
            disk.setNamesError(EIO)
            try await bench.reopened(configure: { $0.fileSystem = disk }) { cache async throws in
                let log = EventLog(cache)
                await cache.settle()
                #expect(try await cache.entries().count == 1)
                await cache.close()
                #expect(await log.all().contains { if case .storeBypassed = $0 { true } else { false } })
            }
        }
    }

    @Test func aDiskForReadingOnlyServesWhatIsStored() async throws {
        let disk = FaultyDisk()
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 600_000)
            _ = try await bench.bytes("/a", .bounded(0..<300_000))
            disk.setOpenError(EROFS)
            disk.setFault { _ in .error(EBADF) }
            try await bench.reopened(configure: { $0.fileSystem = disk }) { cache async throws in
                let read = try await cache.resource(for: bench.origin.url("/a")).read()
                #expect(try await read.collect() == Self.pattern(0..<600_000))
                #expect(read.servedBytes(from: .store) == 300_000)
            }
            try await bench.reopened { cache async throws in
                #expect(try await cache.verify().soundBytes == 300_000)
            }
        }
    }

    @Test func anOrphanIsRemovedAfterTheOpening() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 300_000)
            _ = try await bench.bytes("/a")
            await bench.cache.close()
            let file = try #require(DiskUse.mediaFiles(of: bench.directory.path).first)
            let orphan = file.prefix { $0 != "-" } + "-123abc"
            try Data(count: 10_000).write(to: URL(fileURLWithPath: String(orphan)))
            try await bench.reopened { await $0.settle() }
            #expect(DiskUse.mediaFiles(of: bench.directory.path) == [file])
        }
    }
}
