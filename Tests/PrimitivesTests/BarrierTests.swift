import Primitives
import TestLimits
import Testing

@Suite(.limit(minutes: 1)) struct BarrierTests {
    /// Lets a task go as far as it can.
    private static func settle() async { for _ in 0..<16 { await Task.yield() } }

    @Test func callersWaitForTheirKeyOnly() async {
        let barrier = Barrier<String>()
        let passed = Mutex<[String]>([])
        barrier.close("a")
        await barrier.pass("b")
        let waiting = Task {
            await barrier.pass("a")
            passed.withLock { $0.append("a") }
        }
        await Self.settle()
        barrier.open("b")
        await Self.settle()
        #expect(passed.withLock { $0 } == [])
        barrier.open("a")
        await waiting.value
        await barrier.pass("a")
    }

    @Test func whatIsClosedTwiceIsOpenedTwice() async {
        let barrier = Barrier<String>()
        let hasPassed = Mutex(false)
        barrier.close("a")
        barrier.close("a")
        let waiting = Task {
            await barrier.pass("a")
            hasPassed.withLock { $0 = true }
        }
        barrier.open("a")
        await Self.settle()
        #expect(!hasPassed.withLock { $0 })
        barrier.open("a")
        await waiting.value
    }

    @Test func anAreaBlocksThoseThatOverlapIt() async {
        let barrier = Barrier<Range<Int>> { $0.overlaps($1) }
        let passed = Mutex<Set<Int>>([])
        barrier.close(0..<10)
        barrier.close(20..<30)
        await barrier.pass(10..<20)
        await withTaskGroup { group in
            for start in [0, 9, 15, 29] {
                group.addTask {
                    await barrier.pass(start..<start + 6)
                    passed.withLock { _ = $0.insert(start) }
                }
            }
            await Self.settle()
            #expect(passed.withLock { $0 } == [])
            barrier.open(0..<10)
            while passed.withLock({ $0.count }) < 2 { await Task.yield() }
            await Self.settle()
            #expect(passed.withLock { $0 } == [0, 9], "15..<21 and 29..<35 overlap what is still closed")
            barrier.open(20..<30)
        }
        #expect(passed.withLock { $0 } == [0, 9, 15, 29])
    }

    @Test func nothingIsLostBetweenManyCallersAndOpenings() async {
        let barrier = Barrier<Int>()
        await withTaskGroup { group in
            for round in 0..<200 {
                barrier.close(round % 4)
                for _ in 0..<3 { group.addTask { await barrier.pass(round % 4) } }
                group.addTask { barrier.open(round % 4) }
            }
        }
    }
}
