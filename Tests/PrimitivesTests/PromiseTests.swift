import Primitives
import TestLimits
import Testing

@Suite(.limit(minutes: 1)) struct PromiseTests {
    @Test func allWhoWaitGetTheValue() async throws {
        let promise = Promise<Int>()
        #expect(!promise.isFulfilled)
        try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<50 {
                group.addTask { number.isMultiple(of: 2) ? await promise.value : try await promise.wait() }
            }
            for _ in 0..<8 { await Task.yield() }
            #expect(promise.fulfill(7))
            for try await value in group { #expect(value == 7) }
        }
        #expect(promise.isFulfilled)
        #expect(await promise.value == 7)
    }

    @Test func theFirstValueStays() async throws {
        let promise = Promise<Int>()
        #expect(promise.fulfill(1))
        #expect(!promise.fulfill(2))
        #expect(try await promise.wait() == 1)
    }

    @Test func functionsAreCalledInTheirOrderBeforeAnyoneElseGetsTheValue() async throws {
        let promise = Promise<Int>()
        let seen = Mutex<[String]>([])
        for name in ["a", "b"] {
            promise.whenFulfilled { value in
                seen.withLock { $0.append("\(name)\(value)") }
                #expect(promise.current == nil)
                // A function that is added now is called before that, too.
                if name == "a" { promise.whenFulfilled { _ in seen.withLock { $0.append("c") } } }
                #expect(!promise.fulfill(2))
            }
        }
        #expect(promise.isAwaited)
        #expect(promise.fulfill(1))
        #expect(promise.current == 1 && !promise.isAwaited)
        promise.whenFulfilled { _ in seen.withLock { $0.append("d") } }
        #expect(seen.withLock { $0 } == ["a1", "b1", "c", "d"])
    }

    @Test func aCanceledTaskStopsWaitingAndLeavesTheOthersAlone() async throws {
        let promise = Promise<Int>()
        let canceled = Task { try await promise.wait() }
        let other = Task { try await promise.wait() }
        for _ in 0..<8 { await Task.yield() }
        canceled.cancel()
        await #expect(throws: CancellationError.self) { try await canceled.value }
        promise.fulfill(3)
        #expect(try await other.value == 3)
    }

    @Test func aTaskThatIsCanceledBeforeItWaitsGetsNoValue() async throws {
        let promise = Promise<Int>()
        promise.fulfill(3)
        let (isCanceled, begin) = (Promise<Void>(), Promise<Void>())
        let task = Task {
            begin.fulfill()
            await isCanceled.value
            return try await promise.wait()
        }
        await begin.value
        task.cancel()
        isCanceled.fulfill()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func aWaitThatCannotBeCanceledGetsItsValue() async throws {
        let (promise, begin) = (Promise<Int>(), Promise<Void>())
        let task = Task {
            begin.fulfill()
            return await promise.value
        }
        await begin.value
        task.cancel()
        for _ in 0..<8 { await Task.yield() }
        promise.fulfill(4)
        #expect(await task.value == 4)
    }
}
