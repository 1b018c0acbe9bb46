import Foundation
import Primitives
import Reprise
import RepriseTesting
import TestLimits
import Testing

@testable import RepriseCLI

/// When the service manager is told that the server is not hung.
@Suite(.limit(minutes: 1)) struct WatchdogTests {
    @Test(
        "half of the time, for the process that is meant: sd_watchdog_enabled(3)",
        arguments: [
            (["WATCHDOG_USEC": "30000000"], .seconds(15)),
            (["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "7"], .seconds(15)),
            (["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "8"], nil),
            (["WATCHDOG_USEC": "1"], .microseconds(1)),
            (["WATCHDOG_USEC": "0"], nil), (["WATCHDOG_USEC": "-1"], nil),
            (["WATCHDOG_USEC": "9223372036854775808"], nil),
            (["WATCHDOG_USEC": "30s"], nil), (["WATCHDOG_PID": "7"], nil), ([:], nil),
        ] as [([String: String], Duration?)])
    func interval(variables: [String: String], expected: Duration?) {
        #expect(Watchdog(variables, process: 7)?.interval == expected)
    }

    @Test func aNoteIsSentOnlyOnceEverythingHasTurned() async throws {
        let clock = ManualClock()
        let watchdog = try #require(Watchdog(["WATCHDOG_USEC": "30000000"], process: 7))
        let (notes, turns) = (Mutex(0), Mutex(0))
        let hung = Promise<Void>()
        let task = Task {
            let turn: @Sendable () async -> Void = {
                let number = turns.withLock { turns in
                    turns += 1
                    return turns
                }
                if number == 2 { try? await hung.wait() }
            }
            let cacheClock = CacheClock(clock, wallClock: { Date() })
            await watchdog.run(clock: cacheClock, turn: turn) { notes.withLock { $0 += 1 } }
        }
        await clock.waitForSleepers(1)
        #expect(notes.withLock { $0 } == 1)
        clock.advance(by: .seconds(15))
        await eventually { turns.withLock { $0 } == 2 }
        // However late it becomes.
        clock.advance(by: .seconds(3600))
        #expect(notes.withLock { $0 } == 1)
        hung.fulfill()
        await clock.waitForSleepers(1)
        #expect(notes.withLock { $0 } == 2)
        task.cancel()
        await task.value
        #expect(turns.withLock { $0 } == 2)
    }
}
