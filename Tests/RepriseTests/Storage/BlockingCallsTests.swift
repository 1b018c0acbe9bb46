import ByteRanges
import Foundation
import HTTPSemantics
import Primitives
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// Calls that may wait for the disk run on a thread of the disk queue, and never on the cooperative pool.
@Suite(.limit(minutes: 1)) struct BlockingCallsTests {
    @Test("no work of the cache waits for the disk on the cooperative pool", arguments: [false, true])
    func everything(isSealed: Bool) async throws {
        let key = try #require(KeyFile.key(hexadecimal: String(repeating: "5a", count: 32)))
        let calls = Mutex<[String: Int]>([:])
        let note: @Sendable (String) -> Void = { name in
            // The system knows it without the disk.
            guard !name.hasPrefix("freeBytes") else { return }
            calls.withLock { $0[name, default: 0] += 1 }
        }
        try await FaultyDisk.$onUse.withValue(note) {
            try await IndexDatabase.$onRead.withValue({ note("read of the index") }) {
                try await DiskQueue.$hasNoTaskExecutors.withValue(true) {
                    try await Bench.run(configure: { configuration in
                        configuration.fileSystem = FaultyDisk()
                        configuration.encryption = isSealed ? CacheEncryption(key: key) : nil
                        configuration.limit = 1_000_000
                        configuration.maximumAge = .seconds(3600)
                    }) { bench async throws in
                        try await Self.play(bench)
                        try await Self.manage(bench)
                        try await bench.reopened(configure: { configuration in
                            configuration.fileSystem = FaultyDisk()
                            configuration.encryption = isSealed ? CacheEncryption(key: key) : nil
                        }) { cache async throws in
                            _ = try await cache.resource(for: bench.origin.url("/7")).read().collect()
                        }
                    }
                }
            }
        }
        for (name, count) in calls.withLock({ $0 }) { Issue.record("\(count) times \(name)") }
    }

    /// Fetches, reads, replaces and evicts.
    private static func play(_ bench: Bench) async throws {
        for number in 0..<8 { bench.publish("/\(number)", length: 300_000) }
        _ = try await bench.bytes("/0", .bounded(100_000..<200_000))
        for number in 0..<8 { _ = try await bench.bytes("/\(number)") }
        _ = try await bench.bytes("/7")
        bench.publish("/7", length: 200_000, seed: 2, etag: "\"v2\"")
        var directives = CacheControl()
        directives.noCache = true
        _ = try await bench.cache.resource(for: bench.origin.url("/7")).read(directives: directives).collect()
    }

    /// Keeps, lists, verifies, exports and removes.
    private static func manage(_ bench: Bench) async throws {
        let cache = bench.cache
        let resource = try cache.resource(for: bench.origin.url("/7"))
        try await cache.retain(resource, as: .pinned)
        let other = try cache.resource(for: bench.origin.url("/6"))
        try await cache.retain(other, as: .download)
        for await list in cache.downloads.updates(every: .zero) where list.allSatisfy({ "\($0.state)" == "done" }) {
            break
        }
        _ = try await cache.entries()
        _ = try await cache.titles()
        _ = await resource.stored()
        let directory = try TemporaryDirectory()
        try await resource.export(to: directory.path(of: "copy"))
        _ = try await cache.verify()
        try await cache.setLimit(700_000)
        _ = try await cache.remove([resource.key])
        try await cache.removeEntries(unusedFor: .zero)
    }
}
