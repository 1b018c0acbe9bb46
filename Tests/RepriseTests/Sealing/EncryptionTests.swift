import Crypto
import Foundation
import GRDB
import HTTPSemantics
import HTTPTypes
import Primitives
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// What an encrypted cache protects from being seen or changed.
@Suite(.limit(minutes: 3)) struct EncryptionTests {
    private static let key = SymmetricKey(data: [UInt8](repeating: 0x42, count: 32))
    private static let encryption = CacheEncryption(key: key)

    private static func run(_ body: (Bench) async throws -> Void) async throws {
        try await Bench.run(configure: { $0.encryption = encryption }, body)
    }

    private static func again(
        _ bench: Bench, key: CacheEncryption? = encryption, _ body: (MediaCache) async throws -> Void
    ) async throws {
        try await bench.reopened(configure: { $0.encryption = key }, body)
    }

    private static func files(_ bench: Bench) throws -> [(name: String, bytes: Data)] {
        let root = bench.directory.path
        return try (FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []).compactMap {
            name in
            var isDirectory: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: "\(root)/\(name)", isDirectory: &isDirectory)
            return isDirectory.boolValue ? nil : (name, try Data(contentsOf: URL(fileURLWithPath: "\(root)/\(name)")))
        }
    }

    @Test func nothingReadableIsInAnyFile() async throws {
        try await Self.run { bench async throws in
            bench.publish("/secret-film-name.mp4", length: 300_000, etag: "\"recognisable-etag\"", type: "video/x-tell")
            _ = try await bench.bytes("/secret-film-name.mp4", .bounded(0..<200_000))
            let resource = try bench.cache.resource(for: bench.origin.url("/secret-film-name.mp4"))
            try await bench.cache.retain(resource, as: .pinned(until: nil))
            func search() throws {
                let plain = TestPattern.bytes(in: 0..<200_000, seed: 1)
                var needles = stride(from: 0, to: plain.count - 16, by: 4096).map { Data(plain[$0..<$0 + 16]) }
                needles += ["secret-film-name", "recognisable-etag", "x-tell", "127.0.0.1", resource.key.hash].map {
                    Data($0.utf8)
                }
                for (name, bytes) in try Self.files(bench) {
                    #expect(!name.contains("secret") && !name.contains(resource.key.hash.prefix(16)))
                    for needle in needles { #expect(bytes.range(of: needle) == nil, "found in \(name)") }
                }
            }
            _ = try await bench.cache.entries()
            try search()
            await bench.cache.close()
            try search()
        }
    }

    @Test func whatIsStoredIsReadAndFetchedOnce() async throws {
        try await Self.run { bench async throws in
            bench.publish("/a", length: 1_000_000)
            #expect(
                try await bench.bytes("/a", .bounded(70_001..<500_003))
                    == TestPattern.bytes(in: 70_001..<500_003, seed: 1))
            #expect(try await bench.bytes("/a") == TestPattern.bytes(in: 0..<1_000_000, seed: 1))
            try await Self.again(bench) { cache async throws in
                let resource = try cache.resource(for: bench.origin.url("/a"))
                #expect(try await resource.read().collect() == TestPattern.bytes(in: 0..<1_000_000, seed: 1))
                let stored = try #require(resource.storedInMemory())
                #expect(stored.region() == nil, "a sealed region must not go to sendfile")
            }
            #expect(await bench.origin.settledSnapshot().bytesSentMoreThanOnce == 0)
        }
    }

    @Test func aReaderGetsBytesBeforeTheirChunkIsSealed() async throws {
        try await Self.run { bench async throws in
            bench.publish("/a", length: 200_000)
            bench.origin.hold("/a", at: 10_000)
            let read = try await bench.cache.resource(for: bench.origin.url("/a")).read()
            var bytes: [UInt8] = []
            while bytes.count < 10_000, let piece = try await read.next() { bytes += try piece.bytes() }
            #expect(bytes == TestPattern.bytes(in: 0..<10_000, seed: 1))
            bench.origin.release("/a")
            while let piece = try await read.next() { bytes += try piece.bytes() }
            #expect(bytes == TestPattern.bytes(in: 0..<200_000, seed: 1))
        }
    }

    @Test func whatAKilledOpeningLeftInPlainIsRemoved() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 100_000)
            _ = try await bench.bytes("/a")
            await bench.cache.close()
            // As if an opening with a key had been killed when the plain index was set aside.
            let path = bench.directory.path
            try FileManager.default.moveItem(
                atPath: path + "/catalogue.sqlite", toPath: path + "/catalogue.damaged")
            let left = Mutex<[String]?>(nil)
            try await bench.reopened(configure: {
                $0.encryption = Self.encryption
                $0.reached = { point in
                    // Before anything is searched for in the background.
                    if point == .opened { left.withLock { $0 = DiskUse.mediaFiles(of: path) } }
                }
            }) { _ in }
            #expect(left.withLock { $0 } == [], "plain bytes are left")
            #expect(!FileManager.default.fileExists(atPath: path + "/catalogue.damaged"))
        }
    }

    @Test func swappedChunksAndEntriesAreHoles() async throws {
        try await Self.run { bench async throws in
            for path in ["/a", "/b"] { bench.publish(path, length: 131_072, seed: path == "/a" ? 1 : 2) }
            for path in ["/a", "/b"] { _ = try await bench.bytes(path) }
            await bench.cache.close()
            let files = DiskUse.mediaFiles(of: bench.directory.path)
            let data = try files.map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
            let half = 65_536
            // The two chunks of one entry change places; the other entry gets the file of the first.
            try (data[0].suffix(half) + data[0].prefix(half)).write(to: URL(fileURLWithPath: files[0]))
            try data[0].write(to: URL(fileURLWithPath: files[1]))
            try await Self.again(bench) { cache async throws in
                let log = EventLog(cache)
                for (path, seed) in [("/a", UInt64(1)), ("/b", 2)] {
                    let read = try await cache.resource(for: bench.origin.url(path)).read()
                    #expect(try await read.collect() == TestPattern.bytes(in: 0..<131_072, seed: seed))
                }
                await cache.close()
                let failed = await log.all().filter { if case .verificationFailed = $0 { true } else { false } }
                #expect(failed.count == 4)
            }
        }
    }

    @Test func recordsMovedToAnotherEntryOrGenerationAreRefused() async throws {
        try await Self.run { bench async throws in
            for path in ["/a", "/b"] { bench.publish(path, length: 65_536, seed: path == "/a" ? 1 : 2) }
            for path in ["/a", "/b"] { _ = try await bench.bytes(path) }
            await bench.cache.close()
            let queue = try DatabaseQueue(path: bench.directory.path(of: "catalogue.sqlite"))
            // Each entry is given the generation of the other, with all rows: two entries are swapped.
            try await queue.write { database in
                let rows = try Row.fetchAll(database, sql: "SELECT keyHash, generation FROM entry")
                for (index, row) in rows.enumerated() {
                    let other = rows[1 - index]
                    try database.execute(
                        sql: "UPDATE entry SET generation = ? WHERE keyHash = ?",
                        arguments: [other["generation"] as Int64, row["keyHash"] as String])
                }
            }
            try queue.close()
            try await Self.again(bench) { cache async throws in
                for (path, seed) in [("/a", UInt64(1)), ("/b", 2)] {
                    let read = try await cache.resource(for: bench.origin.url(path)).read()
                    #expect(try await read.collect() == TestPattern.bytes(in: 0..<65_536, seed: seed))
                }
            }
            #expect(bench.origin.snapshot.requestCount == 4)
        }
    }

    @Test func everyFlippedBitOfAChunkIsDetected() throws {
        let sealer = Vault(key: Self.key).sealer(name: "name", generation: 7, salt: [1, 2, 3])
        let plain = TestPattern.bytes(in: 0..<700, seed: 1)
        let (sealed, chunk) = try sealer.seal(plain[...], at: 4096)
        #expect(sealer.open([UInt8](sealed), of: chunk) == Data(plain))
        for bit in 0..<sealed.count * 8 {
            var bytes = [UInt8](sealed)
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(sealer.open(bytes, of: chunk) == nil, "bit \(bit)")
        }
        let record = [chunk].packed
        for bit in 0..<record.count * 8 {
            var bytes = record
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            for damaged in [Chunk](packed: bytes, block: 0, isSealed: true) {
                #expect(sealer.open([UInt8](sealed), of: damaged) == nil, "bit \(bit) of the record")
            }
        }
    }

    @Test func everyFlippedBitOfARecordIsDetected() throws {
        for vault in [Vault(key: Self.key), nil] {
            let codec = RecordCodec(vault: vault)
            let record = GenerationRecord(
                id: 5, key: CacheKey("http://h/a"), url: try ResourceURL("http://h/a"),
                fields: [.contentType: "video/mp4", .eTag: "\"x\""], completeLength: 1000, rangesSupported: true,
                finalHost: "h", requestTime: 1, responseTime: 2, salt: [9, 9])
            let data = try codec.encode(record, name: "n")
            #expect(codec.decode(data, id: 5, name: "n", salt: [9, 9])?.completeLength == 1000)
            #expect(codec.decode(data, id: 6, name: "n", salt: [9, 9]) == nil)
            #expect(codec.decode(data, id: 5, name: "m", salt: [9, 9]) == nil)
            if vault != nil { #expect(codec.decode(data, id: 5, name: "n", salt: [9, 8]) == nil) }
            for bit in 0..<data.count * 8 {
                var bytes = data
                bytes[bit / 8] ^= 1 << UInt8(bit % 8)
                #expect(codec.decode(bytes, id: 5, name: "n", salt: [9, 9]) == nil, "bit \(bit)")
            }
        }
    }

    @Test func chunksAreBoundToWhereTheyLie() throws {
        let vault = Vault(key: Self.key)
        let plain = TestPattern.bytes(in: 0..<100, seed: 1)
        let sealer = vault.sealer(name: "name", generation: 7, salt: [1])
        let (sealed, chunk) = try sealer.seal(plain[...], at: 0)
        let bytes = [UInt8](sealed)
        let moved = Chunk(start: 100, length: 100, checksum: 0, seal: chunk.seal)
        let cut = Chunk(start: 0, length: 99, checksum: 0, seal: chunk.seal)
        #expect(sealer.open(bytes, of: moved) == nil)
        #expect(sealer.open(Array(bytes.dropLast()), of: cut) == nil)
        for other in [
            vault.sealer(name: "other", generation: 7, salt: [1]), vault.sealer(name: "name", generation: 8, salt: [1]),
            vault.sealer(name: "name", generation: 7, salt: [2]),
            Vault(key: SymmetricKey(size: .bits256)).sealer(name: "name", generation: 7, salt: [1]),
        ] { #expect(other.open(bytes, of: chunk) == nil) }
        let (again, _) = try sealer.seal(plain[...], at: 0)
        #expect(again != sealed, "the nonce must be fresh each time")
    }

    @Test func aKeyFileHoldsBytesOrDigits() throws {
        let directory = try TemporaryDirectory()
        let digits = String(repeating: "42", count: 32)
        let text = try directory.write(Array((digits + "\n").utf8), to: "text")
        let raw = try directory.write([UInt8](repeating: 0x42, count: 32), to: "raw")
        let short = try directory.write([1, 2, 3], to: "short")
        #expect(try KeyFile(path: text).key() == Self.key)
        #expect(try KeyFile(path: raw).key() == Self.key)
        for path in [short, directory.path(of: "none")] {
            #expect { try KeyFile(path: path).key() } throws: { ($0 as? RepriseError)?.code == .keyUnavailable }
        }
    }
}
