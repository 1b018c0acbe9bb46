import ByteRanges
import Testing

@testable import Reprise

/// What the machine fetches before players come to it.
@Suite struct FetchScheduleAheadTests {
    private static let length: Int64 = 1 << 20

    private static func machine(_ ahead: FetchSchedule.Ahead, stored: ByteRangeSet = []) -> FetchSchedule {
        var machine = FetchSchedule(completeLength: length, rangesSupported: true, stored: stored)
        machine.ahead = ahead
        for span in stored { machine.markVerified(span) }
        return machine
    }

    /// The fetches that begin.
    private static func starts(_ effects: [FetchSchedule.Effect]) -> [(id: FetchSchedule.FetchID, range: Range<Int64>)]
    {
        effects.compactMap { if case .start(let id, let range) = $0 { (id, range) } else { nil } }
    }

    /// Begins to read from the beginning; its fetch has a response.
    private static func play(
        _ machine: inout FetchSchedule, to end: Int64? = length, demand: Demand = .playing
    ) throws -> (reader: FetchSchedule.ReaderID, fetch: FetchSchedule.FetchID) {
        let reader = machine.addReader(0, to: end, demand: demand)
        let fetch = try #require(starts(machine.next(reader, joinDistance: 0).1).first).id
        machine.responseArrived(fetch)
        return (reader, fetch)
    }

    @Test func aFetchRunsSoManyBytesAheadOfAPlayerOnly() throws {
        var machine = Self.machine(.by(200_000))
        let fetch = try Self.play(&machine).fetch
        #expect(machine.advance(fetch, by: 199_999).0 == .go)
        #expect(machine.advance(fetch, by: 1).0 == .pause)
        var other = Self.machine(.by(200_000))
        let slow = try Self.play(&other, demand: .preload).fetch
        #expect(other.advance(slow, by: 199_999).0 == .pause)
    }

    @Test func aFullFetchGoesOnOnceAQuarterIsUsedUp() throws {
        var machine = Self.machine(.by(200_000))
        machine.largestPiece = 10_000
        let (reader, fetch) = try Self.play(&machine)
        #expect(machine.advance(fetch, by: 200_000).0 == .pause)
        var effects: [FetchSchedule.Effect] = []
        for _ in 0...5 { effects += machine.next(reader, joinDistance: 0).1 }
        #expect(machine.readers[reader]?.consumed == 50_000)
        #expect(effects.isEmpty)
        #expect(machine.next(reader, joinDistance: 0).1 == [.resume(fetch)], "less than three quarters")
        #expect(machine.verdict(fetch).0 == .go)
        #expect(machine.advance(fetch, by: 59_999).0 == .go, "up to the whole again")
        #expect(machine.advance(fetch, by: 1).0 == .pause)
    }

    @Test func whatIsReadAheadHasALowerClassUntilThePlayerComesNear() throws {
        var machine = Self.machine(.by(500_000))
        machine.largestPiece = 100_000
        let (reader, fetch) = try Self.play(&machine)
        let lead = FetchInterest.leadBounds.lowerBound
        #expect(machine.advance(fetch, by: lead - 1).1 == [.wake(reader)])
        #expect(machine.fetches[fetch]?.demand == .playing)
        #expect(machine.advance(fetch, by: 1).1 == [.demand(fetch, .preload)])
        #expect(machine.fetches[fetch]?.demand == .preload)
        #expect(machine.next(reader, joinDistance: 0).1 == [.resume(fetch)], "it has begun to take this piece")
        #expect(machine.next(reader, joinDistance: .max).1 == [.demand(fetch, .playing), .resume(fetch)], "it waits")
        #expect(machine.fetches[fetch]?.demand == .playing)
    }

    @Test func whatIsReadAheadKeepsTheClassOfAReaderThatWaitsForIt() throws {
        var machine = Self.machine(.whole)
        let (player, fetch) = try Self.play(&machine)
        _ = machine.advance(fetch, by: 100_000)
        let preview = machine.addReader(300_000, to: Self.length, demand: .seekingAhead)
        #expect(machine.next(preview, joinDistance: .max).1.contains(.demand(fetch, .seekingAhead)))
        for _ in 0..<2 { _ = machine.next(player, joinDistance: .max) }
        #expect(machine.fetches[fetch]?.demand == .playing, "the player waits, too")
        #expect(machine.advance(fetch, by: 100_000).1.contains(.demand(fetch, .seekingAhead)))
    }

    @Test func aFetchThatAPlayerLeavesTakesTheClassOfThoseThatStay() throws {
        var machine = Self.machine(.whole)
        let (player, fetch) = try Self.play(&machine)
        _ = machine.advance(fetch, by: 100_000)
        #expect(machine.fetches[fetch]?.demand == .preload)
        let download = machine.addReader(100_000, to: Self.length, demand: .download)
        _ = machine.next(download, joinDistance: .max)
        #expect(machine.removeReader(player) == [.demand(fetch, .download)])
        #expect(machine.fetches[fetch]?.demand == .download)
    }

    @Test func holesAreFetchedBeforeThePlayerComesToThem() throws {
        var machine = Self.machine(.whole, stored: [0..<1000, 2000..<3000])
        let reader = machine.addReader(0, to: 1000)
        _ = machine.next(reader, joinDistance: 0)
        let first = try #require(Self.starts(machine.startAhead()).first)
        #expect(first.range == 1000..<2000)
        #expect(machine.fetches[first.id]?.demand == .preload)
        #expect(machine.startAhead().isEmpty, "it is on its way")
        machine.responseArrived(first.id)
        #expect(machine.advance(first.id, by: 1000).0 == .finished)
        _ = machine.end(first.id, reachedEnd: false, failure: nil)
        #expect(Self.starts(machine.startAhead()).first?.range == 3000..<Self.length)
    }

    @Test(
        "holes stay that are farther ahead, behind what was requested, or of a file that cannot be asked for in parts",
        arguments: [
            (.by(100_000), Self.length, true, false), (.by(100_001), Self.length, true, true),
            (.by(500_000), 100_000, true, false),
            (.whole, Self.length, false, false), (.asRead, Self.length, true, false),
            (.toEnd, Self.length, true, false),
        ] as [(FetchSchedule.Ahead, Int64, Bool, Bool)])
    func holesThatStay(ahead: FetchSchedule.Ahead, end: Int64, hasRanges: Bool, isFetched: Bool) {
        var machine = FetchSchedule(completeLength: Self.length, rangesSupported: hasRanges, stored: [0..<100_000])
        machine.markVerified(0..<100_000)
        machine.ahead = ahead
        let reader = machine.addReader(0, to: end)
        _ = machine.next(reader, joinDistance: 0)
        let starts = Self.starts(machine.startAhead())
        #expect(starts.map(\.range) == (isFetched ? [100_000..<Self.length] : []))
    }

    @Test func afterAFailureThePlayerComesFirst() throws {
        var machine = Self.machine(.whole, stored: [0..<1000])
        let reader = machine.addReader(0, to: Self.length)
        _ = machine.next(reader, joinDistance: 0)
        let failed = try #require(Self.starts(machine.startAhead()).first).id
        machine.stopReadingAhead()
        _ = machine.end(failed, reachedEnd: false, failure: nil)
        #expect(machine.startAhead().isEmpty)
        let own = try #require(Self.starts(machine.next(reader, joinDistance: 0).1).first)
        #expect(own.range == 1000..<Self.length)
        #expect(machine.readers[reader]?.readsAhead == true)
    }
}
