import Foundation
import GRDB
import RepriseHTTPClient
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// A copy of a cache directory of format 1: a whole file, a part of one, a pinned file, a pinned URL without stored
/// bytes, a download, and a response that varies, whose beginning is kept.
///
/// `REPRISE_MAKE_FIXTURE=DIRECTORY scripts/test --filter FormatTests` makes such directories, `plain` and `encrypted`.
/// They are made once for each format, by the version that introduces it.
struct FormatFixture {
    static let key = String(repeating: "5a", count: 32)
    private static let origin = "http://127.0.0.1:8123"
    /// Name, length, seed and stored range of each file.
    private static let files: [(name: String, length: Int, seed: Int, stored: [Range<Int>])] = [
        ("whole", 30_000, 1, [0..<30_000]), ("part", 90_000, 2, [10_000..<50_000, 70_000..<80_000]),
        ("pinned", 5_000, 3, [0..<5_000]), ("download", 8_000, 4, [0..<8_000]), ("varies", 6_000, 5, [0..<6_000]),
    ]

    let path: String
    let isSealed: Bool
    private let directory: TemporaryDirectory

    init(isSealed: Bool) throws {
        self.isSealed = isSealed
        directory = try TemporaryDirectory()
        path = directory.path(of: "cache")
        let fixtures = try #require(Bundle.module.url(forResource: "Fixtures", withExtension: nil))
        try FileManager.default.copyItem(
            atPath: fixtures.appendingPathComponent("format-1/\(isSealed ? "encrypted" : "plain")").path,
            toPath: path)
    }

    func remove() { directory.remove() }

    var encryption: CacheEncryption? { Self.encryption(isSealed: isSealed) }

    private static func encryption(isSealed: Bool) -> CacheEncryption? {
        isSealed ? KeyFile.key(hexadecimal: key).map { CacheEncryption(key: $0) } : nil
    }

    /// The bytes of the index file.
    func index() throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path + "/catalogue.sqlite")) }

    /// Changes the format that the index in the directory names, and nothing else.
    static func setFormat(_ version: Int, application: Int, in path: String) throws {
        let handle = try #require(FileHandle(forUpdatingAtPath: path + "/catalogue.sqlite"))
        for (offset, number) in [(UInt64(60), version), (68, application)] {
            try handle.seek(toOffset: offset)
            try handle.write(contentsOf: (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) })
        }
        try handle.close()
    }

    /// Makes it a directory of a format from before the first release: the index says so, whatever else it contains.
    func makeUnreleased(_ format: Int) throws {
        try Self.setFormat(format, application: 0x5250_0000 + format, in: path)
    }

    /// Makes the directory at `path`.
    static func make(_ path: String, isSealed: Bool) async throws {
        let files = files
        let origin = ScriptedOrigin { request, _ in
            guard let file = files.first(where: { url($0.name) == request.url.description }) else { return .init(404) }
            return .media(
                request, bytes(0..<file.length, seed: file.seed), file.name == "varies" ? [.vary: "User-Agent"] : [:])
        }
        var configuration = MediaCache.Configuration()
        configuration.encryption = encryption(isSealed: isSealed)
        let cache = try await MediaCache.open(directory: path, origin: origin, configuration: configuration)
        for file in files {
            let resource = try cache.resource(for: url(file.name))
            for range in file.stored {
                _ = try await resource.read(Int64(range.lowerBound)..<Int64(range.upperBound)).collect()
            }
        }
        let kept: [(String, Retention)] = [
            ("pinned", .pinned(until: nil)), ("never", .pinned(until: nil)), ("download", .download),
            ("varies", .first(.bytes(1000))),
        ]
        for (name, retention) in kept { try await cache.retain(cache.resource(for: url(name)), as: retention) }
        await cache.close()
        for name in ["lock", "index.reserve", "catalogue.sqlite-wal", "catalogue.sqlite-shm"] {
            try FileManager.default.removeItem(atPath: "\(path)/\(name)")
        }
    }

    static func url(_ name: String) -> String { "\(origin)/\(name).mp4" }

    private static func bytes(_ range: Range<Int>, seed: Int) -> [UInt8] {
        range.map { UInt8(truncatingIfNeeded: $0 * 7 + $0 / 251 + seed) }
    }

    /// Entries, their bytes, pins and downloads are all there, and the index has the current format.
    func expectEverything(
        in folder: String? = nil, _ sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let path = folder ?? path
        let client = NIOOrigin()
        var configuration = MediaCache.Configuration()
        configuration.encryption = encryption
        configuration.reuse.isOffline = true
        configuration.resumesDownloads = false
        let cache = try await MediaCache.open(directory: path, origin: client, configuration: configuration)
        for file in Self.files {
            let resource = try cache.resource(for: Self.url(file.name))
            for range in file.stored {
                let bytes = try await resource.read(Int64(range.lowerBound)..<Int64(range.upperBound)).collect()
                #expect(bytes == Self.bytes(range, seed: file.seed), "\(file.name)", sourceLocation: sourceLocation)
            }
            let stored = file.stored.map { Int64($0.lowerBound)..<Int64($0.upperBound) }
            #expect(await Array(resource.storedProgress().ranges) == stored, sourceLocation: sourceLocation)
        }
        let entries = try await cache.entries()
        #expect(entries.count == Self.files.count, sourceLocation: sourceLocation)
        let titles = try await cache.titles()
        #expect(
            Set(titles.map(\.url)) == Set(entries.map(\.url)) && titles.allSatisfy { $0.plays >= 1 },
            sourceLocation: sourceLocation)
        let kept = Dictionary(uniqueKeysWithValues: entries.map { ($0.url.description, $0.retention) })
        #expect(kept[Self.url("pinned")] == .pinned, sourceLocation: sourceLocation)
        #expect(kept[Self.url("download")] == .download, sourceLocation: sourceLocation)
        #expect(kept[Self.url("whole")] == .cached, sourceLocation: sourceLocation)
        #expect(
            kept[Self.url("varies")] == .first(.bytes(1000)), sourceLocation: sourceLocation)
        #expect(
            try await cache.awaitedEntries().map(\.url.description) == [Self.url("never")],
            sourceLocation: sourceLocation)
        #expect(try await cache.lifetimeStatistics().bytesFetched >= 99_000, sourceLocation: sourceLocation)
        #expect(cache.storedBytes == 99_000, sourceLocation: sourceLocation)
        await cache.close()
        await client.shutdown()
        let queue = try DatabaseQueue(path: path + "/catalogue.sqlite")
        let version = try await queue.read { try Int.fetchOne($0, sql: "PRAGMA user_version") }
        #expect(version == IndexDatabase.formatVersion, sourceLocation: sourceLocation)
        try queue.close()
        let names = try FileManager.default.contentsOfDirectory(atPath: path)
        #expect(!names.contains("catalogue.damaged"), sourceLocation: sourceLocation)
    }
}

/// Directories of released formats keep everything; those from before the first release are set aside.
@Suite(.limit(minutes: 2)) struct FormatTests {
    private static let place = ProcessInfo.processInfo.environment["REPRISE_MAKE_FIXTURE"]

    @Test(.enabled(if: place != nil), arguments: [false, true]) func makeFixture(isSealed: Bool) async throws {
        let place = try #require(Self.place)
        try await FormatFixture.make("\(place)/\(isSealed ? "encrypted" : "plain")", isSealed: isSealed)
    }

    @Test("a directory of format 1 has its entries, bytes, pins and downloads", arguments: [false, true])
    func formerFormats(isSealed: Bool) async throws {
        let fixture = try FormatFixture(isSealed: isSealed)
        defer { fixture.remove() }
        try await fixture.expectEverything()
        try await fixture.expectEverything()
    }

    @Test("an inspector reads format 1 and changes nothing", arguments: [false, true])
    func inspection(isSealed: Bool) async throws {
        let fixture = try FormatFixture(isSealed: isSealed)
        defer { fixture.remove() }
        let before = try fixture.index()
        let inspector = try CacheInspector(directory: fixture.path, encryption: fixture.encryption)
        let entries = try inspector.entries()
        #expect(entries.map(\.storedBytes).reduce(0, +) == 99_000)
        #expect(try inspector.awaitedEntries().map(\.url.description) == [FormatFixture.url("never")])
        let whole = try #require(entries.first { $0.url.description == FormatFixture.url("whole") })
        var count = 0
        try inspector.read(whole) { count += $0.count }
        #expect(count == 30_000)
        #expect(try fixture.index() == before)
        try await fixture.expectEverything()
    }

    @Test("another key changes nothing in a directory of format 1", arguments: [false, true])
    func otherKey(isSealed: Bool) async throws {
        let fixture = try FormatFixture(isSealed: isSealed)
        defer { fixture.remove() }
        let before = try fixture.index()
        var configuration = MediaCache.Configuration()
        let key = try #require(KeyFile.key(hexadecimal: String(repeating: "11", count: 32)))
        configuration.encryption = CacheEncryption(key: key)
        let client = NIOOrigin()
        await #expect {
            try await MediaCache.open(directory: fixture.path, origin: client, configuration: configuration)
        } throws: { ($0 as? RepriseError)?.code == .keyUnavailable }
        await client.shutdown()
        #expect(try fixture.index() == before)
        try await fixture.expectEverything()
    }

    @Test func aNewDirectoryHasTheCurrentFormat() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 1000)
            _ = try await bench.bytes("/a")
            await bench.cache.close()
            let queue = try DatabaseQueue(path: bench.directory.path(of: "catalogue.sqlite"))
            let (version, application) = try await queue.read { database in
                (
                    try Int.fetchOne(database, sql: "PRAGMA user_version"),
                    try Int.fetchOne(database, sql: "PRAGMA application_id")
                )
            }
            #expect(version == IndexDatabase.formatVersion)
            #expect(application == 0x5265_0000 + IndexDatabase.formatVersion)
            try queue.close()
        }
    }

    // MARK: - Before the first release

    /// The paths and bytes of the files in a directory, except for its lock.
    private static func contents(of path: String) throws -> [String: Data] {
        let names = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
        return try names.reduce(into: [:]) { contents, name in
            var isDirectory: ObjCBool = false
            let file = "\(path)/\(name)"
            guard FileManager.default.fileExists(atPath: file, isDirectory: &isDirectory), !isDirectory.boolValue else {
                return
            }
            contents[name] = try Data(contentsOf: URL(fileURLWithPath: file))
        }
    }

    private static func open(
        _ path: String, resets: Bool = false, encryption: CacheEncryption? = nil
    ) async throws -> MediaCache {
        var configuration = MediaCache.Configuration()
        configuration.encryption = encryption
        configuration.resetsWhenKeyDiffers = resets
        return try await MediaCache.open(
            directory: path, origin: ScriptedOrigin { _, _ in .init(404) }, configuration: configuration)
    }

    @Test(
        "a directory of an unreleased format is set aside under any key, with every byte of it",
        arguments: [0] + Array(2...10), [false, true])
    func unreleased(format: Int, isSealed: Bool) async throws {
        let fixture = try FormatFixture(isSealed: isSealed)
        defer { fixture.remove() }
        for (folder, resets) in [("unreleased", false), ("unreleased.2", true)] {
            try fixture.makeUnreleased(format)
            let before = try Self.contents(of: fixture.path).filter { !$0.key.hasPrefix("unreleased") }
            let key = try #require(KeyFile.key(hexadecimal: String(repeating: "11", count: 32)))
            let encryption = resets ? CacheEncryption(key: key) : nil
            let cache = try await Self.open(fixture.path, resets: resets, encryption: encryption)
            #expect(cache.resetReason?.contains("never released; it is kept in \(fixture.path)/\(folder),") == true)
            #expect(try await cache.entries().isEmpty)
            #expect(cache.storedBytes == 0)
            await cache.close()
            let kept = try Self.contents(of: "\(fixture.path)/\(folder)")
            #expect(kept == before.filter { kept[$0.key] != nil || !["lock", "index.reserve"].contains($0.key) })
            let again = try await Self.open(fixture.path, encryption: encryption)
            #expect(again.resetReason == nil)
            await again.close()
            #expect(try Self.contents(of: "\(fixture.path)/\(folder)") == kept)
        }
    }

    @Test("an inspector refuses an unreleased format and changes nothing", arguments: 2...10, [false, true])
    func unreleasedInspection(format: Int, isSealed: Bool) async throws {
        let fixture = try FormatFixture(isSealed: isSealed)
        defer { fixture.remove() }
        try fixture.makeUnreleased(format)
        let before = try Self.contents(of: fixture.path)
        for encryption in [fixture.encryption, nil] {
            let error = #expect(throws: RepriseError.self) {
                try CacheInspector(directory: fixture.path, encryption: encryption)
            }
            #expect(error?.code == .storageUnavailable)
            #expect(error?.message.contains("was made by a version of Reprise that was never released") == true)
        }
        #expect(try MediaCache.holdings(in: fixture.path, underAnotherKeyThan: nil) == nil)
        #expect(try Self.contents(of: fixture.path) == before)
    }
}
