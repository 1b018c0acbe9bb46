import Crypto
import Foundation
import HTTPTypes
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// Files that a program has already become entries of the cache.
@Suite(.limit(minutes: 2)) struct ImportTests {
    private static let length = 1_000_000
    private static let bytes = TestPattern.bytes(in: 0..<Int64(length), seed: 7)
    private static let fields: HTTPFields = [.contentType: "video/mp4", .eTag: "\"v1\""]

    /// Runs `body` with a cache whose origin answers nothing, and a file to import.
    private static func run(
        isEncrypted: Bool = false, configure: (inout MediaCache.Configuration) -> Void = { _ in },
        _ body: (Bench, _ file: URL, _ url: URL) async throws -> Void
    ) async throws {
        let key = try #require(KeyFile.key(hexadecimal: String(repeating: "5a", count: 32)))
        try await Bench.run(configure: { configuration in
            if isEncrypted { configuration.encryption = CacheEncryption(key: key) }
            configure(&configuration)
        }) { bench async throws in
            let folder = try TemporaryDirectory()
            defer { folder.remove() }
            let file = URL(fileURLWithPath: folder.path(of: "film.mp4"))
            try Data(bytes).write(to: file)
            try await body(bench, file, try #require(URL(string: bench.origin.url("/film.mp4"))))
        }
    }

    private static func code(_ error: any Error) -> RepriseError.Code? { (error as? RepriseError)?.code }

    @Test("an imported file plays without any origin", arguments: [false, true], [false, true])
    func anImportedFilePlaysWithoutAnyOrigin(isEncrypted: Bool, isOffline: Bool) async throws {
        try await Self.run(isEncrypted: isEncrypted, configure: { $0.reuse.isOffline = isOffline }) {
            bench, file, url async throws in
            let film = try await bench.cache.importFile(at: file, as: url, responseFields: Self.fields)
            #expect(await film.isCached)
            #expect(try await film.data() == Data(Self.bytes))
            #expect(try await film.read(999_000...).collect() == [UInt8](Self.bytes[999_000...]))
            let information = try #require(film.storedInMemory()?.information)
            #expect(information.mediaType == "video/mp4")
            #expect(information.validators.etag?.description == "\"v1\"")
            #expect(information.completeLength == Int64(Self.length))
            #expect(bench.cache.statistics.originRequests == 0)
            #expect(bench.cache.statistics.bytesFetched == 0)
            #expect(await bench.origin.settledSnapshot()["/film.mp4"].requests.isEmpty)
            if isEncrypted {
                let stored = bench.directory.path(of: "media")
                let names = try FileManager.default.subpathsOfDirectory(atPath: stored)
                let plain = Data(Self.bytes[0..<64])
                for name in names {
                    let content = try? Data(contentsOf: URL(fileURLWithPath: stored + "/" + name))
                    #expect(content?.range(of: plain) == nil)
                }
            }
        }
    }

    @Test("with its validator the origin is asked, and confirms it (RFC 9111 §4.3)")
    func anImportedFileIsValidated() async throws {
        let clock = ShiftableClock()
        try await Self.run(configure: { $0.clock = clock.cacheClock }) { bench, file, url async throws in
            bench.publish("/film.mp4", length: Int64(Self.length), seed: 7)
            let film = try await bench.cache.importFile(at: file, as: url, responseFields: Self.fields)
            clock.shift(by: .seconds(30 * 86_400))
            #expect(try await film.data() == Data(Self.bytes))
            let counts = await bench.origin.settledSnapshot()["/film.mp4"]
            #expect(counts.requests.count == 1)
            #expect(counts.bodyBytesSent == 0)
        }
    }

    @Test func theFileSurvivesClosingAndReplacesWhatWasStored() async throws {
        try await Self.run { bench, file, url async throws in
            bench.publish("/film.mp4", length: 300_000, seed: 1, etag: "\"v0\"")
            let film = try bench.cache.resource(for: url)
            _ = try await film.read(0..<1000).collect()
            try await bench.cache.retain(film, as: .pinned)
            try await bench.cache.importFile(at: file, as: film, responseFields: Self.fields)
            #expect(try await bench.cache.retention(of: film) == .pinned)
            #expect(try Data(contentsOf: file) == Data(Self.bytes), "the file stays")
            try await bench.reopened { cache async throws in
                #expect(await cache.isCached(url))
                let entries = try await cache.entries()
                #expect(entries.map(\.storedBytes) == [Int64(Self.length)])
                #expect(try await cache.verify().isSound)
            }
        }
    }

    @Test func whatIsNoRegularFileIsRefused() async throws {
        try await Self.run { bench, file, url async throws in
            let folder = file.deletingLastPathComponent()
            let pipe = folder.appendingPathComponent("pipe")
            #expect(mkfifo(pipe.path, 0o600) == 0)
            let empty = folder.appendingPathComponent("empty")
            try Data().write(to: empty)
            let remote = try #require(URL(string: "https://example.com/film.mp4"))
            let wrong = [
                pipe, folder, empty, folder.appendingPathComponent("none"), URL(fileURLWithPath: "/dev/null"), remote,
            ]
            for source in wrong {
                await #expect("\(source)") { try await bench.cache.importFile(at: source, as: url) } throws: {
                    Self.code($0) == .invalidArgument
                }
            }
            await #expect { try await bench.cache.importFile(at: file, as: file) } throws: {
                Self.code($0) == .invalidURL
            }
            #expect(try await bench.cache.entries().isEmpty)
        }
    }

    @Test func aLinkLeadsToItsFile() async throws {
        try await Self.run { bench, file, url async throws in
            let link = file.deletingLastPathComponent().appendingPathComponent("link")
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
            let film = try await bench.cache.importFile(at: link, as: url)
            #expect(try await film.data() == Data(Self.bytes), "also without any field")
        }
    }

    @Test func theLimitIsKept() async throws {
        try await Self.run(configure: { $0.limit = 1_500_000 }) { bench, file, url async throws in
            bench.publish("/old", length: 600_000)
            bench.publish("/pinned", length: 900_000)
            _ = try await bench.bytes("/old")
            try await bench.cache.importFile(at: file, as: url, responseFields: Self.fields)
            #expect(try await bench.cache.entries().map(\.url.target) == ["/film.mp4"], "the older one is evicted")
            #expect(bench.cache.allocatedBytes.media <= 1_500_000)
            try await bench.cache.remove(url)
            let pinned = try bench.cache.resource(for: bench.origin.url("/pinned"))
            _ = try await pinned.data()
            try await bench.cache.retain(pinned, as: .pinned)
            await #expect { try await bench.cache.importFile(at: file, as: url) } throws: {
                Self.code($0) == .storageFull
            }
            #expect(try await bench.cache.entries().map(\.url.target) == ["/pinned"])
        }
    }

    @Test func fieldsThatForbidStoringAreRefused() async throws {
        try await Self.run { bench, file, url async throws in
            var fields = Self.fields
            fields[.cacheControl] = "no-store"
            await #expect { try await bench.cache.importFile(at: file, as: url, responseFields: fields) } throws: {
                Self.code($0) == .invalidArgument
            }
            #expect(try await bench.cache.entries().isEmpty)
            let film = try await bench.cache.importFile(at: file, as: url, responseFields: Self.fields)
            #expect(await film.isCached, "a mistake can be corrected")
        }
    }

    @Test func aCacheWithoutStoreImportsNothing() async throws {
        try await Self.run { bench, file, url async throws in
            let cache = MediaCache.withoutStore(origin: bench.client)
            await #expect { try await cache.importFile(at: file, as: url) } throws: {
                Self.code($0) == .storageUnavailable
            }
        }
    }
}
