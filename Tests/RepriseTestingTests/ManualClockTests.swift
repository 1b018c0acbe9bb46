import RepriseTesting
import TestLimits
import Testing

@Suite(.limit(minutes: 1))
struct ManualClockTests {
    private let clock = ManualClock()

    @Test("A sleeper wakes at its deadline and not before")
    func deadline() async throws {
        let sleeper = Task { [clock] in
            try await clock.sleep(for: .seconds(10))
            return clock.now.offset
        }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(10) - .nanoseconds(1))
        #expect(clock.sleeperCount == 1)
        clock.advance(by: .nanoseconds(1))
        #expect(clock.sleeperCount == 0)
        #expect(try await sleeper.value == .seconds(10))
    }

    @Test("A deadline that has passed does not sleep")
    func past() async throws {
        clock.advance(by: .seconds(5))
        try await clock.sleep(until: .init(offset: .seconds(5)))
        try await clock.sleep(for: .zero)
        #expect(clock.sleeperCount == 0)
    }

    @Test("Sleepers wake when their deadline has come, and no others")
    func order() async throws {
        var tasks: [Task<Void, any Error>] = []
        for (index, seconds) in [3, 1, 2, 1].enumerated() {
            tasks.append(Task { [clock] in try await clock.sleep(for: .seconds(seconds)) })
            await clock.waitForSleepers(index + 1)
        }
        for (woken, left) in [([1, 3], 2), ([2], 1), ([0], 0)] {
            clock.advance(by: .seconds(1))
            #expect(clock.sleeperCount == left)
            for index in woken { try await tasks[index].value }
        }
    }

    @Test("A canceled sleeper throws and is removed")
    func cancellation() async throws {
        let sleeper = Task { [clock] in try await clock.sleep(for: .seconds(1)) }
        await clock.waitForSleepers(1)
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
        #expect(clock.sleeperCount == 0)
        let late = Task { [clock] in
            while !Task.isCancelled { await Task.yield() }
            try await clock.sleep(for: .seconds(1))
        }
        late.cancel()
        await #expect(throws: CancellationError.self) { try await late.value }
    }

    @Test("It fits where any clock of durations is injected")
    func existential() async throws {
        let injected: any Clock<Duration> = clock
        let sleeper = Task { try await injected.sleep(for: .milliseconds(1)) }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))
        try await sleeper.value
    }
}
