import Primitives
import Testing

@testable import Reprise

/// The value alone: what a fetch holds, and what is released when it ends.
@Suite struct RunningFetchesTests {
    private final class Body: OriginBody {
        private let cancels = Mutex(0)
        var isCancelled: Bool { cancels.withLock { $0 } > 0 }
        func next() async throws -> (any ByteChunk)? { nil }
        func cancel() { cancels.withLock { $0 += 1 } }
    }

    private static let id = FetchSchedule.FetchID(number: 1)

    private struct Stage {
        let body = Body()
        let interest = RequestInterest(.playing)
        var fetches = RunningFetches()

        /// One fetch that reads from ``body`` and is wanted for playing.
        init() throws {
            let request = OriginRequest(url: try ResourceURL("http://origin/film.mp4"))
            fetches.add(id, task: Task {}, request: request, interest: interest, body: body, at: .zero)
        }
    }

    @Test func canceledFetchesEndTheirTransferOutsideTheLock() throws {
        var stage = try Stage()
        #expect(stage.fetches.isWanted(Self.id))
        let effects = stage.fetches.cancel(Self.id)
        #expect(stage.fetches.isCancelled(Self.id))
        #expect(!stage.body.isCancelled, "not before the lock is released")
        perform(effects)
        #expect(stage.body.isCancelled)
        #expect(stage.interest.demand == nil)
        #expect(!stage.fetches.isWanted(Self.id))
    }

    @Test func aBodyThatIsAReadersIsNotCanceled() throws {
        var stage = try Stage()
        let first = stage.fetches.handOver(Self.id)
        perform(stage.fetches.cancel(Self.id))
        let second = stage.fetches.handOver(Self.id)
        #expect(first)
        #expect(!stage.body.isCancelled)
        #expect(stage.interest.demand == .playing, "its request still runs for that reader")
        #expect(!second, "a canceled fetch has nothing to hand over")
    }

    @Test func aBodyThatComesAfterTheEndIsRefused() throws {
        var stage = try Stage()
        let before = stage.fetches.attach(Body(), to: Self.id)
        perform(stage.fetches.cancel(Self.id))
        let after = stage.fetches.attach(Body(), to: Self.id)
        let asked = [stage.fetches.remove(Self.id), stage.fetches.remove(Self.id)]
        #expect(before)
        #expect(!after)
        #expect(asked.map { $0?.url.description } == ["http://origin/film.mp4", nil])
        #expect(stage.fetches.isCancelled(Self.id), "it is over")
    }

    /// What ended the waits of a parked fetch.
    private let ends = Mutex<[RunningFetches.Parking]>([])

    private func park(_ stage: inout Stage, at elapsed: Duration = .zero) -> RunningFetches.Parked {
        let ends = ends
        return stage.fetches.park(Self.id, at: elapsed) { end in ends.withLock { $0.append(end) } }
    }

    @Test func aFetchThatWasResumedBeforeItParkedGoesOn() throws {
        var stage = try Stage()
        #expect(stage.fetches.resume(Self.id).isEmpty, "nothing is left to do")
        #expect(park(&stage) == .refused, "the readers' wish is not lost")
        stage.fetches.goesOn(Self.id)
        #expect(park(&stage, at: .seconds(5)) == .needsTimer, "it has a connection to give back")
        #expect(stage.fetches.parkedSince(Self.id) == .seconds(5))
        perform(stage.fetches.resume(Self.id))
        #expect(ends.withLock { $0 } == [.over])
        #expect(stage.fetches.parkedSince(Self.id) == nil)
    }

    @Test func givingBackEndsTheTransferAndTheWait() throws {
        var stage = try Stage()
        _ = park(&stage)
        perform(stage.fetches.giveBack(Self.id))
        #expect(ends.withLock { $0 } == [.givenBack])
        #expect(stage.body.isCancelled)
        #expect(!stage.fetches.isCancelled(Self.id), "it asks for the rest when readers want more")
    }

    @Test func theClassOfARequestChangesWithTheDecisionAndOthersAreToldLater() throws {
        var stage = try Stage()
        let told = Mutex(0)
        _ = stage.interest.observe { told.withLock { $0 += 1 } }
        let effects = stage.fetches.change(Self.id, to: .preload)
        #expect(stage.interest.demand == .preload)
        #expect(told.withLock { $0 } == 0, "not under the lock")
        perform(effects)
        #expect(told.withLock { $0 } == 1)
        stage.interest.change(to: .download)
        #expect(stage.interest.demand == .preload, "the lookup that began the request has nothing to say any more")
        #expect(stage.fetches.change(Self.id, to: .preload).isEmpty)
    }
}

private func perform(_ effects: [GenerationEffect]) { for effect in effects { effect.perform() } }
