import Foundation
import GRDB
import HTTPSemantics
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

private let isLong = ProcessInfo.processInfo.environment["REPRISE_LONG"] != nil

/// An index that is damaged or foreign is set aside; no flipped bit anywhere causes a wrong byte.
@Suite(.limit(minutes: isLong ? 180 : 3)) struct DamagedIndexTests {
    private static func pattern(_ range: Range<Int64>) -> [UInt8] { TestPattern.bytes(in: range, seed: 1) }

    private static func resets(_ cache: MediaCache, _ log: EventLog) async -> Bool {
        await cache.close()
        return await log.all().contains { if case .storeReset = $0 { true } else { false } }
    }

    private static func expectReset(
        _ damage: (String) async throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 200_000)
            _ = try await bench.bytes("/a")
            await bench.cache.close()
            try await damage(bench.directory.path(of: "catalogue.sqlite"))
            try await bench.reopened { cache async throws in
                let log = EventLog(cache)
                #expect(try await cache.entries().isEmpty, sourceLocation: sourceLocation)
                let resource = try cache.resource(for: bench.origin.url("/a"))
                #expect(try await resource.read().collect() == pattern(0..<200_000), sourceLocation: sourceLocation)
                #expect(cache.storedBytes == 200_000, sourceLocation: sourceLocation)
                #expect(await resets(cache, log), sourceLocation: sourceLocation)
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: bench.directory.path)
            #expect(names.contains("catalogue.damaged"), sourceLocation: sourceLocation)
        }
    }

    @Test func aFileThatIsNoDatabaseIsSetAside() async throws {
        try await Self.expectReset { try Data("not a database".utf8).write(to: URL(fileURLWithPath: $0)) }
    }

    @Test func aTornHeaderIsSetAside() async throws {
        try await Self.expectReset { path in
            let handle = try #require(FileHandle(forUpdatingAtPath: path))
            try handle.write(contentsOf: Data(count: 4096))
            try handle.close()
        }
    }

    /// In a cache, too: a database that is sound and another program's was not damaged.
    @Test func aForeignDatabaseInACacheStaysAndIsRefused() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 200_000)
            _ = try await bench.bytes("/a")
            await bench.cache.close()
            let path = bench.directory.path(of: "catalogue.sqlite")
            try FileManager.default.removeItem(atPath: path)
            let queue = try DatabaseQueue(path: path)
            try await queue.write { try $0.execute(sql: "CREATE TABLE friend (name TEXT)") }
            try queue.close()
            let before = try Data(contentsOf: URL(fileURLWithPath: path))
            let error = await #expect(throws: RepriseError.self) {
                try await MediaCache.open(directory: bench.directory.path, origin: bench.client)
            }
            #expect(error?.message.contains(path) == true)
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
            #expect(DiskUse.mediaFiles(of: bench.directory.path).count == 1)
        }
    }

    @Test("what only reads says of a damaged index that the next command that writes sets it aside")
    func readOnly() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 5_000)
            _ = try await bench.bytes("/a")
            await bench.cache.close()
            let path = bench.directory.path(of: "catalogue.sqlite")
            let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
            for start in [0, 100] {
                let damaged = bytes.prefix(start) + Data(repeating: 0x5A, count: 8_000)
                try damaged.write(to: URL(fileURLWithPath: path))
                let error = #expect(throws: RepriseError.self) { try CacheInspector(directory: bench.directory.path) }
                #expect(error?.code == .storageUnavailable)
                #expect(error?.message.contains("The next command that writes sets it aside") == true)
                #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == damaged)
            }
        }
    }

    private static func setAsideNames(_ bench: Bench) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: bench.directory.path)
            .filter { $0.hasPrefix("catalogue.damaged") && !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }.sorted()
    }

    /// Stores something and overwrites pages of the index that stay unread until something is looked up.
    private static func storeAndDamage(_ bench: Bench, _ cache: MediaCache) async throws {
        _ = try await cache.resource(for: bench.origin.url("/a")).read().collect()
        await cache.close()
        // The next opening sets it aside without a look into it.
        try Data().write(to: URL(fileURLWithPath: bench.directory.path(of: "index.suspect")))
    }

    @Test(
        "of a cache's own damaged indexes the newest three are kept, and all of other files", arguments: [false, true])
    func damagedIndexesAreKept(isSealed: Bool) async throws {
        let key = try #require(KeyFile.key(hexadecimal: String(repeating: "5a", count: 32)))
        let encryption = isSealed ? CacheEncryption(key: key) : nil
        try await Bench.run(configure: { $0.encryption = encryption }) { bench async throws in
            bench.publish("/a", length: 5_000)
            let own = URL(fileURLWithPath: bench.directory.path(of: "catalogue.damaged"))
            try Data("my own".utf8).write(to: own)
            try await Self.storeAndDamage(bench, bench.cache)
            for number in 2...6 {
                try await bench.reopened(configure: { $0.encryption = encryption }) { cache async throws in
                    let reason = try #require(cache.resetReason)
                    #expect(reason.contains("kept as catalogue.damaged.\(number)"), "\(reason)")
                    try await Self.storeAndDamage(bench, cache)
                }
            }
            let names = try Self.setAsideNames(bench)
            let expected = ["catalogue.damaged"] + (4...6).map { "catalogue.damaged.\($0)" }
            #expect(names == expected)
            #expect(try Data(contentsOf: own) == Data("my own".utf8))
        }
    }

    @Test("a key removes a damaged index that may be plain, and no other file")
    func aPlainDamagedIndexDoesNotStay() async throws {
        let key = try #require(KeyFile.key(hexadecimal: String(repeating: "5a", count: 32)))
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 5_000)
            _ = try await bench.bytes("/a")
            await bench.cache.close()
            let path = bench.directory.path(of: "catalogue.sqlite")
            // The first page tells whose it is; nothing else can be read.
            let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
            try (bytes.prefix(100) + Data(repeating: 0xFF, count: 5_000)).write(to: URL(fileURLWithPath: path))
            try Data("my own".utf8).write(to: URL(fileURLWithPath: bench.directory.path(of: "catalogue.damaged.7")))
            try await bench.reopened(configure: { $0.encryption = CacheEncryption(key: key) }) { cache async throws in
                #expect(cache.resetReason?.contains("may hold URLs in plain, and was removed") == true)
            }
            #expect(try Self.setAsideNames(bench) == ["catalogue.damaged.7"])
        }
    }

    @Test func anIndexThatDoesNotNameItsFormatIsSetAside() async throws {
        try await Self.expectReset { path in
            let queue = try DatabaseQueue(path: path)
            try await queue.write { try $0.execute(sql: "PRAGMA user_version = 1; PRAGMA application_id = 0") }
            try queue.close()
        }
    }

    @Test func aTableThatIsGoneIsSetAside() async throws {
        try await Self.expectReset { path in
            let queue = try DatabaseQueue(path: path)
            try await queue.write { try $0.execute(sql: "DROP TABLE chunk") }
            try queue.close()
        }
    }

    @Test func damageFoundWhileInUseIsSetAsideAtTheNextOpening() async throws {
        try await Bench.run { bench async throws in
            for index in 0..<200 { bench.publish("/\(index)", length: 5_000) }
            for index in 0..<200 { _ = try await bench.bytes("/\(index)") }
            await bench.cache.close()
            // Opened before the cache, because closing it would release SQLite's locks.
            let handle = try #require(FileHandle(forUpdatingAtPath: bench.directory.path(of: "catalogue.sqlite")))
            try await bench.reopened { cache async throws in
                #expect(cache.resetReason == nil)
                // Now, because otherwise the opening could find the damage.
                for page in 24..<(try handle.seekToEnd()) / 4096 {
                    try handle.seek(toOffset: page * 4096)
                    try handle.write(contentsOf: Data(repeating: 0xFF, count: 64))
                }
                for index in 0..<200 {
                    let resource = try cache.resource(for: bench.origin.url("/\(index)"))
                    #expect(try await resource.read().collect() == Self.pattern(0..<5_000))
                }
            }
            try handle.close()
            try await bench.reopened { cache async throws in
                let log = EventLog(cache)
                let resource = try cache.resource(for: bench.origin.url("/1"))
                #expect(try await resource.read().collect() == Self.pattern(0..<5_000))
                #expect(await Self.resets(cache, log))
            }
        }
    }

    /// The damage to one file of a copied cache, including the index and its log.
    enum Damage: CaseIterable {
        /// One bit is flipped.
        case bit
        /// A page of 4 KiB was not written: zeros.
        case page
        /// The file ends early.
        case end
        /// The file is as it was some time ago.
        case age
    }

    /// A small cache is copied; each copy is damaged in one place, and everything is played.
    @Test(arguments: Damage.allCases, [false, true])
    func damageAnywhereMakesNoWrongByte(_ damage: Damage, isSealed: Bool) async throws {
        let key = try #require(KeyFile.key(hexadecimal: String(repeating: "5a", count: 32)))
        let encryption = isSealed ? CacheEncryption(key: key) : nil
        try await Bench.run(configure: { $0.encryption = encryption }) { bench async throws in
            bench.publish("/a", length: 70_000)
            bench.publish("/b", length: 3_000)
            _ = try await bench.bytes("/a", .bounded(100..<40_000))
            let copy = try TemporaryDirectory()
            defer { copy.remove() }
            // Not closed, here and below, so that the log exists too.
            _ = try await bench.cache.entries()
            try FileManager.default.copyItem(atPath: bench.directory.path, toPath: copy.path(of: "older"))
            _ = try await bench.bytes("/a", .bounded(100..<70_000))
            _ = try await bench.bytes("/b")
            _ = try await bench.cache.entries()
            var random = SeededGenerator(seed: 7)
            for _ in 0..<(isLong ? 2_000 : damage == .bit ? 60 : 20) {
                let place = try Self.copy(
                    bench.directory.path, to: copy.path(of: "cache"), damage, older: copy.path(of: "older"), &random)
                try await Self.play(copy.path(of: "cache"), bench, encryption, place)
            }
        }
    }

    /// Copies a cache and damages one file of it; returns a description of the damage.
    private static func copy(
        _ source: String, to destination: String, _ damage: Damage, older: String, _ random: inout SeededGenerator
    ) throws -> String {
        let manager = FileManager.default
        try? manager.removeItem(atPath: destination)
        try manager.copyItem(atPath: source, toPath: destination)
        try? manager.removeItem(atPath: destination + "/lock")
        let files = (manager.enumerator(atPath: destination)?.compactMap { $0 as? String } ?? []).sorted().filter {
            (try? Data(contentsOf: URL(fileURLWithPath: destination + "/" + $0)))?.isEmpty == false
        }
        let name = try #require(files.randomElement(using: &random))
        let url = URL(fileURLWithPath: destination + "/" + name)
        var data = try Data(contentsOf: url)
        let place = Int.random(in: 0..<data.count, using: &random)
        switch damage {
        case .bit: data[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case .page:
            let page = place / 4096 * 4096..<min(data.count, (place / 4096 + 1) * 4096)
            data.replaceSubrange(page, with: Data(count: page.count))
        case .end: data = data.prefix(place)
        case .age: data = (try? Data(contentsOf: URL(fileURLWithPath: older + "/" + name))) ?? Data()
        }
        try data.write(to: url)
        return "\(name) \(damage) \(place)"
    }

    private static func play(
        _ directory: String, _ bench: Bench, _ encryption: CacheEncryption?, _ place: String
    ) async throws {
        var configuration = MediaCache.Configuration()
        configuration.encryption = encryption
        let cache: MediaCache
        do {
            cache = try await MediaCache.open(directory: directory, origin: bench.client, configuration: configuration)
        } catch {
            // A bit can change an encrypted cache's mode; opening then reports it, and the app streams without a store.
            #expect((error as? RepriseError)?.code == .keyUnavailable, "\(place): \(error)")
            return
        }
        for (path, length) in [("/a", Int64(70_000)), ("/b", 3_000)] {
            let resource = try cache.resource(for: bench.origin.url(path))
            let read = try await resource.read()
            #expect(read.information.completeLength == length, "\(place)")
            #expect(read.information.mediaType == "video/mp4", "\(place)")
            #expect(try await read.collect() == pattern(0..<length), "\(place)")
        }
        await cache.close()
    }
}
