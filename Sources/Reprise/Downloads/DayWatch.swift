import Primitives

/// Looks at the time of day again and again, as long as it matters.
final class DayWatch: Sendable {
    private let clock: CacheClock
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(clock: CacheClock) { self.clock = clock }

    /// Calls `look` after each pause that it returned, the first one after `pause`, until it returns `nil`.
    ///
    /// What was looked at before is not any more.
    func start(after pause: Duration?, look: @escaping @Sendable () async -> Duration?) {
        let next = Task(priority: .userInitiated) { [clock] in
            var pause = pause
            while let time = pause {
                do { try await clock.sleep(time) } catch { return }
                pause = await look()
            }
        }
        replace(by: next)
    }

    /// Looks no more.
    func cancel() { replace(by: nil) }

    private func replace(by next: Task<Void, Never>?) {
        let former = task.withLock { task in
            defer { task = next }
            return task
        }
        former?.cancel()
    }
}
