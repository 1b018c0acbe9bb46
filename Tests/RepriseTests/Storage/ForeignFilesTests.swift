import Foundation
import GRDB
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// A mistyped directory: files that the cache did not make are neither removed nor changed.
@Suite(.limit(minutes: 2)) struct ForeignFilesTests {
    private static let files = [
        "media/Films/holiday.mp4", "media/ab/clip.mp4", "media/ab/song-12", "media/notes",
        "media/ab/" + String(repeating: "a", count: 64), "media/cd/ab" + String(repeating: "0", count: 62) + "-12",
    ]

    private static func write(_ directory: TemporaryDirectory) throws {
        for file in files {
            let url = URL(fileURLWithPath: directory.path(of: file))
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(file.utf8).write(to: url)
        }
    }

    private static func expectAll(_ directory: TemporaryDirectory, _ sourceLocation: SourceLocation = #_sourceLocation)
    {
        for file in files {
            let contents = try? Data(contentsOf: URL(fileURLWithPath: directory.path(of: file)))
            #expect(contents == Data(file.utf8), "\(file)", sourceLocation: sourceLocation)
        }
    }

    private static func encryption(_ digits: String) throws -> CacheEncryption {
        CacheEncryption(key: try #require(KeyFile.key(hexadecimal: String(repeating: digits, count: 32))))
    }

    @Test("an encrypted cache that begins, is reset or lost its index removes its own files only")
    func onlyOwnFilesAreRemoved() async throws {
        try await Bench.run(isStoring: false) { bench async throws in
            bench.publish("/a", length: 100_000)
            try Self.write(bench.directory)
            for (key, removesIndex) in [("5a", false), ("11", false), ("11", true)] {
                if removesIndex {
                    try FileManager.default.removeItem(atPath: bench.directory.path(of: IndexDatabase.fileName))
                }
                var configuration = MediaCache.Configuration()
                configuration.encryption = try Self.encryption(key)
                configuration.resetsWhenKeyDiffers = true
                let cache = try await MediaCache.open(
                    directory: bench.directory.path, origin: bench.client, configuration: configuration)
                _ = try await cache.resource(for: bench.origin.url("/a")).read().collect()
                await cache.settle()
                let names = DiskUse.mediaFiles(of: bench.directory.path).map { $0.components(separatedBy: "/") }
                #expect(names.count { DataFileName($0.last ?? "", in: $0.dropLast().last ?? "") != nil } == 1)
                await cache.close()
                Self.expectAll(bench.directory)
            }
        }
    }

    @Test("a file where SQLite would keep its own beside a new index stays", arguments: ["-wal", "-shm", "-journal"])
    func aForeignCompanion(suffix: String) async throws {
        try await Bench.run(isStoring: false) { bench async throws in
            let path = bench.directory.path(of: IndexDatabase.fileName + suffix)
            try Data("precious".utf8).write(to: URL(fileURLWithPath: path))
            let error = await #expect(throws: RepriseError.self) {
                try await MediaCache.open(directory: bench.directory.path, origin: bench.client)
            }
            #expect(error?.code == .storageUnavailable && error?.message.contains(path) == true, "\(error as Any)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("precious".utf8))
            #expect(try FileManager.default.contentsOfDirectory(atPath: bench.directory.path).count == 1)
        }
    }

    @Test("a file with the name of the reserve, and other bytes, stays")
    func aForeignReserve() async throws {
        try await Bench.run(isStoring: false) { bench async throws in
            let reserve = IndexReserve(bench.directory.path, fileSystem: SystemFileSystem())
            let path = bench.directory.path(of: IndexReserve.fileName)
            reserve.make()
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int == IndexReserve.bytes)
            #expect(reserve.release())
            for text in ["my diary", String(repeating: "x", count: IndexReserve.bytes)] {
                try Data(text.utf8).write(to: URL(fileURLWithPath: path))
                let cache = try await MediaCache.open(directory: bench.directory.path, origin: bench.client)
                await cache.close()
                #expect(!reserve.release())
                #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data(text.utf8))
            }
        }
    }

    @Test("media without an index are removed by the opening that finds them")
    func mediaWithoutIndex() async throws {
        try await Bench.run { bench async throws in
            for index in 0..<40 {
                bench.publish("/\(index)", length: 1000)
                _ = try await bench.bytes("/\(index)")
            }
            await bench.cache.close()
            try Self.write(bench.directory)
            for suffix in IndexDatabase.fileSuffixes {
                try? FileManager.default.removeItem(atPath: bench.directory.path(of: IndexDatabase.fileName + suffix))
            }
            let cache = try await MediaCache.open(directory: bench.directory.path, origin: bench.client)
            let left = DiskUse.mediaFiles(of: bench.directory.path).map { $0.components(separatedBy: "/") }
                .filter { DataFileName($0.last ?? "", in: $0.dropLast().last ?? "") != nil }
            #expect(left.isEmpty)
            await cache.close()
            Self.expectAll(bench.directory)
        }
    }

    @Test("a file called lock that holds anything but a number stays", arguments: [false, true])
    func aForeignLock(isLink: Bool) async throws {
        try await Bench.run(isStoring: false) { bench async throws in
            let lock = bench.directory.path(of: "lock")
            let file = isLink ? bench.directory.path(of: "value.txt") : lock
            try Data("precious".utf8).write(to: URL(fileURLWithPath: file))
            if isLink { try FileManager.default.createSymbolicLink(atPath: lock, withDestinationPath: file) }
            let error = await #expect(throws: RepriseError.self) {
                try await MediaCache.open(directory: bench.directory.path, origin: bench.client)
            }
            #expect(error?.code == .storageUnavailable)
            #expect(error?.message.contains("lock") == true)
            #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == Data("precious".utf8))
            let names = try FileManager.default.contentsOfDirectory(atPath: bench.directory.path).sorted()
            #expect(names == (isLink ? ["lock", "value.txt"] : ["lock"]), "something was created")
        }
    }

    /// A file that stood where a cache would put its index.
    enum OtherIndex: CaseIterable {
        case text, database, emptyDatabase, databaseWithLog
    }

    private static func write(_ other: OtherIndex, to path: String) throws {
        guard other != .text else { return try Data("my notes".utf8).write(to: URL(fileURLWithPath: path)) }
        // Its log is copied while it is open: closing merges it.
        let copy = path + "-copy"
        let queue = try DatabaseQueue(path: copy)
        try queue.inDatabase { database in
            if other == .databaseWithLog { try database.execute(sql: "PRAGMA journal_mode = WAL") }
            try database.execute(sql: "CREATE TABLE friend (name TEXT)")
            if other == .emptyDatabase { try database.execute(sql: "DROP TABLE friend") }
        }
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: copy + suffix) {
            try FileManager.default.copyItem(atPath: copy + suffix, toPath: path + suffix)
        }
        try queue.close()
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: copy + suffix) }
    }

    @Test(
        "a file in the index's place that is not a cache's stays, and nothing appears beside it",
        arguments: OtherIndex.allCases, [false, true])
    func aForeignIndex(other: OtherIndex, isSealed: Bool) async throws {
        try await Bench.run(isStoring: false) { bench async throws in
            let path = bench.directory.path(of: IndexDatabase.fileName)
            try Self.write(other, to: path)
            try Data("my own".utf8).write(to: URL(fileURLWithPath: bench.directory.path(of: "catalogue.damaged")))
            let before = try DiskUse.contents(of: bench.directory.path)
            let encryption = isSealed ? try Self.encryption("5a") : nil
            func expectRefusal(_ error: RepriseError?) throws {
                #expect(error?.code == .storageUnavailable)
                #expect(error?.message.contains(path) == true && error?.message.contains("move the file away") == true)
                #expect(try DiskUse.contents(of: bench.directory.path) == before)
                let names = try FileManager.default.contentsOfDirectory(atPath: bench.directory.path)
                #expect(Set(names) == Set(before.keys), "something was created")
            }
            try expectRefusal(
                #expect(throws: RepriseError.self) {
                    try CacheInspector(directory: bench.directory.path, encryption: encryption)
                })
            for resets in [false, true] {
                var configuration = MediaCache.Configuration()
                configuration.encryption = encryption
                configuration.resetsWhenKeyDiffers = resets
                try expectRefusal(
                    await #expect(throws: RepriseError.self) {
                        try await MediaCache.open(
                            directory: bench.directory.path, origin: bench.client, configuration: configuration)
                    })
            }
        }
    }

    @Test("a file called lock with a number stays where nothing else is a cache's")
    func aNumberedLock() async throws {
        try await Bench.run(isStoring: false) { bench async throws in
            let lock = bench.directory.path(of: "lock")
            try Data("4711\n".utf8).write(to: URL(fileURLWithPath: lock))
            let error = await #expect(throws: RepriseError.self) {
                try await MediaCache.open(directory: bench.directory.path, origin: bench.client)
            }
            #expect(error?.code == .storageUnavailable && error?.message.contains(lock) == true)
            #expect(try Data(contentsOf: URL(fileURLWithPath: lock)) == Data("4711\n".utf8))
            #expect(try FileManager.default.contentsOfDirectory(atPath: bench.directory.path) == ["lock"])
        }
    }

    @Test("the lock of an earlier version, a number alone, is taken where the index is a cache's")
    func anEarlierLock() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 1000)
            _ = try await bench.bytes("/a")
            await bench.cache.close()
            let lock = bench.directory.path(of: "lock")
            try Data("4711\n".utf8).write(to: URL(fileURLWithPath: lock))
            try await bench.reopened { cache async throws in #expect(try await cache.entries().count == 1) }
            #expect(try String(contentsOf: URL(fileURLWithPath: lock), encoding: .utf8) == "\(getpid()) reprise\n")
        }
    }

    @Test(arguments: [
        ("ab" + String(repeating: "0", count: 62) + "-1f", "ab", 0x1f as Int64?),
        ("ab" + String(repeating: "0", count: 62) + "-ffffffffffffffff", "ab", -1),
        ("ab" + String(repeating: "0", count: 62) + "-1f", "cd", nil),
        ("ab" + String(repeating: "0", count: 62) + "-", "ab", nil),
        ("ab" + String(repeating: "0", count: 62) + "-1g", "ab", nil),
        ("ab" + String(repeating: "0", count: 62) + "-1-2", "ab", nil),
        ("ab" + String(repeating: "0", count: 61) + "-1f", "ab", nil),
        ("AB" + String(repeating: "0", count: 62) + "-1f", "AB", nil), ("clip.mp4", "ab", nil), ("", "", nil),
    ])
    func namesOfDataFiles(name: String, folder: String, generation: Int64?) {
        #expect(DataFileName(name, in: folder)?.generation == generation)
    }
}
