import ArgumentParser
import Foundation
import RepriseTesting
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

    /// A signal before that ends the process without a word; when it comes is not for a test to say.
    @Test(
        "a command that ends in good order takes the signals before anything else",
        arguments: [
            "Serve", "Fetch", "Export", "Pin", "Prune", "Verify",
        ])
    func signalsComeFirst(command: String) throws {
        let source = try String(
            contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appendingPathComponent("../../Sources/RepriseCLI/\(command).swift"), encoding: .utf8)
        let run = try #require(source.firstRange(of: "func run() async throws {\n"))
        let first = source[run.upperBound...].prefix { $0 != "\n" }
        #expect(first.trimmingCharacters(in: .whitespaces).hasPrefix("let signals = StopSignals("), "\(first)")
    }

    @Test("a command that is stopped before it opens a file has waited for no reader") func stoppedAtOnce() async throws
    {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let path = directory.path(of: "film.mp4")
        let output = try Output(path, force: false, cache: CacheOptions.parse(["--cache-dir", directory.path]))
        let opening = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await output.open(StopSignals([SIGUSR2]))
        }
        let result = await opening.result
        let error = #expect(throws: StopSignals.Interruption.self) { _ = try result.get() }
        #expect(error?.message == "Stopped before it wrote \(path); nothing was done.")
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

    /// Returns when the task is canceled.
    private static func cancellation() async {
        let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
        await withTaskCancellationHandler {
            for await _ in stream {}
        } onCancel: {
            continuation.finish()
        }
    }
}
