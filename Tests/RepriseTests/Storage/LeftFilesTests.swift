import Foundation
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// Files that cannot be removed: that is said, their bytes count, and nothing else goes for them.
@Suite(.limit(minutes: 2)) struct LeftFilesTests {
    private static let names = ["/a", "/b", "/c"]

    private static func run(_ body: (Bench, FaultyDisk) async throws -> Void) async throws {
        let disk = FaultyDisk()
        try await Bench.run(configure: { $0.fileSystem = disk }) { bench async throws in
            for name in names {
                bench.publish(name, length: 100_000)
                _ = try await bench.bytes(name)
            }
            await bench.cache.close()
            try await body(bench, disk)
        }
    }

    private static func used(_ bench: Bench) -> Int64 { DiskUse.bytes(under: bench.directory.path + "/media") }

    @Test("a file in a folder that may not be written is emptied, and named")
    func emptied() async throws {
        try await Self.run { bench, disk async throws in
            try await bench.reopened(configure: { $0.fileSystem = disk }) { cache async throws in
                disk.setRemoveError(EACCES)
                let error = await #expect(throws: RepriseError.self) { try await cache.removeAll() }
                #expect(error?.code == .storageUnavailable)
                #expect(error?.message.contains("3 files cannot be removed, such as \(bench.directory.path)") == true)
                #expect(error?.message.contains("bytes are freed") == true)
                #expect(try await cache.entries().isEmpty)
                #expect(cache.allocatedBytes.media == 0 && Self.used(bench) == 0)
            }
            disk.setRemoveError(nil)
            try await bench.reopened { cache async throws in
                await cache.settle()
                #expect(DiskUse.mediaFiles(of: bench.directory.path).isEmpty)
            }
        }
    }

    @Test("a file that cannot be changed either goes on to count, also after the next opening")
    func counted() async throws {
        try await Self.run { bench, disk async throws in
            let before = Self.used(bench)
            for isFirst in [true, false] {
                disk.setRemoveError(EACCES)
                try await bench.reopened(configure: { $0.fileSystem = disk }) { cache async throws in
                    await cache.settle()
                    if isFirst {
                        disk.setOpenError(EACCES)
                        let (freed, entries, left, problem) = try await cache.engine.removed(
                            cache.entries().map(\.key), endingIn: cache.downloads)
                        #expect(freed == Usage() && entries == 3 && left == 3)
                        #expect(problem?.message.contains("still occupy \(before) bytes") == true)
                        disk.setOpenError(nil)
                    }
                    #expect(cache.allocatedBytes.media == before && Self.used(bench) == before)
                }
            }
            disk.setRemoveError(nil)
            try await bench.reopened(configure: { $0.fileSystem = disk }) { cache async throws in
                await cache.settle()
                #expect(cache.allocatedBytes.media == 0 && Self.used(bench) == 0)
            }
        }
    }

    @Test("pruning stops at a file that cannot be removed")
    func theRestStays() async throws {
        try await Self.run { bench, disk async throws in
            try await bench.reopened(configure: { $0.fileSystem = disk }) { cache async throws in
                disk.setRemoveError(EACCES)
                disk.setOpenError(EACCES)
                let (freed, problem) = await cache.pruned(toSize: 0, olderThan: nil)
                #expect(freed == 0)
                #expect(problem?.message.contains("1 file cannot be removed:") == true)
                #expect(try await cache.entries().count == 2)
                disk.setOpenError(nil)
                disk.setRemoveError(nil)
            }
        }
    }

    @Test func aPruneWhoseTaskIsCanceledRemovesNothing() async throws {
        try await Self.run { bench, disk async throws in
            try await bench.reopened { cache async throws in
                let freed = await Task {
                    withUnsafeCurrentTask { $0?.cancel() }
                    return await cache.prune(toSize: 0)
                }.value
                #expect(freed == 0)
                #expect(try await cache.entries().count == 3)
            }
        }
    }

    @Test("of a file whose size is unknown, it is not said that its bytes are freed")
    func unknown() async throws {
        try await Self.run { bench, disk async throws in
            let before = Self.used(bench)
            try await bench.reopened(configure: { $0.fileSystem = disk }) { cache async throws in
                await cache.settle()
                for error in [disk.setRemoveError, disk.setOpenError, disk.setStatusError] { error(EACCES) }
                let (freed, entries, left, problem) = try await cache.engine.removed(
                    cache.entries().map(\.key), endingIn: cache.downloads)
                #expect(freed == Usage() && entries == 3 && left == 3)
                #expect(problem?.message.contains("still occupy \(before) bytes") == true, "\(problem as Any)")
                #expect(cache.allocatedBytes.media == before && Self.used(bench) == before)
                for error in [disk.setRemoveError, disk.setOpenError, disk.setStatusError] { error(nil) }
            }
        }
    }
}
