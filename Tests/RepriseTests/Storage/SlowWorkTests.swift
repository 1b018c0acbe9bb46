import Dispatch
import Foundation
import Primitives
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// Work that takes long, or waits for a disk that does not answer, holds up no reads.
@Suite(.limit(minutes: 1)) struct SlowWorkTests {
    @Test("while the whole index is read, files are served, and canceled work never starts")
    func scans() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 300_000)
            _ = try await bench.bytes("/a")
            await bench.cache.becomeIdle()
            let (semaphore, isReached) = (DispatchSemaphore(value: 0), Promise<Void>())
            let first = Task {
                await DiskQueue.scans.run {
                    isReached.fulfill()
                    semaphore.wait()
                }
            }
            await isReached.value
            let progress = Mutex(0)
            let cache = bench.cache
            let left: [Task<Void, any Error>] = [
                Task { _ = try await cache.verify { _, _ in progress.withLock { $0 += 1 } } },
                Task { _ = try await cache.entries() }, Task { _ = try await cache.titles() },
                Task { _ = try await cache.awaitedEntries() },
            ]
            let stays = Task { try await cache.entries().count }
            #expect(try await bench.bytes("/a").count == 300_000)
            for task in left { task.cancel() }
            semaphore.signal()
            await first.value
            for task in left { await #expect(throws: CancellationError.self) { try await task.value } }
            #expect(progress.withLock { $0 } == 0)
            #expect(try await stays.value == 1)
        }
    }

    @Test("while a file cannot be created, stored files are opened and read")
    func creation() async throws {
        let disk = FaultyDisk()
        try await Bench.run { bench async throws in
            for path in ["/a", "/b"] { bench.publish(path, length: 300_000) }
            _ = try await bench.bytes("/a")
            try await bench.reopened(configure: { $0.fileSystem = disk }) { cache async throws in
                let (semaphore, isReached) = (DispatchSemaphore(value: 0), Promise<Void>())
                disk.setWillCreate {
                    isReached.fulfill()
                    semaphore.wait()
                }
                let new = Task { try await cache.resource(for: bench.origin.url("/b")).read().collect().count }
                await isReached.value
                #expect(try await cache.resource(for: bench.origin.url("/a")).read().collect().count == 300_000)
                disk.setWillCreate(nil)
                semaphore.signal()
                #expect(try await new.value == 300_000)
            }
        }
    }
}
