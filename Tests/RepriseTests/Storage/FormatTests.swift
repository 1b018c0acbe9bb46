import Foundation
import GRDB
import RepriseHTTPClient
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// A copy of a cache directory of an earlier format, made by the command as it was then: a whole file, a part of one, a
/// pinned file, a pinned URL of which nothing is stored, a download, and a response that varies; since format 7 the
/// beginning of the last one is kept.
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
    private let format: Int
    private let directory: TemporaryDirectory

    init(_ format: Int, isSealed: Bool) throws {
        (self.format, self.isSealed) = (format, isSealed)
        directory = try TemporaryDirectory()
        path = directory.path(of: "cache")
        let fixtures = try #require(Bundle.module.url(forResource: "Fixtures", withExtension: nil))
        try FileManager.default.copyItem(
            atPath: fixtures.appendingPathComponent("format-\(format)/\(isSealed ? "encrypted" : "plain")").path,
            toPath: path)
    }

    func remove() { directory.remove() }

    var encryption: CacheEncryption? {
        isSealed ? KeyFile.key(hexadecimal: Self.key).map { CacheEncryption(key: $0) } : nil
    }

    /// The index as it lies in the file.
    func index() throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path + "/catalogue.sqlite")) }

    static func url(_ name: String) -> String { "\(origin)/\(name).mp4" }

    private static func bytes(_ range: Range<Int>, seed: Int) -> [UInt8] {
        range.map { UInt8(truncatingIfNeeded: $0 * 7 + $0 / 251 + seed) }
    }

    /// Entries, their bytes, pins and downloads are all there, and the index has the current format.
    func expectEverything(_ sourceLocation: SourceLocation = #_sourceLocation) async throws {
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
            kept[Self.url("varies")] == (format < 7 ? .cached : .first(.bytes(1000))), sourceLocation: sourceLocation)
        #expect(
            try await cache.awaitedEntries().map(\.url.description) == [Self.url("never")],
            sourceLocation: sourceLocation)
        #expect(try await cache.lifetimeStatistics().bytesFetched >= 99_000, sourceLocation: sourceLocation)
        #expect(cache.storedBytes == 99_000, sourceLocation: sourceLocation)
        await cache.close()
        await client.shutdown()
        let queue = try DatabaseQueue(path: path + "/catalogue.sqlite")
        let version = try await queue.read { try Int.fetchOne($0, sql: "PRAGMA user_version") }
        #expect(version == Index.formatVersion, sourceLocation: sourceLocation)
        try queue.close()
        let names = try FileManager.default.contentsOfDirectory(atPath: path)
        #expect(!names.contains("catalogue.damaged"), sourceLocation: sourceLocation)
    }
}

/// Directories of earlier formats keep everything.
@Suite(.limit(minutes: 2)) struct FormatTests {
    private static let formats = [2, 3, 4, 5, 6, 7, 8, 9]

    @Test(
        "a directory of an earlier format is migrated with entries, bytes, pins and downloads",
        arguments: Self.formats, [false, true])
    func formerFormats(format: Int, isSealed: Bool) async throws {
        let fixture = try FormatFixture(format, isSealed: isSealed)
        defer { fixture.remove() }
        try await fixture.expectEverything()
        try await fixture.expectEverything()
    }

    @Test("an inspector reads an earlier format and changes nothing", arguments: Self.formats, [false, true])
    func inspection(format: Int, isSealed: Bool) async throws {
        let fixture = try FormatFixture(format, isSealed: isSealed)
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

    @Test("another key changes nothing in a directory of an earlier format", arguments: Self.formats, [false, true])
    func otherKey(format: Int, isSealed: Bool) async throws {
        let fixture = try FormatFixture(format, isSealed: isSealed)
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
            #expect(version == Index.formatVersion)
            #expect(application == 0x5250_0000 + Index.formatVersion)
            try queue.close()
        }
    }
}
