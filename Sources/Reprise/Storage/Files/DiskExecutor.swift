import Foundation
import Primitives

/// Runs tasks that may block on a disk, so that the cooperative pool never blocks.
package final class DiskExecutor: TaskExecutor {
    /// The executor of this process.
    package static let shared = DiskExecutor(
        DispatchQueue(label: "reprise.disk", qos: .userInitiated, attributes: .concurrent))
    /// Runs searches, one at a time, so that they take no threads from reads and fetches.
    package static let searches = DiskExecutor(DispatchQueue(label: "reprise.search", qos: .utility))

    /// Reads and edits playlists on at most as many threads as there are cores, so that however many hostile ones there
    /// are, the other threads of the process get their share of the time.
    package static let playlists = DiskExecutor(
        DispatchQueue(label: "reprise.playlists", qos: .userInitiated, attributes: .concurrent),
        width: ProcessInfo.processInfo.activeProcessorCount)
    /// Like ``playlists``, but for slow playlists, so that they don't delay the others.
    package static let largePlaylists = DiskExecutor(
        DispatchQueue(label: "reprise.largePlaylists", qos: .userInitiated, attributes: .concurrent),
        width: max(1, ProcessInfo.processInfo.activeProcessorCount / 2))

    /// The number of jobs submitted and finished.
    package struct Load: Sendable, Equatable {
        /// Jobs submitted, and work started elsewhere that jobs wait for.
        package var submitted: UInt64 = 0
        /// Jobs that ran to their next suspension or their end, and work elsewhere that has ended.
        package var finished: UInt64 = 0
        /// Whether nothing runs or waits to run.
        package var isIdle: Bool { submitted == finished }
    }

    private struct Line {
        var running = 0
        var jobs: [UnownedJob] = []
        /// Jobs at the beginning of `jobs` that have been taken.
        var taken = 0

        /// The job that has waited longest; without one, its thread is free.
        mutating func next() -> UnownedJob? {
            guard taken < jobs.count else {
                (running, jobs, taken) = (running - 1, [], 0)
                return nil
            }
            defer { taken += 1 }
            return jobs[taken]
        }
    }

    private let queue: DispatchQueue
    /// Most jobs that run at a time.
    private let width: Int
    /// Jobs, if `width` is a limit; a leaf.
    private let line = Mutex(Line())
    private let counts = Mutex(Load())
    private let running = IdleWait()

    private init(_ queue: DispatchQueue, width: Int = .max) { (self.queue, self.width) = (queue, width) }

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
        guard width < .max else { return start(job) }
        let isFree = line.withLock { line in
            guard line.running >= width else {
                line.running += 1
                return true
            }
            line.jobs.append(job)
            return false
        }
        if isFree { start(job) }
    }

    private func start(_ job: UnownedJob) {
        queue.async { [self] in
            job.runSynchronously(on: asUnownedTaskExecutor())
            end()
            guard width < .max else { return }
            if let next = line.withLock({ $0.next() }) { start(next) }
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
