import Primitives

/// Makes a value once for all who want it at the same time.
///
/// The lock is a leaf; tasks and continuations go on outside it.
final class SharedWork<Key: Hashable & Sendable, Value: AnyObject & Sendable>: Sendable {
    private struct Run: Sendable {
        let number: UInt64
        let result: Promise<Result<Value?, any Error>>
        var task: Task<Void, Never>?
        var waiting = 1
    }

    private struct State {
        var last: UInt64 = 0
        var runs: [Key: Run] = [:]
    }

    private let state = Mutex(State())

    /// Number of callers that wait.
    var waiting: Int { state.withLock { $0.runs.values.reduce(0) { $0 + $1.waiting } } }

    /// The value of the run for `key`, which `make` begins if there is none; then `join` is not called.
    ///
    /// Throws what `make` throws, or `CancellationError` if the caller's task is canceled. `make` is canceled when all
    /// callers are.
    func value(
        for key: Key, join: () -> Void = {}, _ make: @escaping @Sendable () async throws -> Value?
    ) async throws -> Value? {
        let (run, isFirst) = state.withLock { state -> (Run, Bool) in
            if let run = state.runs[key] {
                state.runs[key]?.waiting += 1
                return (run, false)
            }
            state.last += 1
            let run = Run(number: state.last, result: Promise())
            state.runs[key] = run
            return (run, true)
        }
        if isFirst { start(run, for: key, make) } else { join() }
        defer { leave(run.number, key) }
        return try await run.result.wait().get()
    }

    private func start(_ run: Run, for key: Key, _ make: @escaping @Sendable () async throws -> Value?) {
        let task = Task {
            let result: Result<Value?, any Error>
            do { result = .success(try await make()) } catch { result = .failure(error) }
            // Remove it first, so that later callers begin another run.
            self.remove(run.number, key)
            run.result.fulfill(result)
        }
        let isWanted = state.withLock { state in
            guard state.runs[key]?.number == run.number else { return run.result.isFulfilled }
            state.runs[key]?.task = task
            return true
        }
        if !isWanted { task.cancel() }
    }

    private func remove(_ number: UInt64, _ key: Key) {
        state.withLock { state in if state.runs[key]?.number == number { state.runs[key] = nil } }
    }

    private func leave(_ number: UInt64, _ key: Key) {
        let task = state.withLock { state -> Task<Void, Never>? in
            guard var run = state.runs[key], run.number == number else { return nil }
            run.waiting -= 1
            state.runs[key] = run.waiting > 0 ? run : nil
            return run.waiting > 0 ? nil : run.task
        }
        task?.cancel()
    }
}

/// Objects by a key, for as long as anything else retains them.
///
/// The lock is a leaf.
final class WeakTable<Key: Hashable & Sendable, Value: AnyObject & Sendable>: Sendable {
    private struct Entry {
        weak var value: Value?
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        /// Number of entries at which those of released objects are removed.
        var full = 64
    }

    private let state = Mutex(State())

    /// Number of entries, those of released objects included.
    var count: Int { state.withLock { $0.entries.count } }

    subscript(key: Key) -> Value? { state.withLock { $0.entries[key]?.value } }

    /// Returns the object for `key` if `isSame` accepts it, and otherwise replaces it with the result of `make`.
    ///
    /// Both closures run under the lock, so that concurrent callers get the same object.
    func value(for key: Key, where isSame: (Value) -> Bool, make: () throws -> Value) rethrows -> Value {
        try state.withLock { state in
            if let value = state.entries[key]?.value, isSame(value) { return value }
            let value = try make()
            state.entries[key] = Entry(value: value)
            if state.entries.count >= state.full {
                state.entries = state.entries.filter { $0.value.value != nil }
                state.full = max(64, 2 * state.entries.count)
            }
            return value
        }
    }
}
