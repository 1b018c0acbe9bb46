#if REPRISE_AVFOUNDATION_STAND_IN
    import Dispatch
    import Foundation
    import Primitives

    private typealias Enqueue = @convention(thin) (UnownedJob) -> Void
    private typealias EnqueueHook = @convention(thin) (UnownedJob, Enqueue) -> Void

    /// Runs and counts the jobs of the cooperative pool in this process from the first look at ``shared`` on.
    ///
    /// The tests that use it run on ``TestThreads``, so that their own jobs are not counted.
    final class PoolJobs: Sendable {
        static let shared = PoolJobs()

        private let queue = DispatchQueue(label: "pool", attributes: .concurrent)
        private let submitted = Mutex<UInt64>(0)
        private let running = IdleWait()

        private init() {
            // The runtime's own way to replace the pool.
            guard let symbol = dlsym(dlopen(nil, RTLD_LAZY), "swift_task_enqueueGlobal_hook") else {
                preconditionFailure("The runtime has no hook for the jobs of the pool.")
            }
            symbol.assumingMemoryBound(to: EnqueueHook?.self).pointee = { job, _ in PoolJobs.shared.run(job) }
        }

        /// Number of jobs so far.
        var count: UInt64 { submitted.withLock { $0 } }

        var isIdle: Bool { running.isIdle }

        /// Returns at a moment at which no job runs or waits to run.
        func idle() async { await running.idle() }

        private func run(_ job: UnownedJob) {
            submitted.withLock { $0 += 1 }
            running.begin()
            queue.async {
                // The executor of code that is on none, as the pool itself gives it.
                job.runSynchronously(on: unsafeBitCast((0, 0), to: UnownedSerialExecutor.self))
                self.running.end()
            }
        }
    }

    /// Threads outside the cooperative pool for the tests themselves.
    final class TestThreads: TaskExecutor {
        static let shared = TestThreads()
        private let queue = DispatchQueue(label: "tests", attributes: .concurrent)

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }
#endif
