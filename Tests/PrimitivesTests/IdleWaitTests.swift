import Primitives
import TestLimits
import Testing

@Suite(.limit(minutes: 1)) struct IdleWaitTests {
    /// Lets a task go as far as it can.
    private static func settle() async { for _ in 0..<16 { await Task.yield() } }

    @Test func whereNothingIsUnderWayNothingIsWaitedFor() async {
        let wait = IdleWait()
        await wait.idle()
        wait.begin()
        #expect(!wait.isIdle)
        wait.end()
        #expect(wait.isIdle)
        await wait.idle()
    }

    @Test func allThatBeganMustEndBeforeThoseWhoWaitGoOn() async {
        let wait = IdleWait()
        let woken = Mutex(0)
        wait.begin()
        wait.begin()
        let waiting = (0..<3).map { _ in
            Task {
                await wait.idle()
                woken.withLock { $0 += 1 }
            }
        }
        await Self.settle()
        wait.end()
        await Self.settle()
        #expect(woken.withLock { $0 } == 0)
        wait.end()
        for task in waiting { await task.value }
        #expect(woken.withLock { $0 } == 3)
    }
}
