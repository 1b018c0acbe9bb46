import Primitives
import TestLimits
import Testing

@Suite(.limit(minutes: 1)) struct SerialQueueTests {
    @Test func operationsRunInTheOrderOfTheCallsAndOneAtATime() async {
        let queue = SerialQueue()
        let log = Mutex<[Int]>([])
        let tasks = (0..<50).map { number in
            queue.add {
                log.withLock { $0.append(number) }
                // Another one could start here.
                await Task.yield()
                log.withLock { $0.append(number) }
                return number
            }
        }
        for (number, task) in tasks.enumerated() { #expect(await task.value == number) }
        #expect(log.withLock { $0 } == (0..<50).flatMap { [$0, $0] })
    }

    @Test func aCallerThatIsCanceledEndsNoOperation() async {
        let queue = SerialQueue()
        let gate = Promise<Void>()
        let first = queue.add { await gate.value }
        let caller = Task {
            await queue.add { Task.isCancelled }.value
        }
        caller.cancel()
        gate.fulfill()
        await first.value
        #expect(await !caller.value)
    }
}
