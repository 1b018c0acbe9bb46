import Locks
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// ``MediaCache/verify(_:)`` in a task that is cancelled.
@Suite(.limit(minutes: 1)) struct VerificationTests {
    @Test("it ends with CancellationError wherever it is, and a whole one finds all sound", arguments: [1, 3, 5, 6])
    func cancelled(after pieces: Int) async throws {
        let bytes = TestPattern.bytes(in: 0..<150_000, seed: 1)
        let origin = ScriptedOrigin { request, _ in .media(request, bytes) }
        try await origin.run { cache async throws in
            for name in ["a", "b"] {
                let read = try await cache.resource(for: "http://media.example/\(name).mp4").read()
                while try await read.next() != nil {}
            }
            let task = Task {
                let count = Mutex(0)
                return try await cache.verify { _, _ in
                    let number = count.withLock { count in
                        count += 1
                        return count
                    }
                    if number == pieces { withUnsafeCurrentTask { $0?.cancel() } }
                }
            }
            await #expect(throws: CancellationError.self) { try await task.value }
            let report = try await cache.verify()
            #expect(report.isSound && report.soundBytes == 300_000)
        }
    }
}
