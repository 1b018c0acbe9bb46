/// Work that is done once: the first caller begins it, and later ones wait for its end.
package final class Once: Sendable {
    private let task = Mutex<Task<Void, Never>?>(nil)

    /// Creates work that has not begun.
    package init() {}

    /// Begins `work`, unless it has begun, and returns when it is done.
    package func perform(_ work: @escaping @Sendable () async -> Void) async {
        let task = task.withLock { task in
            let begun = task ?? Task { await work() }
            task = begun
            return begun
        }
        await task.value
    }
}
