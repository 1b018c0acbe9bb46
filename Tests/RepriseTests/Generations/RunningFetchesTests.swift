import Primitives
import Testing

@testable import Reprise

/// The value alone: what a fetch holds, and what is released when it ends.
@Suite struct RunningFetchesTests {
    private typealias Continuation = CheckedContinuation<RunningFetches.Parking, Never>

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
            fetches.add(id, task: Task {}, request: request, interest: interest, body: body)
        }
    }

    @Test func canceledFetchesEndTheirTransferOutsideTheLock() throws {
        var stage = try Stage()
        #expect(stage.fetches.isWanted(Self.id))
        let release = stage.fetches.cancel(Self.id)
        #expect(stage.fetches.isCancelled(Self.id))
        #expect(!stage.body.isCancelled, "not before the lock is released")
        release?.perform()
        #expect(stage.body.isCancelled)
        #expect(stage.interest.demand == nil)
        #expect(!stage.fetches.isWanted(Self.id))
    }

    @Test func aBodyThatIsAReadersIsNotCanceled() throws {
        var stage = try Stage()
        let first = stage.fetches.handOver(Self.id)
        stage.fetches.cancel(Self.id)?.perform()
        let second = stage.fetches.handOver(Self.id)
        #expect(first)
        #expect(!stage.body.isCancelled)
        #expect(stage.interest.demand == .playing, "its request still runs for that reader")
        #expect(!second, "a canceled fetch has nothing to hand over")
    }

    @Test func aBodyThatComesAfterTheEndIsRefused() throws {
        var stage = try Stage()
        let before = stage.fetches.attach(Body(), to: Self.id)
        stage.fetches.cancel(Self.id)?.perform()
        let after = stage.fetches.attach(Body(), to: Self.id)
        let asked = [stage.fetches.remove(Self.id), stage.fetches.remove(Self.id)]
        #expect(before)
        #expect(!after)
        #expect(asked.map { $0?.url.description } == ["http://origin/film.mp4", nil])
        #expect(stage.fetches.isCancelled(Self.id), "it is over")
    }

    @Test func aFetchThatWasResumedBeforeItParkedGoesOn() async throws {
        var stage = try Stage()
        stage.fetches.resume(Self.id).perform()
        let first = await withCheckedContinuation { (continuation: Continuation) in
            let parked = stage.fetches.park(Self.id, continuation: continuation, at: .zero)
            continuation.resume(returning: parked == .refused ? .over : .givenBack)
        }
        #expect(first == .over, "the readers' wish is not lost")
        stage.fetches.goesOn(Self.id)
        var parked = RunningFetches.Parked.refused
        var since: Duration?
        let second = await withCheckedContinuation { (continuation: Continuation) in
            parked = stage.fetches.park(Self.id, continuation: continuation, at: .seconds(5))
            since = stage.fetches.parkedSince(Self.id)
            stage.fetches.resume(Self.id).perform()
        }
        #expect(parked == .needsTimer, "it has a connection to give back")
        #expect(since == .seconds(5))
        #expect(second == .over)
        #expect(stage.fetches.parkedSince(Self.id) == nil)
    }

    @Test func givingBackEndsTheTransferAndTheWait() async throws {
        var stage = try Stage()
        let parking = await withCheckedContinuation { (continuation: Continuation) in
            _ = stage.fetches.park(Self.id, continuation: continuation, at: .zero)
            stage.fetches.giveBack(Self.id).perform()
        }
        #expect(parking == .givenBack)
        #expect(stage.body.isCancelled)
        #expect(!stage.fetches.isCancelled(Self.id), "it asks for the rest when readers want more")
    }
}
