import Foundation
import TestLimits
import Testing

@testable import RepriseCLI

/// Signals to this process, of a kind that nothing else uses.
@Suite(.limit(minutes: 1)) struct StopSignalsTests {
    @Test func theFirstSignalCancelsTheWorkAndNothingElse() async {
        let signals = StopSignals([SIGUSR2])
        let result: Result<Void, any Error> = await signals.interrupting {
            kill(getpid(), SIGUSR2)
            await Self.cancellation()
            try Task.checkCancellation()
        }
        #expect(throws: CancellationError.self) { try result.get() }
        #expect(signals.received == SIGUSR2)
        #expect(!Task.isCancelled)
        await signals.wait()
    }

    @Test func workThatCannotBeStoppedIsNotWaitedFor() async throws {
        let gate = DispatchSemaphore(value: 0)
        let hasBegun = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            try await onThread {
                hasBegun.continuation.finish()
                gate.wait()
                return 1
            }
        }
        for await _ in hasBegun.stream {}
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        gate.signal()
        #expect(try await onThread { 2 } == 2)
    }

    /// Returns when the task is cancelled.
    private static func cancellation() async {
        let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
        await withTaskCancellationHandler {
            for await _ in stream {}
        } onCancel: {
            continuation.finish()
        }
    }
}
