import Foundation
import RepriseTesting
import TestLimits
import Testing

@testable import Reprise

/// The order of downloads and their states, event by event.
@Suite(.limit(minutes: 1)) struct DownloadQueueTests {
    private static func key(_ number: Int) -> CacheKey { CacheKey("http://origin/\(number)") }

    private static func request(_ number: Int) throws -> OriginRequest {
        OriginRequest(url: try ResourceURL("http://origin/\(number)"))
    }

    /// A queue with downloads 0..<`count`.
    private static func queue(_ count: Int, width: Int = 2) throws -> DownloadQueue {
        var queue = DownloadQueue(width: width)
        for number in 0..<count { _ = queue.add(key(number), request: try request(number)) }
        return queue
    }

    /// The states in order: `q`, `r`, `w`, `s` (waits for the hours of downloads), `p`, `d`, `f`.
    private static func letters(_ queue: DownloadQueue) -> String {
        String(
            queue.items.map { item -> Character in
                switch item.phase {
                case .queued: "q"
                case .running: "r"
                case .waiting(.schedule, _): "s"
                case .waiting: "w"
                case .paused: "p"
                case .done: "d"
                case .failed: "f"
                }
            })
    }

    /// A time of day (UTC), and a window that only the first lies in.
    private static let (night, noon) = (Date(timeIntervalSince1970: 3 * 3600), Date(timeIntervalSince1970: 12 * 3600))

    private static func window(_ text: String = "02:00-06:00") throws -> DailyWindow {
        var window = try DailyWindow(text)
        window.timeZone = .gmt
        return window
    }

    private static func run(_ number: Int, of queue: DownloadQueue) throws -> DownloadQueue.Run {
        guard case .running(let run) = queue.items[number].phase else { throw NotRunning() }
        return run
    }

    private struct NotRunning: Error {}

    private static let unreachable = RepriseError(.originUnreachable, "No answer.")

    private static func full(_ obstacle: StorageObstacle) -> RepriseError {
        var error = RepriseError(.storageFull, obstacle.description)
        error.obstacle = obstacle
        return error
    }

    @Test("one that was done goes on when it has lost something, and one that runs looks once more")
    func lostFiles() throws {
        var queue = try Self.queue(4, width: 3)
        _ = queue.end(try Self.run(0, of: queue), of: Self.key(0), with: .done, at: .zero)
        _ = queue.end(try Self.run(1, of: queue), of: Self.key(1), with: .done, at: .zero)
        _ = queue.pause(Self.key(3))
        #expect(Self.letters(queue) == "ddrp")
        var lacking = queue.items
        for number in [0, 2, 3] { lacking[number].phase = .queued }
        let before = try Self.run(2, of: queue)
        _ = queue.takeUp(lacking)
        #expect(Self.letters(queue) == "rdrp", "nothing was lost of the second")
        #expect(try Self.run(2, of: queue) == before)
        _ = queue.end(before, of: Self.key(2), with: .done, at: .zero)
        #expect(Self.letters(queue) == "rdrp")
        _ = queue.end(try Self.run(2, of: queue), of: Self.key(2), with: .done, at: .zero)
        #expect(Self.letters(queue) == "rddp")
    }

    @Test("one that waits for the room of others under way goes on when one of them has ended, however")
    func roomOfOthersIsWaitedFor() throws {
        let promised = Self.full(.promised(others: 100, taken: 500))
        let disk = Self.full(.fullDisk(free: 1, floor: 2))
        for ending in [DownloadQueue.Ending.done, .canceled, .failed(disk), .failed(Self.unreachable)] {
            var queue = try Self.queue(4, width: 4)
            _ = queue.end(try Self.run(2, of: queue), of: Self.key(2), with: .failed(disk), at: .zero)
            _ = queue.end(try Self.run(1, of: queue), of: Self.key(1), with: .failed(promised), at: .zero)
            #expect(Self.letters(queue) == "rwwr")
            // Of one that had no room itself there is none for others.
            _ = queue.end(try Self.run(3, of: queue), of: Self.key(3), with: .failed(promised), at: .zero)
            #expect(Self.letters(queue) == "rwww")
            _ = queue.pause(Self.key(3))
            _ = queue.end(try Self.run(0, of: queue), of: Self.key(0), with: ending, at: .zero)
            #expect(Self.letters(queue).dropFirst() == "rwp")
        }
    }

    @Test("one that ends for want of room leaves what it held to those that found more taken")
    func roomOfOneWithoutRoomIsWaitedFor() throws {
        // The first one holds 600 of 1,000 bytes, the second 100, and the third needs 350.
        var queue = try Self.queue(4, width: 4)
        let promised = { (taken: Int64) in Self.full(.promised(others: taken, taken: taken)) }
        _ = queue.end(try Self.run(2, of: queue), of: Self.key(2), with: .failed(promised(700)), at: .zero, taken: 700)
        _ = queue.end(try Self.run(3, of: queue), of: Self.key(3), with: .failed(promised(700)), at: .zero, taken: 700)
        #expect(Self.letters(queue) == "rrww", "the last one held nothing")
        _ = queue.end(try Self.run(1, of: queue), of: Self.key(1), with: .failed(promised(600)), at: .zero, taken: 600)
        #expect(Self.letters(queue) == "rwrr")
        _ = queue.end(try Self.run(3, of: queue), of: Self.key(3), with: .failed(promised(600)), at: .zero, taken: 600)
        #expect(Self.letters(queue) == "rwrw", "one that has failed beside the same others would fail again")
    }

    @Test("one that is added again in the time of its wait has a new wait when it fails again")
    func anEarlierWaitIsOver() throws {
        var queue = try Self.queue(1)
        _ = queue.end(try Self.run(0, of: queue), of: Self.key(0), with: .failed(Self.unreachable), at: .zero)
        _ = queue.resume(Self.key(0))
        _ = queue.end(try Self.run(0, of: queue), of: Self.key(0), with: .failed(Self.unreachable), at: .seconds(4))
        #expect(queue.retry(at: .seconds(5)).isEmpty)
        #expect(queue.nextRetry == .seconds(9))
    }

    @Test("one that is removed while it runs leaves its room to others when its task has ended")
    func roomOfARemovedOneIsWaitedFor() throws {
        var queue = try Self.queue(2)
        let run = try Self.run(0, of: queue)
        let promised = Self.full(.promised(others: 100, taken: 500))
        _ = queue.end(try Self.run(1, of: queue), of: Self.key(1), with: .failed(promised), at: .zero)
        _ = queue.remove([Self.key(0)])
        #expect(Self.letters(queue) == "w")
        _ = queue.end(run, of: Self.key(0), with: .canceled, at: .zero)
        #expect(Self.letters(queue) == "r")
    }

    @Test("downloads of an earlier process that had no room begin after those of which something may be on its way")
    func thoseWithoutRoomBeginLast() throws {
        func items(_ errors: [RepriseError?]) throws -> [DownloadQueue.Item] {
            try errors.enumerated().map { number, error in
                var item = DownloadQueue.Item(key: Self.key(number), request: try Self.request(number))
                item.lastError = error
                return item
            }
        }
        let full = RepriseError(.storageFull, "No room.")
        var queue = DownloadQueue(width: 8)
        let recorded = try items([full, nil, full, Self.unreachable])
        _ = queue.restore(recorded, yieldingRoom: true, at: .seconds(10))
        #expect(Self.letters(queue) == "wrwr")
        #expect(queue.nextRetry == .seconds(15))
        _ = queue.retry(at: .seconds(14))
        #expect(Self.letters(queue) == "wrwr")
        _ = queue.retry(at: .seconds(15))
        #expect(Self.letters(queue) == "rrrr")
        // Nothing is on its way.
        var alone = DownloadQueue(width: 8)
        _ = alone.restore(try items([full, full]), yieldingRoom: true, at: .zero)
        #expect(Self.letters(alone) == "rr")
        var inFront = DownloadQueue(width: 8)
        _ = inFront.restore(try items([full, nil]), at: .zero)
        #expect(Self.letters(inFront) == "rr")
    }

    @Test("one that runs begins again when it may use other networks")
    func anotherNetworkPolicyTakesEffectAtOnce() throws {
        var queue = try Self.queue(1)
        let run = try Self.run(0, of: queue)
        var request = try Self.request(0)
        let same = queue.add(Self.key(0), request: request)
        #expect(same.isEmpty)
        request.networkPolicy = .inexpensive
        let effects = queue.add(Self.key(0), request: request)
        let isCanceled = effects.contains { if case .cancel(run) = $0 { true } else { false } }
        #expect(isCanceled)
        _ = queue.end(run, of: Self.key(0), with: .canceled, at: .zero)
        #expect(Self.letters(queue) == "r")
        #expect(queue.items[0].request.networkPolicy == .inexpensive)
    }

    @Test("one that fails with old fields is tried with those with which it was added again")
    func newFieldsAreTriedAfterAFailure() throws {
        var queue = try Self.queue(1)
        let run = try Self.run(0, of: queue)
        var request = try Self.request(0)
        request.fields[.authorization] = "Bearer new"
        let added = queue.add(Self.key(0), request: request)
        #expect(added.isEmpty)
        let refused = RepriseError(.originRefused, "The origin answered 401.")
        _ = queue.end(run, of: Self.key(0), with: .failed(refused), at: .zero)
        #expect(Self.letters(queue) == "r")
        let next = try Self.run(0, of: queue)
        _ = queue.end(next, of: Self.key(0), with: .failed(refused), at: .zero)
        #expect(Self.letters(queue) == "f")
    }

    @Test func asManyRunAsMay() throws {
        var queue = try Self.queue(4)
        #expect(Self.letters(queue) == "rrqq")
        _ = queue.end(try Self.run(0, of: queue), of: Self.key(0), with: .done, at: .zero)
        #expect(Self.letters(queue) == "drrq")
    }

    @Test("what was paused keeps its place until its task has ended")
    func pausing() throws {
        var queue = try Self.queue(3)
        let run = try Self.run(0, of: queue)
        guard case .cancel(run)? = queue.pause(Self.key(0)).first else { throw NotRunning() }
        #expect(Self.letters(queue) == "prq")
        _ = queue.end(run, of: Self.key(0), with: .canceled, at: .zero)
        #expect(Self.letters(queue) == "prr")
        #expect(queue.pause(Self.key(0)).isEmpty)
        _ = queue.resume(Self.key(0))
        #expect(Self.letters(queue) == "qrr")
    }

    @Test("a download that goes on while its canceled task still ends is another task")
    func resumedAtOnce() throws {
        var queue = try Self.queue(1)
        let first = try Self.run(0, of: queue)
        _ = queue.pause(Self.key(0))
        _ = queue.resume(Self.key(0))
        let second = try Self.run(0, of: queue)
        #expect(first != second)
        _ = queue.end(first, of: Self.key(0), with: .canceled, at: .zero)
        #expect(Self.letters(queue) == "r")
        _ = queue.end(second, of: Self.key(0), with: .done, at: .zero)
        #expect(Self.letters(queue) == "d")
    }

    @Test func waitsGrowAndAnAnswerEndsThem() throws {
        var queue = try Self.queue(1)
        var pauses: [Duration] = []
        var now = Duration.seconds(7)
        for _ in 0..<9 {
            _ = queue.end(try Self.run(0, of: queue), of: Self.key(0), with: .failed(Self.unreachable), at: now)
            #expect(Self.letters(queue) == "w")
            let time = try #require(queue.nextRetry)
            pauses.append(time - now)
            #expect(queue.retry(at: time - .nanoseconds(1)).isEmpty)
            now = time
            _ = queue.retry(at: now)
        }
        #expect(queue.nextRetry == nil)
        #expect(pauses == [5, 10, 20, 40, 80, 160, 300, 300, 300].map { .seconds($0) })
        _ = queue.end(try Self.run(0, of: queue), of: Self.key(0), with: .done, at: .zero)
        #expect(queue.items[0].waits == 0)
    }

    @Test func whatWaitsLeavesItsPlaceToOthers() throws {
        var queue = try Self.queue(3, width: 1)
        _ = queue.end(try Self.run(0, of: queue), of: Self.key(0), with: .failed(Self.unreachable), at: .zero)
        #expect(Self.letters(queue) == "wrq")
        _ = queue.retry(at: .seconds(5))
        #expect(Self.letters(queue) == "qrq")
        _ = queue.end(try Self.run(1, of: queue), of: Self.key(1), with: .done, at: .zero)
        #expect(Self.letters(queue) == "rdq", "the first in the order comes first")
    }

    @Test func orderIsChanged() throws {
        var queue = try Self.queue(4, width: 1)
        queue.move(Self.key(3), before: Self.key(1))
        #expect(queue.items.map(\.key) == [0, 3, 1, 2].map(Self.key))
        queue.move(Self.key(0), before: nil)
        #expect(queue.items.map(\.key) == [3, 1, 2, 0].map(Self.key))
        #expect(Self.letters(queue) == "qqqr", "what runs goes on")
        queue.move(Self.key(3), before: Self.key(3))
        queue.move(Self.key(9), before: Self.key(3))
        #expect(queue.items.map(\.key) == [3, 1, 2, 0].map(Self.key))
    }

    @Test("those of an earlier process come first, and one that was added since is not there twice")
    func restored() throws {
        var queue = try Self.queue(1)
        let recorded = try [2, 0].map { DownloadQueue.Item(key: Self.key($0), request: try Self.request($0)) }
        _ = queue.restore(recorded, at: .zero)
        #expect(queue.items.map(\.key) == [2, 0].map(Self.key))
        #expect(Self.letters(queue) == "rr")
    }

    @Test(
        "what a failure waits for",
        arguments: [
            (401, Download.Obstacle.authorization), (403, .authorization), (407, .authorization), (429, .network),
            (503, .network), (404, nil), (410, nil),
        ])
    func obstacles(status: Int, obstacle: Download.Obstacle?) {
        let refusal = OriginRefusal(head: .init(status: .init(code: status)), body: [])
        #expect(Download.Obstacle(RepriseError(.originRefused, "No.", refusal: refusal)) == obstacle)
    }

    // MARK: - Hours

    @Test("outside of their hours downloads wait, whatever is asked, and go on when the hours begin")
    func hours() throws {
        var queue = try Self.queue(3)
        let run = try Self.run(0, of: queue)
        let effects = queue.setWindow(try Self.window(), at: Self.noon)
        #expect(effects.count == 2, "both tasks end")
        #expect(Self.letters(queue) == "sss")
        guard case .waiting(.schedule, let error) = queue.items[0].phase else { throw NotRunning() }
        #expect(error.code == .deferred && error.message.contains("02:00-06:00 only"))
        #expect(error.message.contains("at 02:00."))
        #expect(queue.end(run, of: Self.key(0), with: .canceled, at: .zero).isEmpty)
        #expect(queue.add(Self.key(3), request: try Self.request(3)).isEmpty)
        _ = queue.pause(Self.key(1))
        #expect(queue.look(at: Self.noon).isEmpty)
        #expect(Self.letters(queue) == "spss")
        #expect(queue.look(at: Self.night).count == 1, "one canceled task has not ended")
        #expect(Self.letters(queue) == "rpqq")
        _ = queue.setWindow(nil, at: Self.noon)
        #expect(Self.letters(queue) == "rpqq")
    }

    @Test("one that is resumed outside of its hours begins at once, and only that one")
    func resumedOutsideHours() throws {
        var queue = try Self.queue(3, width: 1)
        _ = queue.setWindow(try Self.window(), at: Self.noon)
        _ = queue.end(1, of: Self.key(0), with: .canceled, at: .zero)
        #expect(Self.letters(queue) == "sss")
        #expect(queue.resume(Self.key(1)).count == 1)
        #expect(queue.resume(Self.key(2)).isEmpty, "one runs at a time")
        #expect(Self.letters(queue) == "srq")
        #expect(queue.look(at: Self.noon).isEmpty)
        #expect(Self.letters(queue) == "srq")
        _ = queue.end(try Self.run(1, of: queue), of: Self.key(1), with: .done, at: .zero)
        #expect(Self.letters(queue) == "sdr")
        _ = queue.pause(Self.key(2))
        #expect(queue.resume(Self.key(2)).isEmpty)
        #expect(Self.letters(queue) == "sds", "a pause ends it")
    }

    @Test("what waits for something else first waits for that, then for the hours")
    func hoursAfterAnotherWait() throws {
        var queue = try Self.queue(1)
        _ = queue.end(try Self.run(0, of: queue), of: Self.key(0), with: .failed(Self.unreachable), at: .zero)
        _ = queue.setWindow(try Self.window(), at: Self.noon)
        #expect(Self.letters(queue) == "w")
        _ = queue.retry(at: .seconds(5))
        #expect(Self.letters(queue) == "s")
        #expect(queue.nextRetry == nil, "the hours are looked at apart")
        #expect(queue.look(at: Self.night).count == 1)
    }

    @Test func otherHoursAreSaid() throws {
        var queue = try Self.queue(1)
        _ = queue.setWindow(try Self.window(), at: Self.noon)
        _ = queue.setWindow(try Self.window("22:00-01:30"), at: Self.noon)
        guard case .waiting(.schedule, let error) = queue.items[0].phase else { throw NotRunning() }
        #expect(error.message.contains("22:00-01:30 only"))
    }

    @Test func theTimeOfDayIsLookedAtEachMinuteAndWhenTheHoursChange() throws {
        var queue = try Self.queue(1)
        #expect(queue.timeToLook(after: Self.noon) == nil)
        _ = queue.setWindow(try Self.window(), at: Self.noon)
        #expect(queue.timeToLook(after: Self.noon) == .seconds(60))
        #expect(queue.timeToLook(after: Date(timeIntervalSince1970: 2 * 3600 - 7)) == .seconds(7))
        #expect(queue.timeToLook(after: Date(timeIntervalSince1970: 6 * 3600 - 9)) == .seconds(9))
    }

    @Test("another selection begins again, also if the first has ended in between")
    func anotherSelection() throws {
        var queue = DownloadQueue(width: 1)
        let smallest = StreamSelection(quality: .smallest)
        _ = queue.add(Self.key(0), request: try Self.request(0))
        #expect(queue.add(Self.key(0), request: try Self.request(0)).isEmpty, "the same one goes on")
        guard case .cancel(1) = queue.add(Self.key(0), request: try Self.request(0), selection: smallest).first else {
            return #expect(Bool(false), "\(queue.items)")
        }
        guard case .start(2, let item) = queue.end(1, of: Self.key(0), with: .done, at: .zero).first else {
            return #expect(Bool(false), "\(queue.items)")
        }
        #expect(item.selection == smallest)
        #expect(queue.end(2, of: Self.key(0), with: .done, at: .zero).isEmpty)
        guard case .done = queue.items[0].phase else { return #expect(Bool(false), "\(queue.items)") }
    }

    // MARK: - A repeated download that failed

    private static let french = StreamSelection(audio: .only(["fr"]))

    /// A queue of one download in the phase that `prepare` brings it to, and that item.
    private static func former(
        _ prepare: (inout DownloadQueue) throws -> Void
    ) throws -> (queue: DownloadQueue, item: DownloadQueue.Item) {
        var queue = try queue(1)
        try prepare(&queue)
        return (queue, queue.items[0])
    }

    @Test func oneThatWasDoneIsDoneAgainWithItsSelection() throws {
        let (prepared, item) = try Self.former { queue in
            _ = queue.end(try Self.run(0, of: queue), of: Self.key(0), with: .done, at: .zero)
        }
        var queue = prepared
        _ = queue.add(Self.key(0), request: try Self.request(0), selection: Self.french)
        let refused = RepriseError(.notDownloadable, "No.")
        _ = queue.end(try Self.run(0, of: queue), of: Self.key(0), with: .failed(refused), at: .zero)
        #expect(Self.letters(queue) == "f")
        let effects = queue.putBack(item)
        #expect(effects.isEmpty)
        #expect(Self.letters(queue) == "d" && queue.items[0].selection == StreamSelection())
    }

    @Test func oneThatWasPausedIsPausedAndWhatRunsEnds() throws {
        let (prepared, item) = try Self.former { _ = $0.pause(Self.key(0)) }
        var queue = prepared
        _ = queue.end(1, of: Self.key(0), with: .canceled, at: .zero)
        _ = queue.add(Self.key(0), request: try Self.request(0), selection: Self.french)
        let run = try Self.run(0, of: queue)
        let effects = queue.putBack(item)
        #expect(effects.count == 1)
        guard case .cancel(run) = effects.first else { return #expect(Bool(false), "\(effects)") }
        let ended = queue.end(run, of: Self.key(0), with: .canceled, at: .zero)
        #expect(ended.isEmpty)
        #expect(Self.letters(queue) == "p" && queue.items[0].selection == StreamSelection())
    }

    @Test func oneThatRanRunsAgainWithItsSelection() throws {
        let (prepared, item) = try Self.former { _ in }
        var queue = prepared
        let first = try Self.run(0, of: queue)
        _ = queue.add(Self.key(0), request: try Self.request(0), selection: Self.french)
        _ = queue.end(first, of: Self.key(0), with: .canceled, at: .zero)
        let second = try Self.run(0, of: queue)
        guard case .cancel(second) = queue.putBack(item).first else { return #expect(Bool(false)) }
        guard case .start(_, let started) = queue.end(second, of: Self.key(0), with: .canceled, at: .zero).first else {
            return #expect(Bool(false))
        }
        #expect(started.selection == StreamSelection() && Self.letters(queue) == "r")
    }

    @Test func oneThatIsTooLargeFailsAndIsTriedWhenThereIsMoreRoom() throws {
        var queue = try Self.queue(2)
        var error = RepriseError(.storageFull, "Too large.")
        error.obstacle = .largerThanLimit(length: 2, limit: 1)
        _ = queue.end(try Self.run(0, of: queue), of: Self.key(0), with: .failed(error), at: .zero)
        let gone = RepriseError(.notDownloadable, "No.")
        _ = queue.end(try Self.run(1, of: queue), of: Self.key(1), with: .failed(gone), at: .zero)
        #expect(Self.letters(queue) == "ff")
        _ = queue.retryAll(waitingFor: .network)
        #expect(Self.letters(queue) == "ff")
        _ = queue.retryAll(waitingFor: .space)
        #expect(Self.letters(queue) == "rf")
    }

    @Test func oneThatWasRemovedStaysRemoved() throws {
        let (prepared, item) = try Self.former { _ = $0.pause(Self.key(0)) }
        var queue = prepared
        _ = queue.remove([Self.key(0)])
        let effects = queue.putBack(item)
        #expect(effects.isEmpty && queue.items.isEmpty)
    }
}
