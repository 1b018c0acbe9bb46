/// Runs operations one after the other, in the order in which they were added.
///
/// An actor does not: other calls run while one of them is suspended.
package final class SerialQueue: Sendable {
    /// The end of the operation that was added last.
    private let last = Mutex<Task<Void, Never>?>(nil)

    package init() {}

    /// Runs `operation` once every earlier one has ended.
    ///
    /// The order is that of the calls, which return at once. Canceling the task of a caller cancels no operation.
    package func add<T: Sendable>(_ operation: @escaping @Sendable () async -> T) -> Task<T, Never> {
        last.withLock { last in
            let task = Task(priority: .userInitiated) { [previous = last] in
                await previous?.value
                return await operation()
            }
            last = Task(priority: .userInitiated) { _ = await task.value }
            return task
        }
    }
}
