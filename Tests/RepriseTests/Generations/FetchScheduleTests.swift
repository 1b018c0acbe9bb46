import ByteRanges
import Testing

@testable import Reprise

/// The machine alone: call, expected action, next call.
@Suite struct FetchScheduleTests {
    private static let kilobyte: Int64 = 1 << 10
    private static let joinDistance: Int64 = 64 << 10

    private static func machine(_ length: Int64? = 1000, stored: ByteRangeSet = []) -> FetchSchedule {
        var machine = FetchSchedule(completeLength: length, rangesSupported: true, stored: stored)
        for span in stored { machine.markVerified(span) }
        return machine
    }

    private func next(
        _ machine: inout FetchSchedule, _ reader: FetchSchedule.ReaderID, joinDistance: Int64 = Self.joinDistance
    ) -> (String, [FetchSchedule.Effect]) {
        let (next, effects) = machine.next(reader, joinDistance: joinDistance)
        let text =
            switch next {
            case .piece(let range, let source): "\(range.lowerBound)..<\(range.upperBound) \(source)"
            case .verify(let range): "verify \(range.lowerBound)..<\(range.upperBound)"
            case .wait: "wait"
            case .end: "end"
            case .direct(let from, let to): "direct \(from) \(to.map { "\($0)" } ?? "end")"
            case .fail(let error): "fail \(error.code)"
            }
        return (text, effects)
    }

    private func claim(_ machine: inout FetchSchedule, _ fetch: FetchSchedule.FetchID) -> Bool {
        machine.claim(fetch, joinDistance: Self.joinDistance)
    }

    private func startOf(_ effects: [FetchSchedule.Effect]) throws -> (FetchSchedule.FetchID, Range<Int64>) {
        for case .start(let id, let range) in effects { return (id, range) }
        throw Missing()
    }

    private struct Missing: Error {}

    @Test func onlyTheHolesAreFetched() throws {
        var machine = Self.machine(stored: [200..<500, 700..<800])
        let reader = machine.addReader(0, to: 1000)
        let (answer, effects) = next(&machine, reader)
        #expect(answer == "wait")
        let (first, range) = try startOf(effects)
        #expect(range == 0..<200)
        #expect(machine.advance(first, by: 200) == (.finished, [.wake(reader)]))
        #expect(next(&machine, reader).0 == "0..<200 origin")
        #expect(machine.end(first, reachedEnd: false, failure: nil).isEmpty)
        #expect(next(&machine, reader).0 == "200..<500 store")
        let (second, hole) = try startOf(next(&machine, reader).1)
        #expect(hole == 500..<700)
        _ = machine.advance(second, by: 200)
        _ = machine.end(second, reachedEnd: false, failure: nil)
        #expect(next(&machine, reader).0 == "500..<700 origin")
        #expect(next(&machine, reader).0 == "700..<800 store")
        #expect(try startOf(next(&machine, reader).1).1 == 800..<1000)
    }

    @Test func aSecondReaderJoinsTheFetchThatWillBringItsByte() throws {
        var machine = Self.machine()
        let first = machine.addReader(0, to: 1000)
        let (fetch, _) = try startOf(next(&machine, first).1)
        let second = machine.addReader(50, to: 1000)
        let (answer, effects) = next(&machine, second)
        #expect(answer == "wait")
        #expect(effects == [.resume(fetch)], "no request of its own")
        let (_, wakes) = machine.advance(fetch, by: 60)
        #expect(
            Set(wakes.map { "\($0)" })
                == Set([.wake(first), .wake(second)].map { (effect: FetchSchedule.Effect) in "\(effect)" }))
        #expect(next(&machine, second).0 == "50..<60 joined")
        #expect(next(&machine, first).0 == "0..<60 origin")
    }

    @Test func aReaderDoesNotWaitForACanceledFetchWithoutAResponse() throws {
        let length: Int64 = 10 << 20
        var machine = Self.machine(length)
        let old = machine.addReader(0, to: length)
        let (dead, _) = try startOf(next(&machine, old).1)
        _ = machine.removeReader(old)
        #expect(machine.lingerExpired(dead) == [.cancel(dead)])
        let new = machine.addReader(1000, to: length)
        let (fetch, range) = try startOf(next(&machine, new).1)
        #expect(range == 1000..<length)
        #expect(claim(&machine, fetch))
        #expect(machine.fetches[dead]?.limit == 1000)
    }

    @Test func aFetchHasTheHighestClassOfItsReaders() throws {
        let length: Int64 = 10 << 20
        var machine = Self.machine(length)
        let download = machine.addReader(0, to: length, demand: .download)
        let (fetch, _) = try startOf(next(&machine, download).1)
        #expect(machine.fetches[fetch]?.demand == .download)
        let preload = machine.addReader(0, to: length, demand: .preload)
        #expect(next(&machine, preload).1.contains(.demand(fetch, .preload)))
        let player = machine.addReader(0, to: length, demand: .playing)
        #expect(next(&machine, player).1.contains(.demand(fetch, .playing)))
        #expect(machine.fetches[fetch]?.demand == .playing)
        #expect(machine.removeReader(download).isEmpty)
        #expect(machine.removeReader(player) == [.demand(fetch, .preload)])
        #expect(machine.fetches[fetch]?.demand == .preload)
    }

    @Test func aByteTooFarAheadGetsARequestOfItsOwnAndTheOldOneEndsBeforeIt() throws {
        let length: Int64 = 10 << 20
        var machine = Self.machine(length)
        let near = machine.addReader(0, to: length)
        let (first, _) = try startOf(next(&machine, near).1)
        let far = machine.addReader(5 << 20, to: length)
        let (second, range) = try startOf(next(&machine, far).1)
        #expect(range == 5 << 20..<length)
        #expect(machine.fetches[first]?.limit == length, "a request that was not sent takes over nothing")
        #expect(claim(&machine, second))
        #expect(machine.fetches[first]?.limit == 5 << 20, "no byte is on its way twice")
        #expect(machine.fetches[second]?.cursor == 5 << 20)
    }

    @Test("a fetch that lacks little is awaited, not cut short: most of the rest is on its way already")
    func shortRest() throws {
        let length = FetchSchedule.mostUncut + 1
        var machine = Self.machine(length)
        let (fetch, _) = try startOf(next(&machine, machine.addReader(0, to: length)).1)
        var other = machine
        #expect(try startOf(next(&other, other.addReader(length - 1, to: length)).1).1 == length - 1..<length)

        _ = machine.advance(fetch, by: 1)
        let far = machine.addReader(length - 1, to: length)
        #expect(next(&machine, far) == ("wait", [.resume(fetch)]))
        #expect(machine.readers[far]?.waitingOn == fetch)
    }

    /// A fetch from 0 with a response, and one at 1 MiB whose turn to be sent has not come.
    private func machineWithAFetchThatWaits() throws -> (
        FetchSchedule, running: FetchSchedule.FetchID, waiting: FetchSchedule.FetchID,
        reader: FetchSchedule.ReaderID
    ) {
        var machine = Self.machine(10 << 20)
        let (running, _) = try startOf(next(&machine, machine.addReader(0, to: 10 << 20)).1)
        machine.responseArrived(running)
        let reader = machine.addReader(1 << 20, to: 10 << 20)
        let (waiting, _) = try startOf(next(&machine, reader).1)
        return (machine, running, waiting, reader)
    }

    @Test func aRequestIsNotSentWhenAnotherResponseHasComeNearWhileItWaited() throws {
        var (machine, running, waiting, reader) = try machineWithAFetchThatWaits()
        _ = machine.advance(running, by: 1 << 20 - Self.joinDistance)
        #expect(!claim(&machine, waiting))
        #expect(machine.fetches[running]?.limit == 10 << 20)
        let effects = machine.end(waiting, reachedEnd: false, failure: nil)
        #expect(effects == [.wake(reader)])
        let (answer, asked) = next(&machine, reader)
        #expect(answer == "wait")
        #expect(asked.allSatisfy { if case .start = $0 { false } else { true } }, "it waits for the running one")
    }

    @Test func aReaderIsWokenByAnyResponseThatBringsItsByte() throws {
        var (machine, running, waiting, reader) = try machineWithAFetchThatWaits()
        let (_, early) = machine.advance(running, by: 1 << 20)
        #expect(!early.contains(.wake(reader)))
        let (_, effects) = machine.advance(running, by: 1)
        #expect(effects.contains(.wake(reader)))
        #expect(next(&machine, reader).0 == "1048576..<1048577 joined")
        #expect(!claim(&machine, waiting), "its first byte is stored")
    }

    @Test func aRequestIsSentBesideOneThatIsFarBehind() throws {
        var (machine, running, waiting, _) = try machineWithAFetchThatWaits()
        _ = machine.advance(running, by: 1 << 20 - Self.joinDistance - 1)
        #expect(claim(&machine, waiting))
        #expect(machine.fetches[running]?.limit == 1 << 20)
    }

    @Test func aNewFetchEndsWhereARunningOneBegan() throws {
        let length: Int64 = 10 << 20
        var machine = Self.machine(length)
        let far = machine.addReader(5 << 20, to: length)
        _ = next(&machine, far)
        let near = machine.addReader(0, to: length)
        #expect(try startOf(next(&machine, near).1).1 == 0..<5 << 20)
    }

    @Test func aFarSeekEndsAFetchThatNobodyReadsBeforeItCompetes() throws {
        let length: Int64 = 10 << 20
        var machine = Self.machine(length)
        let old = machine.addReader(0, to: length)
        let (first, _) = try startOf(next(&machine, old).1)
        #expect(machine.removeReader(old) == [.linger(first)])
        let new = machine.addReader(5 << 20, to: length)
        let effects = next(&machine, new).1
        #expect(effects.contains(.cancel(first)))
        #expect(machine.fetches[first]?.phase == .ending)
    }

    @Test func aPlayerThatComesBackTakesTheLingeringFetchOver() throws {
        let length: Int64 = 10 << 20
        var machine = Self.machine(length)
        let old = machine.addReader(0, to: length)
        let (fetch, _) = try startOf(next(&machine, old).1)
        _ = machine.advance(fetch, by: 1000)
        #expect(machine.removeReader(old) == [.linger(fetch)])
        #expect(machine.verdict(fetch).0 == .pause)
        let new = machine.addReader(500, to: length)
        #expect(next(&machine, new).0 == "500..<1000 store")
        #expect(next(&machine, new).1 == [.resume(fetch)])
        #expect(machine.lingerExpired(fetch).isEmpty)
        #expect(machine.verdict(fetch).0 == .go)
    }

    @Test func aFetchThatNobodyTookOverIsCanceled() throws {
        let length: Int64 = 10 << 20
        var machine = Self.machine(length)
        let reader = machine.addReader(0, to: length)
        let (fetch, _) = try startOf(next(&machine, reader).1)
        #expect(machine.removeReader(reader) == [.linger(fetch)])
        #expect(machine.lingerExpired(fetch) == [.cancel(fetch)])
        #expect(machine.lingerExpired(fetch).isEmpty)
        #expect(machine.end(fetch, reachedEnd: false, failure: nil).isEmpty)
        #expect(machine.isIdle)
    }

    @Test func aNearlyDoneFetchIsLetFinish() throws {
        var machine = Self.machine(1000)
        let reader = machine.addReader(0, to: 1000)
        let (fetch, _) = try startOf(next(&machine, reader).1)
        #expect(machine.removeReader(reader) == [.demand(fetch, nil), .resume(fetch)])
        #expect(machine.fetches[fetch]?.demand == nil, "its request, if it was not sent, is not wanted")
        #expect(machine.verdict(fetch).0 == .go)
        #expect(machine.advance(fetch, by: 1000).0 == .finished)
    }

    @Test func aSlowReaderPausesItsFetchAndItsNextReadResumesIt() throws {
        let length: Int64 = 10 << 20
        var machine = Self.machine(length)
        let reader = machine.addReader(0, to: length)
        let (fetch, _) = try startOf(next(&machine, reader).1)
        #expect(machine.advance(fetch, by: 16 * Self.kilobyte).0 == .go)
        #expect(machine.advance(fetch, by: 16 * Self.kilobyte).0 == .pause, "a lead of 32 KiB")
        #expect(next(&machine, reader).0 == "0..<32768 origin")
        #expect(machine.verdict(fetch).0 == .pause, "handed out is not consumed")
        let (answer, effects) = next(&machine, reader)
        #expect(answer == "wait")
        #expect(effects.contains(.resume(fetch)) || machine.verdict(fetch).0 == .go)
    }

    @Test func theLeadGrowsWithWhatWasConsumedUpTo1MiB() throws {
        let length: Int64 = 1 << 30
        var machine = Self.machine(length, stored: [0..<512 << 20])
        let reader = machine.addReader(0, to: length)
        for _ in 0..<512 { _ = next(&machine, reader) }
        let (fetch, range) = try startOf(next(&machine, reader).1)
        #expect(range.lowerBound == 512 << 20)
        #expect(machine.advance(fetch, by: 1 << 19).0 == .go)
        #expect(machine.advance(fetch, by: 1 << 19).0 == .pause)
    }

    @Test func aPausedReaderNeverBlocksAnother() throws {
        let length: Int64 = 10 << 20
        var machine = Self.machine(length)
        let paused = machine.addReader(0, to: length)
        let (fetch, _) = try startOf(next(&machine, paused).1)
        #expect(machine.advance(fetch, by: 128 * Self.kilobyte).0 == .pause)
        let quick = machine.addReader(0, to: length)
        #expect(next(&machine, quick).0 == "0..<131072 store")
        #expect(next(&machine, quick).0 == "wait")
        #expect(machine.verdict(fetch).0 == .go)
    }

    @Test func storedBytesAreVerifiedBeforeTheyAreServed() throws {
        var machine = FetchSchedule(completeLength: 100, rangesSupported: true, stored: [0..<100])
        let reader = machine.addReader(0, to: 100)
        #expect(next(&machine, reader).0 == "verify 0..<100")
        machine.markVerified(0..<40)
        #expect(next(&machine, reader).0 == "0..<40 store")
        #expect(next(&machine, reader).0 == "verify 40..<100")
        machine.discard([40..<100])
        let (again, effects) = next(&machine, reader)
        #expect(again == "wait", "a wrong chunk is a hole")
        let (fetch, range) = try startOf(effects)
        #expect(machine.advance(fetch, by: range.upperBound - range.lowerBound).0 == .finished)
        #expect(next(&machine, reader).0 == "40..<100 origin", "what replaces it is not from the store")
    }

    @Test func readersOfAnOldGenerationEndAtItsFirstHole() throws {
        var machine = Self.machine(1000, stored: [0..<500])
        let reader = machine.addReader(0, to: 1000)
        #expect(next(&machine, reader).0 == "0..<500 store")
        let (fetch, _) = try startOf(next(&machine, reader).1)
        let effects = machine.freeze(because: .replaced)
        #expect(effects.contains(.cancel(fetch)))
        #expect(effects.contains(.wake(reader)))
        #expect(next(&machine, reader).0 == "fail validatorChanged")
    }

    @Test(
        arguments: [
            (.removed, "fail validatorChanged"), (.closed, "fail closed"),
        ] as [(FetchSchedule.Freeze, String)])
    func theFirstReasonIsTheOneThatReadersGet(reason: FetchSchedule.Freeze, outcome: String) throws {
        var machine = Self.machine(1000, stored: [0..<500])
        let reader = machine.addReader(0, to: 1000)
        _ = machine.freeze(because: reason)
        _ = machine.freeze(because: .replaced)
        #expect(next(&machine, reader).0 == "0..<500 store")
        #expect(next(&machine, reader).0 == outcome)
    }

    @Test("a refusal beyond the end tells the length, also where it is known by now")
    func theLengthFromBeyondTheEnd() throws {
        var machine = Self.machine(nil, stored: [0..<100])
        let reader = machine.addReader(900, to: 950)
        let (fetch, _) = try startOf(next(&machine, reader).1)
        // More is stored than 99 bytes, and the request began before byte 901.
        for length in [nil, 99, 901] as [Int64?] {
            let isLearned = machine.learnEnd(length, from: fetch)
            #expect(!isLearned)
            #expect(machine.completeLength == nil)
        }
        // The second time as told by another fetch.
        for (length, isRight) in [(900, true), (900, true), (800, false)] as [(Int64, Bool)] {
            let isLearned = machine.learnEnd(length, from: fetch)
            #expect(isLearned == isRight)
        }
        _ = machine.end(fetch, reachedEnd: false, failure: nil)
        #expect(next(&machine, reader).0 == "fail rangeNotSatisfiable")
    }

    @Test func aFullStoreSendsReadersPastEachHole() throws {
        var machine = Self.machine(1000, stored: [0..<100, 200..<300])
        let reader = machine.addReader(50, to: 900)
        _ = machine.closeStore()
        #expect(next(&machine, reader).0 == "50..<100 store")
        #expect(next(&machine, reader).0 == "direct 100 200")
        machine.rewind(reader, to: 200)
        #expect(next(&machine, reader).0 == "200..<300 store")
        #expect(next(&machine, reader).0 == "direct 300 900")
        machine.learn(completeLength: nil, rangesSupported: false)
        let other = machine.addReader(100, to: 900)
        #expect(next(&machine, other).0 == "direct 100 900", "every request would bring all of it")
    }

    @Test func aFullStoreSendsReadersPastIt() throws {
        var machine = Self.machine(1000, stored: [0..<500])
        let reader = machine.addReader(0, to: 800)
        _ = machine.closeStore()
        #expect(next(&machine, reader).0 == "0..<500 store")
        #expect(next(&machine, reader).0 == "direct 500 800")
    }

    @Test func aFailureReachesOnlyThoseWhoWait() throws {
        let length: Int64 = 10 << 20
        var machine = Self.machine(length)
        let waiting = machine.addReader(0, to: length)
        let (fetch, _) = try startOf(next(&machine, waiting).1)
        let error = RepriseError(.originUnreachable, "gone")
        #expect(machine.end(fetch, reachedEnd: false, failure: error) == [.wake(waiting)])
        #expect(next(&machine, waiting).0 == "fail originUnreachable")
        #expect(try startOf(next(&machine, waiting).1).1 == 0..<length, "asking again tries again")
    }

    @Test func anUnknownLengthIsFixedByACleanEndOnly() throws {
        var machine = Self.machine(nil)
        let reader = machine.addReader(0, to: nil)
        let (fetch, range) = try startOf(next(&machine, reader).1)
        #expect(range == 0..<Int64.max)
        _ = machine.advance(fetch, by: 100)
        _ = machine.end(fetch, reachedEnd: true, failure: RepriseError(.originBodyTruncated, "cut"))
        #expect(machine.completeLength == nil)
        #expect(next(&machine, reader).0 == "0..<100 origin")
        let (second, rest) = try startOf(next(&machine, reader).1)
        #expect(rest == 100..<Int64.max)
        _ = machine.end(second, reachedEnd: true, failure: nil)
        #expect(machine.completeLength == 100)
        #expect(next(&machine, reader).0 == "end")
    }

    @Test func withoutRangesEveryReaderWaitsForTheOneBody() throws {
        var machine = FetchSchedule(completeLength: 10 << 20, rangesSupported: false)
        let far = machine.addReader(9 << 20, to: 10 << 20)
        let (fetch, range) = try startOf(next(&machine, far).1)
        #expect(range == 0..<Int64.max, "the body comes from its first byte, whatever is asked")
        let near = machine.addReader(5 << 20, to: 10 << 20)
        #expect(next(&machine, near).1.allSatisfy { $0 == .resume(fetch) })
    }

    @Test func aReaderWaitsForWhatACanceledFetchStillStores() throws {
        let length: Int64 = 10 << 20
        var machine = Self.machine(length)
        let old = machine.addReader(0, to: length)
        let (fetch, _) = try startOf(next(&machine, old).1)
        machine.responseArrived(fetch)
        _ = machine.removeReader(old)
        _ = machine.lingerExpired(fetch)
        let new = machine.addReader(0, to: length)
        #expect(next(&machine, new).1.isEmpty, "no second request for the bytes that are being drained")
        _ = machine.advance(fetch, by: 1000)
        #expect(machine.end(fetch, reachedEnd: false, failure: nil).isEmpty)
        #expect(next(&machine, new).0 == "0..<1000 joined")
    }

    // MARK: - Running ahead

    private static let large: Int64 = 1 << 20

    @Test(arguments: [FetchSchedule.Ahead.whole, .toEnd, .toEndAlone])
    func aFetchThatRunsAheadGoesToTheEndOfTheFile(ahead: FetchSchedule.Ahead) throws {
        var machine = Self.machine(Self.large)
        machine.ahead = ahead
        let reader = machine.addReader(0, to: 1000)
        let (fetch, range) = try startOf(next(&machine, reader).1)
        #expect(range == 0..<Self.large, "not only what the reader wants")
        machine.responseArrived(fetch)
        #expect(machine.advance(fetch, by: Self.large / 2).0 == .go, "no reader is that far")
    }

    @Test func fetchesForOthersThanPlayersDoNotRunAhead() throws {
        var machine = Self.machine(Self.large)
        machine.ahead = .toEndAlone
        let reader = machine.addReader(0, to: 1000, demand: .preload)
        #expect(try startOf(next(&machine, reader).1).1 == 0..<1000)
    }

    @Test func theOnlyResponseGoesOnWithoutReaders() throws {
        var machine = Self.machine(Self.large)
        machine.ahead = .toEndAlone
        let reader = machine.addReader(0, to: 1000)
        let fetch = try startOf(next(&machine, reader).1).0
        machine.responseArrived(fetch)
        _ = machine.advance(fetch, by: 1000)
        #expect(machine.removeReader(reader) == [.demand(fetch, nil), .resume(fetch)])
        #expect(machine.fetches[fetch]?.demand == nil, "no reader waits for it")
        #expect(machine.advance(fetch, by: 1000).0 == .go)
        let second = machine.addReader(Self.large - 10, to: Self.large)
        #expect(
            machine.next(second, joinDistance: .max).1 == [.demand(fetch, .playing), .resume(fetch)], "it is joined")
        #expect(machine.fetches[fetch]?.demand == .playing)
    }

    @Test func aResponseThatAnotherCanReplaceEndsWithItsReaders() throws {
        var machine = Self.machine(Self.large)
        machine.ahead = .toEnd
        let reader = machine.addReader(0, to: 1000)
        let fetch = try startOf(next(&machine, reader).1).0
        machine.responseArrived(fetch)
        _ = machine.advance(fetch, by: 1000)
        #expect(machine.removeReader(reader) == [.linger(fetch)])
    }

    // MARK: - Origins that ignore ranges

    /// A machine with a fetch of the whole whose reader keeps it, has its first 1000 bytes, and is at its end.
    private func keptWhole() throws -> (FetchSchedule, FetchSchedule.ReaderID, FetchSchedule.FetchID) {
        var machine = FetchSchedule(completeLength: Self.large, rangesSupported: false)
        let reader = machine.addReader(0, to: 1000, demand: .preload, rangeFallback: .keep)
        let fetch = machine.adoptFetch(start: 0, limit: Self.large, owner: reader)
        _ = machine.advance(fetch, by: 1000)
        #expect(next(&machine, reader).0 == "0..<1000 origin")
        #expect(next(&machine, reader).0 == "end")
        return (machine, reader, fetch)
    }

    @Test("the only response of an origin without ranges is kept, paused, until its reader leaves (RFC 9110 §14.2)")
    func theWholeIsKept() throws {
        var (machine, reader, fetch) = try keptWhole()
        #expect(machine.verdict(fetch) == (.pause, []))
        #expect(machine.fetches[fetch]?.demand == .preload)
        let second = machine.addReader(500_000, to: 500_100, demand: .preload)
        #expect(next(&machine, second, joinDistance: 0) == ("wait", [.resume(fetch)]), "it is joined at any distance")
        #expect(machine.advance(fetch, by: 499_050).0 == .go)
        #expect(machine.removeReader(second).isEmpty)
        #expect(machine.verdict(fetch) == (.pause, []))
        #expect(machine.removeReader(reader) == [.linger(fetch)])
    }

    @Test("a whole of unknown length is kept for the reader of a bounded part, who gets the whole")
    func aWholeOfUnknownLengthIsKept() throws {
        for isBounded in [true, false] {
            var machine = FetchSchedule(completeLength: nil, rangesSupported: false)
            let reader = machine.addReader(0, to: 1000, isBounded: isBounded)
            let fetch = machine.adoptFetch(start: 0, limit: nil, owner: reader)
            _ = machine.advance(fetch, by: 1000)
            #expect(next(&machine, reader).0 == "0..<1000 origin")
            #expect(next(&machine, reader).0 == "end")
            let interest = machine.interest(in: try #require(machine.fetches[fetch]), id: fetch)
            #expect(interest == (isBounded ? .later : .none))
        }
    }

    @Test func aResponseThatRangesCanReplaceIsNotKept() throws {
        var (machine, _, fetch) = try keptWhole()
        machine.learn(completeLength: nil, rangesSupported: true)
        #expect(machine.verdict(fetch) == (.pause, [.linger(fetch)]))
    }

    @Test func aReaderOfARangeAloneFailsWhereThereAreNoRanges() throws {
        var machine = Self.machine(Self.large)
        let reader = machine.addReader(Self.large - 100, to: Self.large, rangeFallback: .fail)
        let (fetch, range) = try startOf(next(&machine, reader).1)
        #expect(range == Self.large - 100..<Self.large)
        machine.responseArrived(fetch)
        machine.learn(completeLength: nil, rangesSupported: false)
        let isTaken = machine.takeWhole(fetch, to: Self.large)
        #expect(!isTaken)
        #expect(machine.end(fetch, reachedEnd: false, failure: nil) == [.wake(reader)])
        #expect(next(&machine, reader).0 == "fail rangesUnsupported")
        // Stored bytes are given all the same.
        let second = machine.addReader(0, to: 1000, rangeFallback: .fail)
        machine.store(0..<1000)
        machine.markVerified(0..<1000)
        #expect(next(&machine, second).0 == "0..<1000 joined")
    }

    @Test func aWholeInPlaceOfARangeIsTakenWhereOneKeepsIt() throws {
        // Not verified yet.
        var machine = FetchSchedule(completeLength: Self.large, rangesSupported: true, stored: [0..<1000])
        let first = machine.addReader(0, to: 1000, demand: .preload, rangeFallback: .keep)
        let second = machine.addReader(2000, to: 3000, demand: .preload)
        let (fetch, range) = try startOf(next(&machine, second).1)
        #expect(range == 2000..<3000)
        machine.responseArrived(fetch)
        machine.learn(completeLength: nil, rangesSupported: false)
        let isTaken = machine.takeWhole(fetch, to: Self.large)
        #expect(isTaken)
        #expect(machine.writable(0..<3000, for: fetch).holes == [1000..<3000])
        #expect(machine.advance(fetch, by: 3000).0 == .pause, "it brings what follows, too")
        #expect(machine.verified.holes(in: 0..<3000) == [0..<1000], "others are looked at when read")
        #expect(next(&machine, second).0 == "2000..<3000 origin")
        #expect(machine.removeReader(second).isEmpty)
        #expect(machine.removeReader(first) == [.linger(fetch)])
    }
}
