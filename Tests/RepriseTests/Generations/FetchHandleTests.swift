import Primitives
import Testing

@testable import Reprise

/// The value alone: what a fetch holds, and what is released when it ends.
@Suite struct FetchHandleTests {
    private final class Body: OriginBody {
        private let cancels = Mutex(0)
        var isCancelled: Bool { cancels.withLock { $0 } > 0 }
        func next() async throws -> (any ByteChunk)? { nil }
        func cancel() { cancels.withLock { $0 += 1 } }
    }

    private struct Stage {
        let body = Body()
        let interest = RequestInterest(.playing)
        var handle: FetchHandle

        /// One fetch that reads from ``body`` and is wanted for playing.
        init() throws {
            let request = OriginRequest(url: try ResourceURL("http://origin/film.mp4"))
            handle = FetchHandle(
                task: Task {}, request: SharedRequest(request), interest: interest, body: body, at: .zero)
        }
    }

    @Test func canceledFetchesEndTheirTransferOutsideTheLock() throws {
        var stage = try Stage()
        #expect(stage.handle.isWanted)
        let effects = stage.handle.cancel()
        #expect(stage.handle.isCancelled)
        #expect(!stage.body.isCancelled, "not before the lock is released")
        perform(effects)
        #expect(stage.body.isCancelled)
        #expect(stage.interest.demand == nil)
        #expect(!stage.handle.isWanted)
    }

    @Test func aBodyThatIsAReadersIsNotCanceled() throws {
        var stage = try Stage()
        let first = stage.handle.handOver()
        perform(stage.handle.cancel())
        let second = stage.handle.handOver()
        #expect(first)
        #expect(!stage.body.isCancelled)
        #expect(stage.interest.demand == .playing, "its request still runs for that reader")
        #expect(!second, "a canceled fetch has nothing to hand over")
    }

    @Test func aBodyThatComesAfterTheCancellationIsRefused() throws {
        var stage = try Stage()
        let before = stage.handle.attach(Body())
        perform(stage.handle.cancel())
        let after = stage.handle.attach(Body())
        #expect(before)
        #expect(!after)
    }

    /// What ended the waits of a parked fetch.
    private let ends = Mutex<[FetchHandle.Parking]>([])

    private func park(_ stage: inout Stage, at elapsed: Duration = .zero) -> FetchHandle.Parked {
        let ends = ends
        return stage.handle.park(at: elapsed) { end in ends.withLock { $0.append(end) } }
    }

    @Test func aFetchThatWasResumedBeforeItParkedGoesOn() throws {
        var stage = try Stage()
        #expect(stage.handle.resume().isEmpty, "nothing is left to do")
        #expect(park(&stage) == .refused, "the readers' wish is not lost")
        stage.handle.goesOn(at: .zero)
        #expect(park(&stage, at: .seconds(5)) == .needsTimer, "it has a connection to give back")
        #expect(stage.handle.parkedSince == .seconds(5))
        perform(stage.handle.resume())
        #expect(ends.withLock { $0 } == [.over])
        #expect(stage.handle.parkedSince == nil)
    }

    @Test func givingBackEndsTheTransferAndTheWait() throws {
        var stage = try Stage()
        _ = park(&stage)
        perform(stage.handle.giveBack())
        #expect(ends.withLock { $0 } == [.givenBack])
        #expect(stage.body.isCancelled)
        #expect(!stage.handle.isCancelled, "it asks for the rest when readers want more")
    }

    @Test func theClassOfARequestChangesWithTheDecisionAndOthersAreToldLater() throws {
        let stage = try Stage()
        let told = Mutex(0)
        _ = stage.interest.observe { told.withLock { $0 += 1 } }
        let effects = stage.handle.change(to: .preload)
        #expect(stage.interest.demand == .preload)
        #expect(told.withLock { $0 } == 0, "not under the lock")
        perform(effects)
        #expect(told.withLock { $0 } == 1)
        stage.interest.change(to: .download)
        #expect(stage.interest.demand == .preload, "the lookup that began the request has nothing to say any more")
        #expect(stage.handle.change(to: .preload).isEmpty)
    }
}

private func perform(_ effects: [GenerationEffect]) { for effect in effects { effect.perform() } }
