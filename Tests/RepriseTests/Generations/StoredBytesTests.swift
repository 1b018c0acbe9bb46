import ByteRanges
import Crypto
import Primitives
import RepriseTesting
import TestSupport
import Testing

@testable import Reprise

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The class alone, on a real file: what is written, verified, charged and freed.
@Suite struct StoredBytesTests {
    private static let fetch = FetchSchedule.FetchID(number: 1)

    private struct Stage {
        let directory: TemporaryDirectory
        let disk = FaultyDisk()
        let quota = Quota(limit: 1 << 30, used: Usage())
        let bytes: StoredBytes

        init(isSealed: Bool = false) throws {
            directory = try TemporaryDirectory()
            let sealer = Vault(key: SymmetricKey(data: [UInt8](repeating: 7, count: 32)))
                .sealer(name: "name", generation: 1, salt: [1])
            bytes = StoredBytes(
                file: try DataFile(path: directory.path + "/media/data", create: true, in: disk), ledger: ChunkLedger(),
                sealer: isSealed ? sealer : nil, quota: quota)
        }

        /// Writes the pattern's bytes of `range` as one fetch does, and ends its open chunk.
        func write(_ range: Range<Int64>) throws {
            var writer = ChunkWriter(into: bytes, for: StoredBytesTests.fetch)
            try writer.write(TestPattern.bytes(in: range, seed: 1), at: range.lowerBound, part: range)
            try writer.finish()
            bytes.noteStored(range.upperBound - range.lowerBound)
        }

        /// What ``StoredBytes/verify(_:isRight:)`` says about `range`.
        func verify(_ range: Range<Int64>) -> (right: ByteRangeSet, wrong: [Range<Int64>]) {
            var right = ByteRangeSet()
            let wrong = bytes.verify(range) { right.insert($0) }
            return (right, wrong.map(\.range))
        }

        /// Overwrites one byte behind the back of the class.
        func damage(_ position: Int64) throws {
            let wrong = [TestPattern.byte(at: position, seed: 1) ^ 1]
            try wrong.withUnsafeBytes { try bytes.file.write($0, at: position) }
        }
    }

    @Test func whatWasWrittenIsRight() throws {
        let stage = try Stage()
        try stage.write(1000..<100_000)
        #expect(stage.bytes.ranges == [1000..<100_000])
        let (right, wrong) = stage.verify(0..<200_000)
        #expect(right == [1000..<100_000])
        #expect(wrong.isEmpty)
    }

    @Test func oneWrongByteCostsItsChunk() throws {
        let stage = try Stage()
        try stage.write(0..<200_000)
        try stage.damage(70_000)
        let (right, wrong) = stage.verify(0..<200_000)
        #expect(wrong == [65_536..<131_072])
        #expect(right == [0..<65_536, 131_072..<200_000])
        stage.bytes.discard(stage.bytes.chunks(overlapping: 70_000..<70_001))
        #expect(stage.bytes.ranges == [0..<65_536, 131_072..<200_000])
    }

    @Test func bytesThatCannotBeReadAreWrong() throws {
        let stage = try Stage()
        try stage.write(0..<65_536)
        try stage.bytes.file.open().truncate(to: 10)
        #expect(stage.verify(0..<65_536).wrong == [0..<65_536])
    }

    @Test func eachBlockIsChargedOnceAndReleasedOnce() async throws {
        let stage = try Stage()
        let first = await stage.bytes.claim(100..<5000)
        #expect(first == [0..<8192])
        let second = await stage.bytes.claim(5000..<9000)
        #expect(second == [8192..<12_288])
        #expect(stage.bytes.allocatedBytes == 12_288)
        let isReserved = stage.quota.reserve(12_288)
        #expect(isReserved)
        stage.bytes.release(second)
        #expect(stage.bytes.allocatedBytes == 8192)
        #expect(stage.quota.shortage((1 << 30) - 8192) == 0, "the room of the second claim is free again")
        #expect(stage.quota.shortage((1 << 30) - 8191) == 1)
        #expect(stage.bytes.close() == Usage(allocated: 8192, stored: 0))
        #expect(stage.bytes.close() == Usage(), "the first caller gets it")
        #expect(await stage.bytes.claim(0..<1 << 20).isEmpty)
    }

    @Test func evictedExtentsAreHolesAndTheirBlocksAreFree() async throws {
        let stage = try Stage()
        let extent: Range<Int64> = 0..<1 << 20
        _ = await stage.bytes.claim(0..<1 << 21)
        try stage.write(0..<1 << 21)
        stage.bytes.beginPunching([extent])
        #expect(stage.bytes.remove([extent]) == 1 << 20)
        #expect(stage.bytes.punch(extent) == 1 << 20)
        stage.bytes.endPunching([extent])
        #expect(stage.bytes.ranges == [1 << 20..<1 << 21])
        #expect(stage.bytes.usage == Usage(allocated: 1 << 20, stored: 1 << 20))
        #expect(try stage.bytes.file.read(at: 0, count: 100) == [UInt8](repeating: 0, count: 100))
    }

    @Test func aWriterWaitsWhileItsBlocksArePunched() async throws {
        let stage = try Stage()
        stage.bytes.beginPunching([0..<1 << 20])
        #expect(await stage.bytes.claim(1 << 20..<(1 << 20) + 1).count == 1, "elsewhere it goes on")
        let events = EventList()
        let bytes = stage.bytes
        let claim = Task {
            _ = await bytes.claim(0..<1)
            events.note("claimed")
        }
        for _ in 0..<100 { await Task.yield() }
        events.note("punched")
        stage.bytes.endPunching([0..<1 << 20])
        await claim.value
        #expect(events.all == ["punched", "claimed"])
    }

    @Test func blocksThatTheSystemCannotFreeStayCharged() async throws {
        let stage = try Stage()
        stage.disk.forbidPunching()
        _ = await stage.bytes.claim(0..<1 << 20)
        #expect(stage.bytes.punch(0..<1 << 20) == nil)
        #expect(stage.bytes.allocatedBytes == 1 << 20)
    }

    // MARK: - Sealed bytes

    @Test func readersGetBytesThatAreNotSealedYet() throws {
        let stage = try Stage(isSealed: true)
        var writer = ChunkWriter(into: stage.bytes, for: Self.fetch)
        let pattern = TestPattern.bytes(in: 0..<70_000, seed: 1)
        try writer.write(pattern, at: 0, part: 0..<70_000)
        let completed = writer.takeCompleted()
        #expect(completed == 65_536)
        #expect(writer.unwritten == 65_536..<70_000)
        #expect(stage.bytes.open(100..<70_000).bytes == Array(pattern[100...]))
        try writer.finish()
        let rest = writer.takeCompleted()
        #expect(rest == 70_000 - 65_536)
        #expect(writer.unwritten == nil)
        let (bytes, fault) = stage.bytes.open(0..<70_000)
        #expect(bytes == pattern)
        #expect(fault == nil)
        #expect(try stage.bytes.file.read(at: 0, count: 100) != Array(pattern[..<100]), "the disk has no plain byte")
    }

    @Test func openingStopsAtTheFirstFaultAndSaysWhichItIs() throws {
        let stage = try Stage(isSealed: true)
        try stage.write(0..<200_000)
        try stage.damage(70_000)
        let (bytes, fault) = stage.bytes.open(0..<200_000)
        #expect(bytes == TestPattern.bytes(in: 0..<65_536, seed: 1))
        guard case .wrong(let chunk)? = fault else {
            Issue.record("\(String(describing: fault))")
            return
        }
        #expect(chunk.range == 65_536..<131_072)
        guard case .unrecorded(200_000)? = stage.bytes.open(200_000..<200_001).fault else {
            Issue.record("no chunk describes that byte")
            return
        }
    }

    @Test func aFailedWriteOfASealedChunkIsRepeatedWithoutLoss() throws {
        let stage = try Stage(isSealed: true)
        let disk = stage.disk
        disk.setFault { $0 == 2 ? .error(EIO) : nil }
        var writer = ChunkWriter(into: stage.bytes, for: Self.fetch)
        let pattern = TestPattern.bytes(in: 0..<200_000, seed: 1)
        #expect(throws: RepriseError.self) { try writer.write(pattern, at: 0, part: 0..<200_000) }
        let completed = writer.takeCompleted()
        #expect(completed == 65_536, "what was sealed before the fault counts")
        try writer.write(pattern, at: 0, part: 0..<200_000)
        try writer.finish()
        #expect(stage.bytes.open(0..<200_000).bytes == pattern)
        #expect(stage.bytes.ranges == [0..<200_000])
    }
}

/// What happened, in order.
private final class EventList: Sendable {
    private let events = Mutex<[String]>([])

    var all: [String] { events.withLock { $0 } }

    func note(_ event: String) { events.withLock { $0.append(event) } }
}
