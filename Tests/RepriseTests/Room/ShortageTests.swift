import GRDB
import HTTPSemantics
import HTTPTypes
import Primitives
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// If eviction cannot cure a shortage, it evicts nothing.
@Suite(.limit(minutes: 2)) struct ShortageTests {
    private static func reason(_ log: EventLog) async -> String {
        guard
            case .storeBypassed(_, let reason) = await log.first({ if case .storeBypassed = $0 { true } else { false } }
            )
        else { return "" }
        return reason
    }

    /// A cache on a disk whose free bytes the test sets.
    private static func run(
        minimumFree: Int64, _ body: (Bench, _ setFree: (Int64) -> Void) async throws -> Void
    ) async throws {
        let disk = FaultyDisk()
        let free = Mutex(Int64(1 << 40))
        disk.setFreeBytes { free.withLock { $0 } }
        try await Bench.run(configure: {
            $0.fileSystem = disk
            $0.minimumFree = minimumFree
        }) { bench async throws in
            try await body(bench) { bytes in free.withLock { $0 = bytes } }
        }
    }

    @Test func aDiskThatOthersFillEvictsNothing() async throws {
        try await Self.run(minimumFree: 200_000_000) { bench, setFree async throws in
            for number in 0..<20 {
                bench.publish("/\(number)", length: 100_000)
                _ = try await bench.bytes("/\(number)")
            }
            let log = EventLog(bench.cache)
            setFree(100_000_000)
            bench.publish("/small", length: 1000)
            // Room reserved before is used up first.
            bench.publish("/large", length: 3_000_000)
            _ = try await bench.bytes("/large")
            #expect(try await bench.cache.entries().filter { $0.url.lastPathComponent != "large" }.count == 20)
            let reason = await Self.reason(log)
            #expect(reason.contains("disk is almost full"), "\(reason)")
            #expect(reason.contains("minimumFree"), "\(reason)")
            // A shortage of a little less than the stored bytes can be cured.
            setFree(199_900_000)
            _ = try await bench.bytes("/small")
        }
    }

    @Test("long heads stay under the limit with their entries, and leave room for others")
    func longHeads() async throws {
        let limit: Int64 = 3_000_000
        try await Bench.run(configure: { $0.limit = limit }) { bench async throws in
            for number in 0..<150 {
                bench.publish("/\(number)", length: 1) { personality in
                    for field in 0..<20 {
                        guard let name = HTTPField.Name("X-\(field)") else { continue }
                        personality.fields[name] = String(repeating: "x", count: 2000)
                    }
                }
                _ = try await bench.bytes("/\(number)")
                await bench.cache.becomeIdle()
            }
            bench.publish("/film", length: 500_000)
            for _ in 0..<2 { _ = try await bench.bytes("/film") }
            #expect(bench.origin.snapshot["/film"].requestCount == 1)
            await bench.cache.becomeIdle()
            let index = bench.cache.engine.store?.quota.indexBytes ?? .max
            #expect(index + bench.cache.storedBytes < limit + 1 << 20)
        }
    }

    @Test("where there is no room, the response goes to its reader, and the origin is asked once")
    func noRoomCostsNoRequest() async throws {
        try await Self.run(minimumFree: 200_000_000) { bench, setFree async throws in
            setFree(100_000_000)
            for number in 0..<3 {
                bench.publish("/\(number)", length: 300_000, seed: UInt64(number))
                let isRight =
                    try await bench.bytes("/\(number)") == TestPattern.bytes(in: 0..<300_000, seed: UInt64(number))
                #expect(isRight)
                let asked = await bench.origin.settledSnapshot()["/\(number)"]
                #expect(asked.requestCount == 1 && asked.bodyBytesSent == 300_000)
            }
        }
    }

    @Test("a file larger than the disk evicts nothing, whatever must stay free", arguments: [0, 1_000_000])
    func aFileLargerThanTheDisk(minimumFree: Int64) async throws {
        try await Self.run(minimumFree: minimumFree) { bench, setFree async throws in
            for number in 0..<5 {
                bench.publish("/\(number)", length: 100_000)
                _ = try await bench.bytes("/\(number)")
            }
            setFree(1_500_000)
            bench.publish("/large", length: 3_000_000)
            let resource = try bench.cache.resource(for: bench.origin.url("/large"))
            let whole = try await resource.readWhole()
            whole.read.cancel()
            guard case .disk(let length, 1_500_000, Quota.indexRoom)? = whole.obstacle else {
                Issue.record("\(String(describing: whole.obstacle))")
                return
            }
            #expect(length == 3_000_000)
            await bench.cache.becomeIdle()
            #expect(try await bench.cache.entries().filter { $0.url.lastPathComponent != "large" }.count == 5)
            try await bench.cache.retain(resource, as: .download)
            let events = EventLog(bench.cache)
            guard
                case .downloadEnded(_, let error?) = await events.first({
                    if case .downloadEnded = $0 { true } else { false }
                })
            else {
                Issue.record("it did not end")
                return
            }
            #expect(error.message.contains("1500000 are free on the disk"), "\(error)")
            #expect(try await bench.cache.entries().filter { $0.url.lastPathComponent != "large" }.count == 5)
        }
    }

    @Test func pinsThatLeaveNoRoomEvictNothingElse() async throws {
        try await Bench.run(configure: {
            $0.limit = 10_000_000
            $0.minimumFree = 0
        }) { bench async throws in
            bench.publish("/pinned", length: 8_500_000)
            bench.publish("/kept", length: 500_000)
            bench.publish("/large", length: 9_000_000)
            _ = try await bench.bytes("/pinned")
            try await bench.cache.retain(
                bench.cache.resource(for: bench.origin.url("/pinned")), as: .pinned(until: nil))
            _ = try await bench.bytes("/kept")
            _ = try await bench.bytes("/large", .bounded(0..<2))
            #expect(try await bench.cache.entries().contains { $0.url.lastPathComponent == "pinned" })
        }
    }

    /// Keeps other writers out of the index.
    private static func lockIndex(_ bench: Bench) throws -> DatabaseQueue {
        var configuration = GRDB.Configuration()
        configuration.allowsUnsafeTransactions = true
        let queue = try DatabaseQueue(
            path: bench.directory.path(of: "catalogue.sqlite"), configuration: configuration)
        try queue.inDatabase { try $0.execute(sql: "BEGIN IMMEDIATE") }
        return queue
    }

    @Test func anIndexThatCannotBeWrittenForLongPinsNoFiles() async throws {
        let disk = FaultyDisk()
        let clock = ShiftableClock()
        try await Bench.run(configure: {
            $0.fileSystem = disk
            $0.clock = clock.cacheClock
            $0.recordDelay = .seconds(3600)
        }) { bench async throws in
            let count = Recorder.mostWaiting + 40
            for number in 0..<count {
                bench.publish("/\(number)", length: 10_000)
                _ = try await bench.bytes("/\(number)")
            }
            await bench.cache.becomeIdle()
            let log = EventLog(bench.cache)
            let queue = try Self.lockIndex(bench)
            #expect(await bench.cache.engine.store?.recorder.flush() == false)
            let told = await log.first { event in
                if case .storeBypassed(_, let reason) = event { reason.contains("until it can be") } else { false }
            }
            #expect(told != nil)
            // The newest ones are kept, the others' bytes are removed.
            await eventually { DiskUse.mediaFiles(of: bench.directory.path).count <= Recorder.mostWaiting }
            #expect(DiskUse.mediaFiles(of: bench.directory.path).count == Recorder.mostWaiting)
            #expect(bench.cache.storedBytes == Int64(Recorder.mostWaiting) * 10_000)
            bench.publish("/new", length: 10_000)
            #expect(try await bench.bytes("/new").count == 10_000)
            #expect(DiskUse.mediaFiles(of: bench.directory.path).count == Recorder.mostWaiting, "nothing is stored")
            try queue.inDatabase { try $0.execute(sql: "COMMIT") }
            try queue.close()
            #expect(await bench.cache.engine.store?.recorder.flush() == true)
            #expect(try await bench.bytes("/new").count == 10_000)
            #expect(bench.cache.storedBytes == Int64(Recorder.mostWaiting + 1) * 10_000)
            #expect(try await bench.cache.entries().count == Recorder.mostWaiting + 1)
        }
    }

    /// A function in a generic container is wrapped again by each access.
    @Test func theListenerIsCalledAtTheSameDepthAfterManyRemovals() async throws {
        let addresses = Mutex<Set<UInt>>([])
        try await Bench.run { bench async throws in
            let engine = bench.cache.engine
            engine.removalListener.withLock { listener in
                listener = RemovalListener { _, _ in
                    var local = 0
                    let address = withUnsafeMutablePointer(to: &local) { UInt(bitPattern: $0) }
                    addresses.withLock { _ = $0.insert(address) }
                }
            }
            for _ in 0..<100 { engine.noteGone([CacheKey("a")], byEviction: true) }
        }
        #expect(addresses.withLock { $0.count } == 1)
    }
}
