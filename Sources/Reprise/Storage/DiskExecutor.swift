import Dispatch

/// Runs tasks that may block on a disk, so that the cooperative pool never does.
final class DiskExecutor: TaskExecutor {
    static let shared = DiskExecutor()

    private let queue = DispatchQueue(label: "reprise.disk", qos: .userInitiated, attributes: .concurrent)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
