import Foundation
import RepriseHTTPClient
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// A disk without a free byte: opening the cache removes nothing, and the reserve gives the index its room.
@Suite(.limit(minutes: 2)) struct FullDiskTests {
    private static let names = ["/a", "/b", "/c", "/d"]

    /// Runs `body` with a closed cache of four entries, of which `/b` is pinned, on a small disk; on Linux as root
    /// only.
    private static func run(
        _ body: (_ directory: String, _ open: () async throws -> MediaCache, TestOrigin) async throws -> Void
    ) async throws {
        let mount = try TemporaryDirectory()
        defer { mount.remove() }
        guard try await Self.mount(mount.path) else {
            print("skipped: a small file system can be mounted by root on Linux only")
            return
        }
        let origin = try await TestOrigin.start()
        let client = NIOOrigin()
        let directory = mount.path + "/cache"
        func open() async throws -> MediaCache {
            var configuration = MediaCache.Configuration()
            configuration.minimumFree = 0
            return try await MediaCache.open(directory: directory, origin: client, configuration: configuration)
        }
        let result: Result<Void, any Error>
        do {
            for name in names { origin.set(TestOrigin.Resource(.pattern(seed: 1, length: 200_000)), at: name) }
            let cache = try await open()
            for name in names { _ = try await cache.resource(for: origin.url(name)).read().collect() }
            try await cache.retain(cache.resource(for: origin.url("/b")), as: .pinned(until: nil))
            await cache.close()
            try fill(mount.path + "/filler")
            result = .success(try await body(directory, open, origin))
        } catch { result = .failure(error) }
        await client.shutdown()
        await origin.stop()
        _ = try await ChildProcess.run("/bin/umount", ["-l", mount.path])
        try result.get()
    }

    private static func mount(_ path: String) async throws -> Bool {
        #if os(Linux)
            guard getuid() == 0, FileManager.default.isExecutableFile(atPath: "/bin/mount") else { return false }
            let outcome = try await ChildProcess.run("/bin/mount", ["-t", "tmpfs", "-o", "size=6m", "tmpfs", path])
            return outcome.exit == .status(0)
        #else
            return false
        #endif
    }

    /// Writes to `path` until the disk is full.
    private static func fill(_ path: String) throws {
        let file = try SystemFileSystem().open(path, create: true)
        let zeros = [UInt8](repeating: 0, count: 4096)
        var offset: Int64 = 0
        while let count = try? zeros.withUnsafeBytes({ try file.write($0, at: offset) }), count > 0 {
            offset += Int64(count)
        }
    }

    @Test("opening for writing removes no media, and an entry can be removed")
    func openedFromTheReserve() async throws {
        try await Self.run { directory, open, origin in
            let files = DiskUse.mediaFiles(of: directory)
            let cache = try await open()
            await cache.settle()
            #expect(DiskUse.mediaFiles(of: directory) == files && files.count == 4)
            #expect(!cache.isReadOnly)
            try await cache.remove([cache.resource(for: origin.url("/d")).key])
            #expect(try await cache.entries().count == 3)
            #expect(try await cache.verify().isSound)
            await cache.close()
            #expect(DiskUse.mediaFiles(of: directory).count == 3)
        }
    }

    @Test("an index that has no room in the middle of the work says that the disk is full, and goes on when it is not")
    func fullWhileOpen() async throws {
        try await Self.run { directory, open, origin in
            let cache = try await open()
            await cache.settle()
            try Self.fill(directory + "/../filler2")
            let resource = try cache.resource(for: origin.url("/a"))
            // The log has blocks of its own, which must be used up first.
            let error = await #expect(throws: RepriseError.self) {
                for number in 0..<10_000 {
                    try await cache.nameTitle(of: resource, name: "\(number)" + String(repeating: "x", count: 900))
                }
            }
            #expect(error?.code == .storageFull, "\(error as Any)")
            #expect(error.flatMap { Download.Obstacle($0) } == .space)
            for filler in ["filler", "filler2"] {
                try FileManager.default.removeItem(atPath: directory + "/../" + filler)
            }
            try await cache.nameTitle(of: resource, name: "again")
            #expect(try await cache.titles().contains { $0.name == "again" })
            await cache.close()
        }
    }

    @Test("a damaged index is set aside in the reserve's room, and the reason is told")
    func damagedIndex() async throws {
        try await Self.run { directory, open, origin in
            let index = try SystemFileSystem().open(directory + "/" + IndexDatabase.fileName, create: false)
            let garbage = [UInt8](repeating: 0x5A, count: 400)
            #expect(try garbage.withUnsafeBytes { try index.write($0, at: 0) } == 400)
            let cache = try await open()
            let reason = cache.resetReason ?? ""
            #expect(reason.contains("file is not a database") && reason.contains("catalogue.damaged"), "\(reason)")
            await cache.close()
        }
    }

    @Test("without a reserve the cache is opened for reading, says why, and serves what it has")
    func openedForReading() async throws {
        try await Self.run { directory, open, origin in
            let files = DiskUse.mediaFiles(of: directory)
            let reserve = directory + "/index.reserve"
            if FileManager.default.fileExists(atPath: reserve) {
                try FileManager.default.removeItem(atPath: reserve)
                try Self.fill(directory + "/../filler2")
            }
            let cache = try await open()
            await cache.settle()
            #expect(DiskUse.mediaFiles(of: directory) == files && files.count == 4)
            #expect(cache.isReadOnly)
            let bytes = try await cache.resource(for: origin.url("/b")).read().collect()
            #expect(bytes == TestPattern.bytes(in: 0..<200_000, seed: 1))
            let error = await #expect(throws: RepriseError.self) {
                try await cache.removeAll()
            }
            #expect(error?.code == .storageFull && error?.message.contains("Free some") == true, "\(error as Any)")
            await cache.close()
            #expect(DiskUse.mediaFiles(of: directory) == files)
        }
    }
}
