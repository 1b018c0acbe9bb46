import Crypto
import Foundation
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// A cache is opened only with the key that it was made with, unless it may be emptied.
@Suite(.limit(minutes: 3)) struct KeyTests {
    /// A key that a cache is made or opened with.
    enum Key: CaseIterable, CustomTestStringConvertible {
        case none, own, other

        var encryption: CacheEncryption? {
            switch self {
            case .none: nil
            case .own: CacheEncryption(key: SymmetricKey(data: [UInt8](repeating: 0x42, count: 32)))
            case .other: CacheEncryption(key: SymmetricKey(data: [UInt8](repeating: 0x17, count: 32)))
            }
        }

        var testDescription: String { "\(self) key" }
    }

    /// The key that a cache was made with, and another one.
    struct Pair: CustomTestStringConvertible {
        let made: Key
        let given: Key

        static let different: [Pair] = Key.allCases.flatMap { made in
            Key.allCases.filter { $0 != made }.map { Pair(made: made, given: $0) }
        }

        var testDescription: String { "made with \(made), opened with \(given)" }
    }

    private static let length: Int64 = 200_000

    /// Runs `body` with a closed cache that was made with `key` and has an entry and a pin.
    private static func run(_ key: Key, _ body: (Bench) async throws -> Void) async throws {
        try await Bench.run(configure: { $0.encryption = key.encryption }) { bench async throws in
            bench.publish("/secret-name", length: length)
            _ = try await bench.bytes("/secret-name")
            let resource = try bench.cache.resource(for: bench.origin.url("/secret-name"))
            try await bench.cache.retain(resource, as: .pinned(until: nil))
            await bench.cache.close()
            try await body(bench)
        }
    }

    private static func open(_ bench: Bench, _ key: Key, resets: Bool = false) async throws -> MediaCache {
        var configuration = MediaCache.Configuration()
        configuration.encryption = key.encryption
        configuration.resetsWhenKeyDiffers = resets
        return try await MediaCache.open(
            directory: bench.directory.path, origin: bench.client, configuration: configuration)
    }

    /// Opens with a key that must be refused.
    private static func expectRefusal(_ bench: Bench, _ key: Key) async {
        let error = await #expect(throws: RepriseError.self) { try await open(bench, key) }
        #expect(error?.code == .keyUnavailable)
        let inspection = #expect(throws: RepriseError.self) {
            try CacheInspector(directory: bench.directory.path, encryption: key.encryption)
        }
        #expect(inspection?.code == .keyUnavailable)
    }

    /// Every file but the lock, with its bytes.
    private static func files(_ bench: Bench) throws -> [String: Data] {
        try DiskUse.contents(of: bench.directory.path).filter { $0.key != "lock" && !$0.key.hasSuffix("-shm") }
    }

    private static func expectEntryAndPin(_ bench: Bench, _ key: Key) async throws {
        let requests = bench.origin.snapshot.requestCount
        let cache = try await open(bench, key)
        let entries = try await cache.entries()
        #expect(entries.map(\.storedBytes) == [length])
        #expect(entries.map(\.retention) == [.pinned(until: nil)])
        let bytes = try await cache.resource(for: bench.origin.url("/secret-name")).read().collect()
        let isRight = bytes == TestPattern.bytes(in: 0..<length, seed: 1)
        #expect(isRight)
        #expect(bench.origin.snapshot.requestCount == requests)
        await cache.close()
    }

    @Test("another key is refused, and the right one finds everything", arguments: Pair.different)
    func refusal(pair: Pair) async throws {
        try await Self.run(pair.made) { bench async throws in
            // An earlier index that was set aside is kept, too: only the right key may remove it.
            try Data("plain".utf8).write(to: URL(fileURLWithPath: bench.directory.path(of: "catalogue.damaged")))
            let before = try Self.files(bench)
            await Self.expectRefusal(bench, pair.given)
            let isUnchanged = try Self.files(bench).filter { !$0.value.isEmpty } == before.filter { !$0.value.isEmpty }
            #expect(isUnchanged)
            try await Self.expectEntryAndPin(bench, pair.made)
        }
    }

    @Test("another key is refused while the cache is open in this process", arguments: Pair.different)
    func refusalWhileOpen(pair: Pair) async throws {
        try await Self.run(pair.made) { bench async throws in
            let cache = try await Self.open(bench, pair.made)
            for resets in [false, true] {
                let error = await #expect(throws: RepriseError.self) {
                    try await Self.open(bench, pair.given, resets: resets)
                }
                #expect(error?.code == .keyUnavailable)
            }
            #expect(try await cache.entries().count == 1)
            await cache.close()
            try await Self.expectEntryAndPin(bench, pair.made)
        }
    }

    @Test("a cache that was found damaged still needs its key", arguments: Pair.different)
    func refusalOfASuspect(pair: Pair) async throws {
        try await Self.run(pair.made) { bench async throws in
            try Data().write(to: URL(fileURLWithPath: bench.directory.path(of: "index.suspect")))
            await Self.expectRefusal(bench, pair.given)
            #expect(DiskUse.mediaFiles(of: bench.directory.path).count == 1)
            let cache = try await Self.open(bench, pair.made)
            #expect(try await cache.entries().isEmpty)
            await cache.close()
        }
    }

    @Test("only on request a cache is emptied for another key", arguments: Pair.different)
    func reset(pair: Pair) async throws {
        try await Self.run(pair.made) { bench async throws in
            let cache = try await Self.open(bench, pair.given, resets: true)
            guard case .storeReset(let reason) = await EventLog(cache).first({ _ in true }) else {
                Issue.record("nothing was told")
                return
            }
            #expect(reason.contains("200000 bytes in 1 entries and 1 pins"), "\(reason)")
            #expect(try await cache.entries().isEmpty)
            #expect(cache.storedBytes == 0 && cache.allocatedBytes.media == 0)
            #expect(DiskUse.mediaFiles(of: bench.directory.path).isEmpty)
            for (name, bytes) in try Self.files(bench) {
                #expect(bytes.range(of: Data("secret-name".utf8)) == nil, "a URL is left in \(name)")
            }
            bench.publish("/new", length: 1000)
            _ = try await cache.resource(for: bench.origin.url("/new")).read().drain()
            await cache.close()
            await Self.expectRefusal(bench, pair.made)
            let again = try await Self.open(bench, pair.given, resets: true)
            #expect(try await again.entries().map(\.storedBytes) == [1000], "the key is the right one by now")
            await again.close()
        }
    }

    @Test("any key opens an empty cache", arguments: Pair.different.filter { $0.given != .none })
    func emptyCaches(pair: Pair) async throws {
        try await Bench.run(configure: { $0.encryption = pair.made.encryption }) { bench async throws in
            await bench.cache.close()
            let cache = try await Self.open(bench, pair.given)
            bench.publish("/secret-name", length: Self.length)
            let resource = try cache.resource(for: bench.origin.url("/secret-name"))
            _ = try await resource.read().drain()
            try await cache.retain(resource, as: .pinned(until: nil))
            let log = EventLog(cache)
            await cache.close()
            let resets = await log.all().filter { if case .storeReset = $0 { true } else { false } }
            #expect(resets.isEmpty, "nothing was lost")
            await Self.expectRefusal(bench, pair.made)
            try await Self.expectEntryAndPin(bench, pair.given)
        }
    }

    @Test func anEncryptedCacheThatHoldsNothingNeverBecomesAPlainOne() async throws {
        try await Bench.run(configure: { $0.encryption = Key.own.encryption }) { bench async throws in
            await bench.cache.close()
            await Self.expectRefusal(bench, .none)
        }
    }

    @Test("a cache with only a pin is not empty", arguments: Pair.different)
    func pinsOfNothing(pair: Pair) async throws {
        try await Bench.run(configure: { $0.encryption = pair.made.encryption }) { bench async throws in
            let url = bench.origin.url("/never-read")
            try await bench.cache.retain(bench.cache.resource(for: url), as: .pinned(until: nil))
            await bench.cache.close()
            await Self.expectRefusal(bench, pair.given)
        }
    }
}
