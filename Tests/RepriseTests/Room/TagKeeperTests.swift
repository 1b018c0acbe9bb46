import Primitives
import TestLimits
import Testing

@testable import Reprise

/// When a tag is looked at, whose files are summed only then.
@Suite(.limit(minutes: 1)) struct TagKeeperTests {
    /// A keeper whose looks find these excesses, one after another; the last one again and again.
    private final class Bench: Sendable {
        let keeper = TagKeeper()
        let looks = Mutex(0)

        /// Finds `excesses`; `during` runs while the first look is under way.
        func start(_ excesses: [Int64], during: @escaping @Sendable (TagKeeper) -> Void = { _ in }) {
            keeper.start { [keeper, looks] tags in
                for tag in tags {
                    keeper.lookBegins(tag: tag)
                    let number = looks.withLock { looks in
                        looks += 1
                        return looks
                    }
                    if number == 1 { during(keeper) }
                    let excess = excesses[min(number, excesses.count) - 1]
                    keeper.lookEnds(tag: tag, excess: excess, isOverfull: false)
                }
            }
        }

        func grow(_ bytes: Int64) async -> Int {
            keeper.grew(["t": bytes])
            await keeper.settle()
            return looks.withLock { $0 }
        }
    }

    @Test("the first growth is looked at, and the next ones when they may have used up the room that was found")
    func lookedAtWhenTheRoomIsUsedUp() async {
        let bench = Bench()
        bench.start([-100, -50])
        #expect(await bench.grow(1) == 1)
        #expect(await bench.grow(60) == 1)
        #expect(await bench.grow(39) == 1)
        #expect(await bench.grow(1) == 2, "100 bytes are used up")
        #expect(await bench.grow(49) == 2)
        #expect(await bench.grow(1) == 3)
    }

    @Test("growth while a look is under way counts, and does not make each look be followed by another one")
    func growthDuringALook() async {
        let bench = Bench()
        bench.start([-100]) { $0.grew(["t": 30]) }
        #expect(await bench.grow(1) == 1)
        #expect(await bench.grow(69) == 1)
        #expect(await bench.grow(1) == 2)
        let other = Bench()
        other.start([-100, -100]) { $0.grew(["t": 100]) }
        #expect(await other.grow(1) == 2, "the first look may not have seen it")
    }

    @Test("without room, as where all is kept, each growth is looked at once")
    func withoutRoom() async {
        let bench = Bench()
        bench.start([7])
        for number in 1...3 { #expect(await bench.grow(1) == number) }
    }

    @Test("a change of what is known, as another limit, is looked at, also one during a look")
    func otherChange() async {
        let bench = Bench()
        bench.start([-100]) { $0.note(["t"]) }
        #expect(await bench.grow(1) == 2)
        bench.keeper.note(["t"])
        await bench.keeper.settle()
        #expect(bench.looks.withLock { $0 } == 3)
    }

    @Test("after a change nothing is known until the look at it ends") func nothingIsKnownUntilThen() async {
        let (keeper, gate, isFirst) = (TagKeeper(), Promise<Void>(), Mutex(true))
        keeper.start { [keeper] tags in
            let mustWait = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return !isFirst
            }
            if mustWait { try? await gate.wait() }
            for tag in tags {
                keeper.lookBegins(tag: tag)
                keeper.lookEnds(tag: tag, excess: -100, isOverfull: false)
            }
        }
        keeper.grew(["t": 1])
        await keeper.settle()
        #expect(keeper.hasRoom(for: 1, tag: "t"))
        keeper.note(["t"])
        #expect(!keeper.hasRoom(for: 1, tag: "t"))
        gate.fulfill()
        await keeper.settle()
        #expect(keeper.hasRoom(for: 1, tag: "t"))
    }

    @Test("after a look that failed, the next growth is looked at") func failedLook() async {
        let bench = Bench()
        let looks = bench.looks
        bench.keeper.start { [keeper = bench.keeper] tags in
            for tag in tags {
                looks.withLock { $0 += 1 }
                keeper.lookBegins(tag: tag)
                keeper.lookFailed(tag: tag)
            }
        }
        for number in 1...3 { #expect(await bench.grow(1) == number) }
    }

    @Test func roomIsWhatTheLastLookFoundWithoutWhatCameSince() async {
        let bench = Bench()
        #expect(!bench.keeper.hasRoom(for: 0, tag: "t"))
        bench.start([-100])
        #expect(await bench.grow(1) == 1)
        #expect(bench.keeper.hasRoom(for: 99, tag: "t") && !bench.keeper.hasRoom(for: 100, tag: "t"))
        #expect(await bench.grow(40) == 1)
        #expect(bench.keeper.hasRoom(for: 59, tag: "t") && !bench.keeper.hasRoom(for: 60, tag: "t"))
        #expect(!bench.keeper.hasRoom(for: 0, tag: "other"))
    }
}
