import ByteRanges
import Testing

@testable import Reprise

/// While it is unknown whether the origin sends ranges, the response to the first request for one decides.
@Suite struct UnknownRangesTests {
    private static let length: Int64 = 10 << 20
    private static let seek: Int64 = 5 << 20
    private static let joinDistance: Int64 = 64 << 10

    private struct Missing: Error {}

    private func startOf(_ effects: [FetchSchedule.Effect]) throws -> (FetchSchedule.FetchID, Range<Int64>) {
        for case .start(let id, let range) in effects { return (id, range) }
        throw Missing()
    }

    /// A fetch from 0 that has brought 1 MiB, whose reader has left, and one for a seek that was claimed.
    private func machineAfterSeek(ranges: Bool? = nil, isAnswered: Bool = true) throws -> (
        FetchSchedule, first: FetchSchedule.FetchID, second: FetchSchedule.FetchID, reader: FetchSchedule.ReaderID
    ) {
        var machine = FetchSchedule(completeLength: Self.length, rangesSupported: ranges)
        let old = machine.addReader(0, to: Self.length)
        let (first, _) = try startOf(machine.next(old, joinDistance: Self.joinDistance).1)
        machine.responseArrived(first)
        _ = machine.advance(first, by: 1 << 20)
        _ = machine.removeReader(old)
        let reader = machine.addReader(Self.seek, to: Self.length)
        let (_, effects) = machine.next(reader, joinDistance: Self.joinDistance)
        let (second, range) = try startOf(effects)
        #expect(range == Self.seek..<Self.length)
        let isClaimed = machine.claim(second, joinDistance: Self.joinDistance)
        #expect(isClaimed)
        if isAnswered { machine.responseArrived(second) }
        return (machine, first, second, reader)
    }

    @Test("the response under way is neither ended nor cut before the other one is a part")
    func nothingEndsEarly() throws {
        var (machine, first, second, _) = try machineAfterSeek()
        #expect(machine.fetches[first]?.phase == .lingering)
        #expect(machine.fetches[first]?.limit == Self.length)
        #expect(machine.takeOver(second, isFirstProof: true) == [.cancel(first)])
        #expect(machine.fetches[first]?.limit == Self.seek, "no byte is on its way twice")
    }

    @Test("the response under way outlives its linger time until it is known whether it is needed")
    func lingersUntilProof() throws {
        var (machine, first, second, _) = try machineAfterSeek(isAnswered: false)
        #expect(machine.lingerExpired(first).isEmpty)
        machine.responseArrived(second)
        #expect(machine.takeOver(second, isFirstProof: true) == [.cancel(first)])
    }

    @Test("the response under way lingers again when the other request ends without one")
    func lingersAfterFailure() throws {
        var (machine, first, second, _) = try machineAfterSeek(isAnswered: false)
        #expect(machine.lingerExpired(first).isEmpty)
        let failure = RepriseError(.originUnreachable, "")
        #expect(machine.end(second, reachedEnd: false, failure: failure).contains(.linger(first)))
        #expect(machine.lingerExpired(first) == [.cancel(first)])
    }

    @Test("a reader that seeks before it leaves does not end the response under way")
    func seekBeforeLeaving() throws {
        var machine = FetchSchedule(completeLength: Self.length, rangesSupported: nil)
        let old = machine.addReader(0, to: Self.length)
        let (first, _) = try startOf(machine.next(old, joinDistance: Self.joinDistance).1)
        machine.responseArrived(first)
        _ = machine.advance(first, by: 1 << 20)
        let reader = machine.addReader(Self.seek, to: Self.length)
        let (second, _) = try startOf(machine.next(reader, joinDistance: Self.joinDistance).1)
        #expect(machine.removeReader(old) == [.linger(first)])
        machine.responseArrived(second)
        machine.learn(completeLength: Self.length, rangesSupported: false)
        let isTaken = machine.takeWhole(second, to: Self.length)
        #expect(!isTaken)
    }

    @Test("a whole in place of the part is given up if another response brings it, and its reader joins that one")
    func wholeUnderWay() throws {
        var (machine, first, second, reader) = try machineAfterSeek()
        machine.learn(completeLength: Self.length, rangesSupported: false)
        let isTaken = machine.takeWhole(second, to: Self.length)
        #expect(!isTaken)
        #expect(machine.end(second, reachedEnd: false, failure: nil) == [.wake(reader), .linger(first)])
        let (_, effects) = machine.next(reader, joinDistance: Self.joinDistance)
        #expect(effects.contains(.resume(first)))
        #expect(machine.readers[reader]?.waitingOn == first)
    }

    @Test("without another response the whole is stored from its beginning, past what a reader wants")
    func wholeIsStored() throws {
        var machine = FetchSchedule(completeLength: Self.length, rangesSupported: nil, stored: [0..<1 << 20])
        let reader = machine.addReader(Self.seek, to: Self.seek + 1000)
        let (fetch, range) = try startOf(machine.next(reader, joinDistance: Self.joinDistance).1)
        #expect(range == Self.seek..<Self.seek + 1000)
        machine.responseArrived(fetch)
        machine.learn(completeLength: Self.length, rangesSupported: false)
        let isTaken = machine.takeWhole(fetch, to: Self.length)
        #expect(isTaken)
        #expect(machine.fetches[fetch]?.cursor == 0)
        #expect(machine.fetches[fetch]?.limit == Self.length)
        #expect(machine.writable(0..<2 << 20, for: fetch).holes == [1 << 20..<2 << 20], "stored bytes stay")
    }

    @Test("a fetch that was canceled writes nothing more where the whole is written")
    func canceledFetch() throws {
        var (machine, first, second, _) = try machineAfterSeek(ranges: true)
        #expect(machine.fetches[first]?.phase == .ending)
        let isTaken = machine.takeWhole(second, to: Self.length)
        #expect(isTaken)
        #expect(machine.fetches[second]?.cursor == 0)
        #expect(machine.writable(1 << 20..<2 << 20, for: first).holes.isEmpty)
        #expect(machine.verdict(first).0 == .finished)
    }

    @Test("between two other fetches only what lies between them is written")
    func others() throws {
        var machine = FetchSchedule(completeLength: Self.length, rangesSupported: true)
        let low = machine.adoptFetch(start: 0, limit: 1 << 20, owner: machine.addReader(0, to: 1 << 20))
        let high = machine.adoptFetch(
            start: 8 << 20, limit: Self.length, owner: machine.addReader(8 << 20, to: Self.length))
        let reader = machine.addReader(Self.seek, to: Self.seek + 1000)
        let (fetch, _) = try startOf(machine.next(reader, joinDistance: Self.joinDistance).1)
        machine.responseArrived(fetch)
        let isTaken = machine.takeWhole(fetch, to: Self.length)
        #expect(isTaken)
        #expect(machine.fetches[fetch]?.cursor == 1 << 20)
        #expect(machine.fetches[fetch]?.limit == 8 << 20)
        #expect(machine.fetches[low]?.limit == 1 << 20)
        #expect(machine.fetches[high]?.cursor == 8 << 20)
    }

    @Test("a refusal is forgotten, so that a range is requested again; a proof is not")
    func forgotten() {
        var machine = FetchSchedule(completeLength: Self.length, rangesSupported: false)
        machine.forgetRefusedRanges()
        #expect(machine.rangesSupported == nil)
        machine.learn(completeLength: nil, rangesSupported: true)
        machine.forgetRefusedRanges()
        #expect(machine.rangesSupported == true)
    }

    @Test("a request reaches as far as the readers that it is for, and a player's own end is kept")
    func bounds() throws {
        var machine = FetchSchedule(completeLength: Self.length, rangesSupported: true)
        let player = machine.addReader(0, to: 1000, isBounded: true)
        let (fetch, _) = try startOf(machine.next(player, joinDistance: Self.joinDistance).1)
        #expect(machine.bound(of: fetch) == .player(1000))
        let other = machine.addReader(0, to: Self.length)
        _ = machine.next(other, joinDistance: Self.joinDistance)
        #expect(machine.bound(of: fetch) == .open)
        _ = machine.removeReader(player)
        #expect(machine.bound(of: fetch) == .open)
        let preload = machine.addReader(5 << 20, to: 6 << 20, demand: .preload, isBounded: true)
        let (own, _) = try startOf(machine.next(preload, joinDistance: Self.joinDistance).1)
        #expect(machine.bound(of: own) == .open, "a preload chose its end itself")
    }
}
