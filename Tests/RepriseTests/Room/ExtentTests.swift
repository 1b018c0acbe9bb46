import ByteRanges
import Primitives
import Testing

@testable import Reprise

/// Which extents of an entry in use are evicted first: pure decisions of the machine.
@Suite struct ExtentTests {
    private static let extent = FetchSchedule.extent

    private static func range(_ extents: Range<Int64>) -> Range<Int64> {
        extents.lowerBound * extent..<extents.upperBound * extent
    }

    /// A machine of 20 extents, all stored and verified.
    private static func machine() -> FetchSchedule {
        var machine = FetchSchedule(
            completeLength: 20 * extent, rangesSupported: true, stored: ByteRangeSet(range(0..<20)))
        machine.markVerified(range(0..<20))
        return machine
    }

    /// Moves a new reader over `extents`.
    private static func play(_ machine: inout FetchSchedule, _ extents: Range<Int64>) -> FetchSchedule.ReaderID {
        let reader = machine.addReader(range(extents).lowerBound, to: 20 * extent)
        while machine.readers[reader]?.delivered ?? 0 < range(extents).upperBound {
            _ = machine.next(reader, joinDistance: 0)
        }
        return reader
    }

    private static func victims(
        _ machine: FetchSchedule, _ count: Int64, leased: [Range<Int64>] = []
    ) -> [Int64] {
        machine.extents(freeing: count * extent, leased: leased).map { $0.lowerBound / extent }
    }

    @Test func whatNobodyReadGoesFirstThenWhatWasPlayedTheEndsLast() {
        var machine = Self.machine()
        _ = Self.play(&machine, 0..<8)
        // Extent 7 is being read, up to `next` are next; those behind have not been read, 1 to 6 are behind, 0 and 19
        // are the ends.
        let next = 8 + (FetchSchedule.readerWindow - 1) / Self.extent
        let ahead = Array(stride(from: Int64(18), to: next, by: -1))
        #expect(Self.victims(machine, Int64(ahead.count)) == ahead)
        #expect(Self.victims(machine, Int64(ahead.count) + 3).suffix(3) == [1, 2, 3])
        #expect(Self.victims(machine, 20) == ahead + [1, 2, 3, 4, 5, 6, 19, 0], "what is about to be read stays")
    }

    @Test func whatLiesBetweenTwoReadersIsNotPast() {
        var machine = Self.machine()
        let early = Self.play(&machine, 0..<19)
        _ = Self.play(&machine, 0..<4)
        #expect(Self.victims(machine, 30).prefix(2) == [1, 2], "behind both")
        _ = machine.removeReader(early)
        #expect(Self.victims(machine, 30).prefix(2) == [1, 2])
    }

    @Test func leasedExtentsStay() {
        let machine = Self.machine()
        let leased = [Self.range(18..<19), 5 * Self.extent + 10..<5 * Self.extent + 11]
        let victims = Self.victims(machine, 20, leased: leased)
        #expect(!victims.contains(18) && !victims.contains(5))
        #expect(victims.count == 18)
    }

    @Test func whereAFetchWritesStays() {
        var machine = FetchSchedule(
            completeLength: 20 * Self.extent, rangesSupported: true, stored: ByteRangeSet(Self.range(0..<10)))
        _ = machine.adoptFetch(start: 10 * Self.extent, limit: 20 * Self.extent, owner: nil)
        #expect(Self.victims(machine, 20) == [8, 7, 6, 5, 4, 3, 2, 1, 0])
    }

    @Test func evictedBytesAreHoles() {
        var machine = Self.machine()
        machine.evict([Self.range(3..<4)])
        #expect(machine.stored.holes(in: Self.range(0..<20)) == [Self.range(3..<4)])
        #expect(!machine.verified.intersects(Self.range(3..<4)))
    }

    @Test func blocksAreChargedOnce() {
        let allocation = Allocation(ByteRangeSet(0..<100))
        #expect(allocation.usage == Usage(allocated: 4096, stored: 100))
        #expect(allocation.claim(100..<4096).isEmpty)
        #expect(allocation.claim(4000..<9000) == [4096..<12_288])
        #expect(allocation.claim(4000..<9000).isEmpty)
        #expect(allocation.discharge([4096..<12_288]) == 8192)
        #expect(allocation.close() == Usage(allocated: 4096, stored: 100))
        #expect(allocation.claim(0..<100_000).isEmpty, "a removed generation is charged no more")
        #expect(allocation.close() == Usage())
    }

    @Test func theLimitCountsTheIndexBeyondItsAllowance() {
        let quota = Quota(limit: 10_000_000, used: Usage(allocated: 4_000_000))
        #expect(quota.reserve(6_000_000))
        #expect(!quota.reserve(1))
        quota.release(allocated: 3_000_000)
        quota.setIndexBytes(Quota.uncharged + 2_000_000)
        #expect(quota.shortage(1_500_000) == 500_000)
        #expect(!quota.reserve(1_000_001))
        #expect(quota.reserve(1_000_000))
    }

    @Test("media leave the disk room for the index, also where nothing is to stay free", arguments: [-1, 0, 5_000_000])
    func roomForTheIndex(floor: Int64) {
        let left = max(floor, Quota.indexRoom)
        let disk = Mutex<Int64>(10_000_000)
        let quota = Quota(limit: 1 << 40, used: Usage(), floor: floor, freeBytes: { disk.withLock { $0 } })
        var written: Int64 = 0
        while quota.reserve(4096) {
            disk.withLock { $0 -= 4096 }
            written += 4096
        }
        #expect(written == (10_000_000 - left) / 4096 * 4096)
        #expect(quota.diskShortage(4096)?.floor == left)
        // A disk that does not tell what is free is no obstacle.
        #expect(Quota(limit: 1 << 40, used: Usage(), floor: floor).reserve(1 << 30))
    }
}
