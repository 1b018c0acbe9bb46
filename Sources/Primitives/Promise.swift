/// A value that is not there yet, and that any number of tasks wait for.
///
/// The first value stays. The lock is a leaf; continuations are resumed outside it.
package final class Promise<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var lastWaiter: UInt64 = 0
        var waiters: [UInt64: CheckedContinuation<Value?, Never>] = [:]
    }

    private let state = Mutex(State())

    /// Creates a promise without a value.
    package init() {}

    /// Whether the value is there.
    package var isFulfilled: Bool { state.withLock { $0.value != nil } }

    /// Sets the value; false if it was set before.
    @discardableResult
    package func fulfill(_ value: Value) -> Bool {
        let waiters = state.withLock { state -> [UInt64: CheckedContinuation<Value?, Never>]? in
            guard state.value == nil else { return nil }
            state.value = value
            defer { state.waiters = [:] }
            return state.waiters
        }
        guard let waiters else { return false }
        for waiter in waiters.values { waiter.resume(returning: value) }
        return true
    }

    /// The value, once it is there; a task that is canceled waits on.
    package var value: Value {
        get async {
            while true {
                if let value = await wait(as: makeWaiter(), isCancelable: false) { return value }
            }
        }
    }

    /// The value, once it is there.
    ///
    /// Throws `CancellationError` if the task is canceled before the call or during the wait.
    package func wait() async throws -> Value {
        let waiter = makeWaiter()
        let value = await withTaskCancellationHandler {
            await wait(as: waiter, isCancelable: true)
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: waiter) }?.resume(returning: nil)
        }
        guard let value else { throw CancellationError() }
        return value
    }

    private func makeWaiter() -> UInt64 {
        state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
    }

    /// The value; `nil` if the task is canceled.
    private func wait(as waiter: UInt64, isCancelable: Bool) async -> Value? {
        await withCheckedContinuation { continuation in
            let (value, isOver) = state.withLock { state -> (Value?, Bool) in
                // A later cancellation finds the waiter in the table; an earlier one is detected here.
                if isCancelable, Task.isCancelled { return (nil, true) }
                if let value = state.value { return (value, true) }
                state.waiters[waiter] = continuation
                return (nil, false)
            }
            if isOver { continuation.resume(returning: value) }
        }
    }
}

extension Promise<Void> {
    /// Reports that the event has happened.
    package func fulfill() { fulfill(()) }
}
