import Foundation
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// Apps may protect their files so that they cannot be read while the device is locked; a cache plays behind the lock
/// screen all the same.
@Suite(.limit(minutes: 1)) struct DataProtectionTests {
    @Test func nothingInANewDirectoryTakesTheProtectionOfTheApp() async throws {
        let disk = FaultyDisk()
        try await Bench.run { bench async throws in
            let app = bench.directory.path(of: "app")
            disk.setUnreadableWhileLocked([app])
            bench.publish("/a", length: 100_000)
            var configuration = MediaCache.Configuration()
            configuration.fileSystem = disk
            let cache = try await MediaCache.open(
                directory: app + "/cache", origin: bench.client, configuration: configuration)
            let read = try? await cache.resource(for: bench.origin.url("/a")).read().collect()
            await cache.close()
            #expect(read?.count == 100_000)
            #expect(!DiskUse.mediaFiles(of: app + "/cache").isEmpty)
            #expect(disk.unreadableWhileLocked == [app])
        }
    }

    /// What of a cache an earlier version left with the protection of the app.
    private struct Paths {
        let lock, media, folder, file: String

        init(_ bench: Bench) throws {
            file = try #require(DiskUse.mediaFiles(of: bench.directory.path).first)
            folder = URL(fileURLWithPath: file).deletingLastPathComponent().path
            media = bench.directory.path(of: "media")
            lock = bench.directory.path(of: "lock")
        }

        var all: Set<String> { [lock, media, folder, file] }
    }

    /// Runs `body` with a closed cache whose files an earlier version has made.
    private static func run(_ body: (Bench, FaultyDisk, Paths) async throws -> Void) async throws {
        let disk = FaultyDisk()
        try await Bench.run(configure: { $0.fileSystem = disk }) { bench async throws in
            bench.publish("/a", length: 100_000)
            _ = try await bench.bytes("/a")
            await bench.cache.close()
            let paths = try Paths(bench)
            disk.setUnreadableWhileLocked(paths.all)
            try await body(bench, disk, paths)
        }
    }

    @Test func theFilesOfAnEarlierVersionBecomeReadable() async throws {
        try await Self.run { bench, disk, _ async throws in
            try await bench.reopened(configure: { $0.fileSystem = disk }) { _ async throws in }
            #expect(disk.unreadableWhileLocked.isEmpty)
        }
    }

    @Test func filesThatALockedDeviceLeavesAsTheyAreAreChangedWithTheNextOpening() async throws {
        try await Self.run { bench, disk, paths async throws in
            disk.setLocked(true)
            try await bench.reopened(configure: { $0.fileSystem = disk }) { _ async throws in }
            #expect(disk.unreadableWhileLocked == [paths.lock, paths.media, paths.file])
            disk.setLocked(false)
            try await bench.reopened(configure: { $0.fileSystem = disk }) { _ async throws in }
            #expect(disk.unreadableWhileLocked.isEmpty)
        }
    }
}
