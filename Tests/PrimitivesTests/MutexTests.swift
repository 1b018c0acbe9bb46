import Dispatch
import Primitives
import TestLimits
import Testing

@Suite(.limit(minutes: 1)) struct MutexTests {
    @Test func aSecondCallerWaitsUntilTheFirstIsDone() {
        let value = Mutex(0)
        let log = Mutex<[String]>([])
        let (isInside, isAtTheDoor, isDone) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        DispatchQueue.global().async {
            isInside.wait()
            isAtTheDoor.signal()
            value.withLock { _ in log.withLock { $0.append("second") } }
            isDone.signal()
        }
        value.withLock { _ in
            isInside.signal()
            isAtTheDoor.wait()
            // Long enough for a caller that nothing keeps out.
            for _ in 0..<1_000_000 where log.withLock({ $0.isEmpty }) {}
            log.withLock { $0.append("first") }
        }
        isDone.wait()
        #expect(log.withLock { $0 } == ["first", "second"])
    }

    @Test func anErrorReleasesTheLock() {
        struct Failure: Error {}
        let value = Mutex(1)
        #expect(throws: Failure.self) { try value.withLock { _ in throw Failure() } }
        #expect(value.withLock { $0 } == 1)
    }
}
