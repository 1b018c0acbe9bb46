/// Tells synchronous work that its task was canceled, also on a thread outside the cooperative pool.
package enum Cancellation {
    /// Carries the cancellation of a task to another thread.
    package final class Flag: Sendable {
        fileprivate let isSet = Mutex(false)

        package init() {}

        package func set() { isSet.withLock { $0 = true } }
    }

    @TaskLocal private static var flag: Flag?

    package static var isRequested: Bool { flag.map { $0.isSet.withLock { $0 } } ?? Task.isCancelled }

    /// Throws `CancellationError` if the task was canceled.
    package static func check() throws { if isRequested { throw CancellationError() } }

    /// Runs `work`; ``isRequested`` is true in it once `flag` is set.
    package static func observing<T>(_ flag: Flag, _ work: () throws -> T) rethrows -> T {
        try $flag.withValue(flag, operation: work)
    }
}
