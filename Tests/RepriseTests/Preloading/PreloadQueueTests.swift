import RepriseTesting
import TestLimits
import Testing

@testable import Reprise

/// What is preloaded when the list changes, event by event.
@Suite(.limit(minutes: 1)) struct PreloadQueueTests {
    private static func wanted(_ number: Int, host: String, _ amount: PreloadAmount) throws -> PreloadQueue.Wanted {
        PreloadQueue.Wanted(
            key: CacheKey("\(number)"), request: OriginRequest(url: try ResourceURL("http://\(host)/\(number)")),
            amount: amount)
    }

    /// Numbers, of which each has a host of its own.
    private static func list(_ numbers: [Int], _ amount: PreloadAmount = .seconds(5)) throws -> [PreloadQueue.Wanted] {
        try numbers.map { try wanted($0, host: "host\($0)", amount) }
    }

    /// The states in order: `q`, `r`, `d`, `f`, behind their numbers.
    private static func text(_ queue: PreloadQueue) -> String {
        queue.items.map { item -> String in
            let letter =
                switch item.phase {
                case .queued: "q"
                case .running: "r"
                case .done: "d"
                case .failed: "f"
                }
            return item.wanted.key.text + letter
        }.joined(separator: " ")
    }

    private static func run(_ number: Int, of queue: PreloadQueue) throws -> PreloadQueue.Run {
        for item in queue.items where item.wanted.key.text == "\(number)" {
            if case .running(let run) = item.phase { return run }
        }
        throw NotRunning()
    }

    private struct NotRunning: Error {}

    private static func canceled(by effects: [PreloadQueue.Effect]) -> [PreloadQueue.Run] {
        effects.compactMap { if case .cancel(let run) = $0 { run } else { nil } }
    }

    private static let unreachable = RepriseError(.originUnreachable, "No answer.")

    @Test func threeRunAndTheNearestFirst() throws {
        var queue = PreloadQueue()
        _ = queue.set(try Self.list([1, 2, 3, 4, 5]), at: .zero)
        #expect(Self.text(queue) == "1r 2r 3r 4q 5q")
        _ = queue.end(try Self.run(2, of: queue), with: .done([]), at: .zero)
        #expect(Self.text(queue) == "1r 2d 3r 4r 5q")
    }

    @Test func oneRunsForEachHost() throws {
        var queue = PreloadQueue()
        let list = try [(1, "a"), (2, "a"), (3, "b"), (4, "a")].map { try Self.wanted($0.0, host: $0.1, .all) }
        _ = queue.set(list, at: .zero)
        #expect(Self.text(queue) == "1r 2q 3r 4q")
        _ = queue.end(try Self.run(1, of: queue), with: .done([]), at: .zero)
        #expect(Self.text(queue) == "1d 2r 3r 4q")
    }

    @Test("what fell out ends, keeps its place until its task has ended, and what stays goes on")
    func another() throws {
        var queue = PreloadQueue()
        _ = queue.set(try Self.list([1, 2, 3, 4]), at: .zero)
        let (first, second) = (try Self.run(1, of: queue), try Self.run(2, of: queue))
        #expect(Self.canceled(by: queue.set(try Self.list([2, 3, 4, 5]), at: .zero)) == [first])
        #expect(Self.text(queue) == "2r 3r 4q 5q")
        #expect(try Self.run(2, of: queue) == second)
        _ = queue.end(first, with: .canceled, at: .zero)
        #expect(Self.text(queue) == "2r 3r 4r 5q")
        #expect(queue.set([], at: .zero).count == 3)
        #expect(queue.items.isEmpty)
    }

    @Test func aListGoesWithItsOwnerUnlessAnotherOneHasBeenSet() throws {
        final class Owner {}
        let (owner, other) = (Owner(), Owner())
        var queue = PreloadQueue()
        _ = queue.set(try Self.list([1, 2]), of: ObjectIdentifier(owner), at: .zero)
        var effects = queue.endList(of: ObjectIdentifier(other), at: .zero)
        #expect(effects.isEmpty)
        #expect(Self.text(queue) == "1r 2r")
        effects = queue.endList(of: ObjectIdentifier(owner), at: .zero)
        #expect(Self.canceled(by: effects).count == 2)
        #expect(queue.items.isEmpty)
        _ = queue.set(try Self.list([3]), of: ObjectIdentifier(owner), at: .zero)
        _ = queue.set(try Self.list([4]), at: .zero)
        effects = queue.endList(of: ObjectIdentifier(owner), at: .zero)
        #expect(effects.isEmpty)
        #expect(Self.text(queue) == "4q", "three canceled ones have not ended yet")
        withExtendedLifetime((owner, other)) {}
    }

    @Test("something nearer takes the place of the farthest that runs, which goes on later")
    func nearer() throws {
        var queue = PreloadQueue()
        _ = queue.set(try Self.list([2, 3, 4]), at: .zero)
        let last = try Self.run(4, of: queue)
        #expect(Self.canceled(by: queue.set(try Self.list([1, 2, 3, 4]), at: .zero)) == [last])
        #expect(Self.text(queue) == "1q 2r 3r 4q", "its place is not free yet")
        _ = queue.end(last, with: .canceled, at: .zero)
        #expect(Self.text(queue) == "1r 2r 3r 4q")
    }

    @Test func anotherAmountIsFetchedAfterTheFirst() throws {
        var queue = PreloadQueue()
        _ = queue.set(try Self.list([1], .seconds(3)), at: .zero)
        let first = try Self.run(1, of: queue)
        #expect(queue.set(try Self.list([1], .seconds(10)), at: .zero).isEmpty, "what runs is not cut")
        let effects = queue.end(first, with: .done([]), at: .zero)
        guard case .start(_, let wanted)? = effects.first else { return #expect(Bool(false), "\(effects)") }
        #expect(wanted.amount == .seconds(10))
        _ = queue.end(try Self.run(1, of: queue), with: .done([]), at: .zero)
        #expect(queue.set(try Self.list([1], .seconds(10)), at: .zero).isEmpty)
        #expect(Self.text(queue) == "1d")
        _ = queue.set(try Self.list([1], .seconds(12)), at: .zero)
        #expect(Self.text(queue) == "1r")
    }

    @Test("a failed one is left alone for half a minute, however often the list is set")
    func failed() throws {
        var queue = PreloadQueue()
        _ = queue.set(try Self.list([1]), at: .zero)
        _ = queue.end(try Self.run(1, of: queue), with: .failed(Self.unreachable), at: .seconds(1))
        for second in [2, 15, 30] {
            _ = queue.set(try Self.list([1]), at: .seconds(second))
            #expect(Self.text(queue) == "1f")
        }
        _ = queue.set(try Self.list([1]), at: .seconds(31))
        #expect(Self.text(queue) == "1r")
    }

    private static let unauthorized = RepriseError(.originForbidden, "The token is over.")

    /// A list of one, whose URL has this token and which may use these networks.
    private static func signed(_ token: String, over policy: NetworkPolicy = .any) throws -> [PreloadQueue.Wanted] {
        var request = OriginRequest(url: try ResourceURL("http://host1/1?token=\(token)"))
        request.networkPolicy = policy
        return [PreloadQueue.Wanted(key: CacheKey("1"), request: request, amount: .seconds(5))]
    }

    @Test func aNewRequestIsTriedAtOnceAfterARefusal() throws {
        var queue = PreloadQueue()
        _ = queue.set(try Self.signed("a"), at: .zero)
        _ = queue.end(try Self.run(1, of: queue), with: .failed(Self.unauthorized), at: .zero)
        _ = queue.set(try Self.signed("a"), at: .seconds(1))
        #expect(Self.text(queue) == "1f")
        let effects = queue.set(try Self.signed("b"), at: .seconds(1))
        guard case .start(_, let wanted)? = effects.first else { return #expect(Bool(false), "\(effects)") }
        #expect(wanted.request.url.description.hasSuffix("token=b"))
    }

    @Test("a new request that comes while the old one runs is tried if that fails", arguments: [false, true])
    func newRequestMeanwhile(fails: Bool) throws {
        var queue = PreloadQueue()
        _ = queue.set(try Self.signed("a"), at: .zero)
        let first = try Self.run(1, of: queue)
        var effects = queue.set(try Self.signed("b"), at: .zero)
        #expect(effects.isEmpty, "what runs is not cut")
        effects = queue.end(first, with: fails ? .failed(Self.unauthorized) : .done([]), at: .zero)
        #expect(effects.count == (fails ? 1 : 0))
        #expect(Self.text(queue) == (fails ? "1r" : "1d"))
        guard fails else { return }
        _ = queue.end(try Self.run(1, of: queue), with: .failed(Self.unauthorized), at: .zero)
        #expect(Self.text(queue) == "1f", "the new one has failed, too")
    }

    @Test("another URL does not hammer an origin that is away; other networks are tried at once")
    func newRequestElsewhere() throws {
        var queue = PreloadQueue()
        _ = queue.set(try Self.signed("a"), at: .zero)
        _ = queue.end(try Self.run(1, of: queue), with: .failed(Self.unreachable), at: .zero)
        _ = queue.set(try Self.signed("b"), at: .seconds(1))
        #expect(Self.text(queue) == "1f")
        queue = PreloadQueue()
        _ = queue.set(try Self.signed("a", over: .inexpensive), at: .zero)
        let forbidden = RepriseError(.networkUnavailable, "Only over Wi-Fi.")
        _ = queue.end(try Self.run(1, of: queue), with: .failed(forbidden), at: .zero)
        _ = queue.set(try Self.signed("a"), at: .seconds(1))
        #expect(Self.text(queue) == "1r")
    }

    @Test("what was removed is fetched again with the next list, what was evicted after half a minute")
    func lost() throws {
        for (byEviction, second) in [(false, 5), (true, 35)] {
            var queue = PreloadQueue()
            _ = queue.set(try Self.list([1, 2]), at: .zero)
            _ = queue.end(try Self.run(1, of: queue), with: .done([CacheKey("1"), CacheKey("segment")]), at: .zero)
            _ = queue.end(try Self.run(2, of: queue), with: .done([CacheKey("2")]), at: .zero)
            queue.lose([CacheKey("segment"), CacheKey("other")], byEviction: byEviction, at: .seconds(5))
            #expect(Self.text(queue) == "1d 2d")
            _ = queue.set(try Self.list([1, 2]), at: Duration.seconds(second) - .milliseconds(1))
            #expect(Self.text(queue) == "1d 2d")
            _ = queue.set(try Self.list([1, 2]), at: .seconds(second))
            #expect(Self.text(queue) == "1r 2d")
            _ = queue.end(try Self.run(1, of: queue), with: .done([CacheKey("1")]), at: .seconds(second))
            _ = queue.set(try Self.list([1, 2]), at: .seconds(100))
            #expect(Self.text(queue) == "1d 2d", "it is complete again")
        }
    }

    @Test func whatIsRemovedWhileItRunsIsFetchedAgainWithTheNextList() throws {
        var queue = PreloadQueue()
        _ = queue.set(try Self.list([1]), at: .zero)
        queue.lose([CacheKey("1")], byEviction: false, at: .zero)
        _ = queue.end(try Self.run(1, of: queue), with: .done([CacheKey("1")]), at: .zero)
        #expect(Self.text(queue) == "1d")
        _ = queue.set(try Self.list([1]), at: .zero)
        #expect(Self.text(queue) == "1r")
    }

    @Test func nothingBeginsOnceItIsStopped() throws {
        var queue = PreloadQueue()
        _ = queue.set(try Self.list([1, 2, 3, 4]), at: .zero)
        #expect(queue.stop().count == 3)
        _ = queue.end(try Self.run(1, of: queue), with: .canceled, at: .zero)
        #expect(queue.set(try Self.list([7]), at: .zero).count == 2, "only those that still run end")
        #expect(queue.runs.count == 2)
    }

    @Test("ten thousand steps of lists, ends and failures")
    func model() throws {
        var random = SeededGenerator(seed: 15)
        for _ in 0..<100 {
            var queue = PreloadQueue()
            var canceled: Set<PreloadQueue.Run> = []
            var amounts: [String: PreloadAmount] = [:]
            for step in 0..<100 {
                let now = Duration.seconds(step * 5)
                let effects: [PreloadQueue.Effect]
                if Int.random(in: 0..<3, using: &random) == 0 {
                    let numbers = (0..<Int.random(in: 0..<8, using: &random)).map { _ in
                        Int.random(in: 0..<10, using: &random)
                    }
                    let list = try numbers.map {
                        try Self.wanted(
                            $0, host: "host\($0 % 4)", .seconds(Double.random(in: 1...2, using: &random).rounded()))
                    }
                    effects = queue.set(list, at: now)
                    #expect(
                        Set(queue.items.map(\.wanted.key.text)) == Set(numbers.map(String.init)),
                        "the list is what was set")
                    amounts = [:]
                    for wanted in list.reversed() { amounts[wanted.key.text] = wanted.amount }
                } else if let run = queue.runs.keys.sorted().randomElement(using: &random) {
                    let isCanceled = canceled.remove(run) != nil
                    let ending: PreloadQueue.Ending =
                        isCanceled
                        ? .canceled : Bool.random(using: &random) ? .done([]) : .failed(Self.unreachable)
                    effects = queue.end(run, with: ending, at: now)
                } else {
                    continue
                }
                for case .cancel(let run) in effects { canceled.insert(run) }
                try check(queue, canceled: canceled, amounts: amounts)
            }
        }
    }

    private func check(
        _ queue: PreloadQueue, canceled: Set<PreloadQueue.Run>, amounts: [String: PreloadAmount]
    ) throws {
        #expect(queue.runs.count <= PreloadQueue.width)
        #expect(Set(queue.runs.values).count == queue.runs.count, "one for each host")
        var running: Set<PreloadQueue.Run> = []
        for item in queue.items {
            #expect(item.wanted.amount == amounts[item.wanted.key.text])
            if case .running(let run) = item.phase { running.insert(run) }
        }
        #expect(running == Set(queue.runs.keys).subtracting(canceled), "what is not wanted is being canceled")
        // Nothing waits that could run: not while a place and its host are free.
        guard queue.runs.count < PreloadQueue.width else { return }
        for item in queue.items {
            guard case .queued = item.phase else { continue }
            #expect(queue.runs.values.contains(item.host), "\(item.wanted.key.text) waits for nothing")
        }
    }
}
