import Dispatch
import Primitives

/// Runs tasks that may block on a disk, so that the cooperative pool never blocks.
package final class DiskExecutor: TaskExecutor {
    /// The executor of this process.
    package static let shared = DiskExecutor(
        DispatchQueue(label: "reprise.disk", qos: .userInitiated, attributes: .concurrent))
    /// Runs searches, one at a time, so that they take no threads from reads and fetches.
    package static let searches = DiskExecutor(DispatchQueue(label: "reprise.search", qos: .utility))

    /// The number of jobs submitted and finished.
    package struct Load: Sendable, Equatable {
        /// Jobs submitted, and work started elsewhere that jobs wait for.
        package var submitted: UInt64 = 0
        /// Jobs that ran to their next suspension or their end, and work elsewhere that has ended.
        package var finished: UInt64 = 0
        /// Whether nothing runs or waits to run.
        package var isIdle: Bool { submitted == finished }
    }

    private let queue: DispatchQueue
    private let counts = Mutex(Load())
    private let running = IdleWait()

    private init(_ queue: DispatchQueue) { self.queue = queue }

    /// Lets tests that drive the clock wait until everything that can happen at one moment has happened.
    package var load: Load { counts.withLock { $0 } }

    /// Waits for a moment at which nothing runs or waits to run; for such tests, too.
    package func idle() async { await running.idle() }

    /// Runs `work`, which executes on another queue, and counts it in the load.
    package func counting<T: Sendable, Failure: Error>(
        _ work: () async throws(Failure) -> T
    ) async throws(Failure) -> T {
        begin()
        defer { end() }
        return try await work()
    }

    /// Runs `job` on a thread that may block.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        begin()
        queue.async {
            job.runSynchronously(on: self.asUnownedTaskExecutor())
            self.end()
        }
    }

    private func begin() {
        counts.withLock { $0.submitted += 1 }
        running.begin()
    }

    private func end() {
        counts.withLock { $0.finished += 1 }
        running.end()
    }
}
