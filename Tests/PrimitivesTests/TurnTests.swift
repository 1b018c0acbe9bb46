import Primitives
import TestLimits
import Testing

@Suite(.limit(minutes: 1)) struct TurnTests {
    @Test func oneCallerIsInAtATime() async {
        let turn = Turn()
        let inside = Mutex(0)
        await withTaskGroup(of: Int.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    guard (try? await turn.take()) != nil else { return 0 }
                    defer { turn.leave() }
                    let count = inside.withLock { inside in
                        inside += 1
                        return inside
                    }
                    await Task.yield()
                    inside.withLock { $0 -= 1 }
                    return count
                }
            }
            for await count in group { #expect(count == 1) }
        }
    }

    @Test func aCallerThatIsCanceledWhileItWaitsLeavesTheOthersAlone() async throws {
        let turn = Turn()
        try await turn.take()
        let canceled = Task { try await turn.take() }
        canceled.cancel()
        await #expect(throws: CancellationError.self) { try await canceled.value }
        let next = Task {
            try await turn.take()
            turn.leave()
        }
        turn.leave()
        try await next.value
        try await turn.take()
    }
}
