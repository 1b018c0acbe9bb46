import Foundation
import Primitives

/// Runs work that may block on a disk, so that the cooperative pool never blocks.
package final class DiskQueue: Sendable {
    /// The queue of this process.
    package static let shared = DiskQueue(
        DispatchQueue(label: "reprise.disk", qos: .userInitiated, attributes: .concurrent))
    /// Runs reads of the whole index, of all files or of many playlists, one at a time, so that they take no threads
    /// from playback and fetches.
    package static let scans = DiskQueue(DispatchQueue(label: "reprise.scans", qos: .utility))

    /// Reads and edits playlists, and reads the streams and files of a page of titles, on at most as many threads as
    /// there are cores, so that however many hostile playlists there are, the other threads of the process get their
    /// share of the time.
    package static let playlists = DiskQueue(
        DispatchQueue(label: "reprise.playlists", qos: .userInitiated, attributes: .concurrent),
        width: ProcessInfo.processInfo.activeProcessorCount)
    /// Like ``playlists``, but for slow playlists, so that they don't delay the others.
    package static let largePlaylists = DiskQueue(
        DispatchQueue(label: "reprise.largePlaylists", qos: .userInitiated, attributes: .concurrent),
        width: max(1, ProcessInfo.processInfo.activeProcessorCount / 2))

    /// The number of jobs submitted and finished.
    package struct Load: Sendable, Equatable {
        /// Jobs submitted, and work started elsewhere that the caller waits for.
        package var submitted: UInt64 = 0
        /// Jobs that have ended, and work elsewhere that has ended.
        package var finished: UInt64 = 0
        /// Whether nothing runs or waits to run.
        package var isIdle: Bool { submitted == finished }
    }

    private struct Line {
        var running = 0
        var jobs: [@Sendable () -> Void] = []
        /// Jobs at the beginning of `jobs` that have been taken.
        var taken = 0

        /// The job that has waited longest; without one, its thread is free.
        mutating func next() -> (@Sendable () -> Void)? {
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

    /// Whether the current thread is one of this queue.
    private let isCurrent = DispatchSpecificKey<Bool>()

    private init(_ queue: DispatchQueue, width: Int = .max) {
        (self.queue, self.width) = (queue, width)
        queue.setSpecific(key: isCurrent, value: true)
    }

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

    /// Whether tests run as on a system without task executors.
    @TaskLocal package static var hasNoTaskExecutors = false

    /// Starts a task that often calls ``run(_:)``.
    ///
    /// On systems with task executors it runs on threads of this queue. That saves a fill half of its thread switches
    /// and about 15 % of its processor time.
    package func task(_ operation: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        if #available(macOS 15, iOS 18, tvOS 18, visionOS 2, *), !Self.hasNoTaskExecutors {
            return Task(executorPreference: self, operation: operation)
        }
        return Task(priority: .userInitiated, operation: operation)
    }

    /// Runs `work` on a thread that may block, also in a canceled task.
    package func run<T: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () throws(Failure) -> T
    ) async throws(Failure) -> T {
        if DispatchQueue.getSpecific(key: isCurrent) == true { return try work() }
        let result = await withUnsafeContinuation { (continuation: UnsafeContinuation<Result<T, Failure>, Never>) in
            enqueue { continuation.resume(returning: Result(catching: work)) }
        }
        return try result.get()
    }

    /// Runs `work` as ``run(_:)`` does, unless the task is canceled before its turn comes; later, ``Cancellation``
    /// tells `work`.
    package func runCancelable<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
        let flag = Cancellation.Flag()
        return try await withTaskCancellationHandler {
            try await run {
                try Cancellation.observing(flag) {
                    try Cancellation.check()
                    return try work()
                }
            }
        } onCancel: {
            flag.set()
        }
    }

    private func enqueue(_ job: @escaping @Sendable () -> Void) {
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

    private func start(_ job: @escaping @Sendable () -> Void) {
        queue.async { [self] in
            job()
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

@available(macOS 15, iOS 18, tvOS 18, visionOS 2, *)
extension DiskQueue: TaskExecutor {
    /// Runs `job`, a part of a task, on a thread that may block.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        enqueue { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
