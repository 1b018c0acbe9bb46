import Dispatch
import Primitives
import TestLimits
import Testing

/// Numbers are decided in order: each change appends the next ones as effects.
@Suite(.limit(minutes: 1)) struct StateMachineTests {
    private let machine = StateMachine<Int, Int>(0)
    private let performed = Mutex<[Int]>([])

    private func decide(_ count: Int = 1, performing perform: (Int) -> Void) {
        machine.update(performing: perform) { state, effects in
            for _ in 0..<count {
                effects.append(state)
                state += 1
            }
        }
    }

    private func note(_ effect: Int) { performed.withLock { $0.append(effect) } }

    @Test func effectsAreDoneWhenTheOnlyCallerReturns() {
        decide(3, performing: note)
        #expect(performed.withLock { $0 } == [0, 1, 2])
        #expect(machine.withLock { $0 } == 3)
    }

    @Test func aChangeWithoutEffectsPerformsNothing() {
        let result = machine.update(performing: note) { state, _ in
            state += 5
            return state
        }
        #expect(result == 5)
        #expect(performed.withLock { $0.isEmpty })
    }

    @Test func whatAnEffectDecidesComesBehindWhatWasDecidedBefore() {
        var nested = 0
        func perform(_ effect: Int) {
            note(effect)
            guard effect == 0 else { return }
            decide(2, performing: perform)
            // It was left in the outbox: this call is not over.
            nested = performed.withLock { $0.count }
        }
        decide(3, performing: perform)
        #expect(nested == 1)
        #expect(performed.withLock { $0 } == [0, 1, 2, 3, 4])
    }

    @Test func aCallerDoesNotWaitForTheOneThatPerforms() {
        let (isPerforming, mayGoOn, isDone) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        let (machine, performed) = (machine, performed)
        let perform: @Sendable (Int) -> Void = { effect in
            if effect == 0 {
                isPerforming.signal()
                mayGoOn.wait()
            }
            performed.withLock { $0.append(effect) }
        }
        DispatchQueue.global().async {
            machine.update(performing: perform) { state, effects in
                effects.append(0)
                state = 1
            }
            isDone.signal()
        }
        isPerforming.wait()
        decide(performing: perform)
        // Decided after, so not performed before, although its caller has returned.
        #expect(performed.withLock { $0.isEmpty })
        mayGoOn.signal()
        isDone.wait()
        #expect(performed.withLock { $0 } == [0, 1])
    }

    @Test func effectsOfManyThreadsAreAllPerformedOneAtATimeInTheirOrder() {
        let inside = Mutex(0)
        let (machine, performed) = (machine, performed)
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for step in 0..<1_000 {
                machine.update(performing: { effect in
                    #expect(
                        inside.withLock { inside -> Int in
                            inside += 1
                            return inside
                        } == 1)
                    performed.withLock { $0.append(effect) }
                    inside.withLock { $0 -= 1 }
                }) { state, effects in
                    for _ in 0..<(thread + step) % 3 {
                        effects.append(state)
                        state += 1
                    }
                }
            }
        }
        let count = machine.withLock { $0 }
        #expect(count > 5_000)
        #expect(performed.withLock { $0 } == Array(0..<count))
    }

    @Test func effectsOfAChangeThatThrowsArePerformed() {
        struct Failure: Error {}
        #expect(throws: Failure.self) {
            try machine.update(performing: note) { _, effects in
                effects.append(7)
                throw Failure()
            }
        }
        #expect(performed.withLock { $0 } == [7])
    }
}
