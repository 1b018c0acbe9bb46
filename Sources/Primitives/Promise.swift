/// A value that is not there yet, and that any number of tasks wait for.
///
/// The first value stays. The lock is a leaf: continuations are resumed and functions are called outside it.
package final class Promise<Value: Sendable>: Sendable {
    private typealias Waiters = [UInt64: CheckedContinuation<Value?, Never>]

    private struct State {
        var value: Value?
        /// Whether a value was given; it is there when all functions have been called.
        var isGiven = false
        /// Functions to call with the value, in this order.
        var functions: [@Sendable (Value) -> Void] = []
        var lastWaiter: UInt64 = 0
        var waiters: Waiters = [:]
    }

    private let state = Mutex(State())

    /// Creates a promise without a value.
    package init() {}

    /// Creates a promise that has its value.
    package convenience init(_ value: Value) {
        self.init()
        fulfill(value)
    }

    /// Whether the value is there.
    package var isFulfilled: Bool { state.withLock { $0.value != nil } }

    /// Whether tasks or functions wait for the value.
    package var isAwaited: Bool { state.withLock { !$0.waiters.isEmpty || !$0.functions.isEmpty } }

    /// The value if it is there.
    package var current: Value? { state.withLock { $0.value } }

    /// Sets the value; false if it was set before.
    @discardableResult
    package func fulfill(_ value: Value) -> Bool {
        var isFirst = true
        while let (functions, waiters) = next(value, isFirst: isFirst) {
            isFirst = false
            for function in functions { function(value) }
            guard functions.isEmpty else { continue }
            for waiter in waiters.values { waiter.resume(returning: value) }
            return true
        }
        return false
    }

    /// The functions to call; without any, the value is there, and its waiters are returned.
    ///
    /// Returns `nil` if another value was given first.
    private func next(_ value: Value, isFirst: Bool) -> ([@Sendable (Value) -> Void], Waiters)? {
        state.withLock { state in
            guard !isFirst || !state.isGiven else { return nil }
            state.isGiven = true
            defer { state.functions = [] }
            guard state.functions.isEmpty else { return (state.functions, [:]) }
            state.value = value
            defer { state.waiters = [:] }
            return ([], state.waiters)
        }
    }

    /// Calls `function` with the value once: immediately if it is there, otherwise on the thread that brings it.
    ///
    /// Functions are called in the order of these calls, before anyone else gets the value.
    package func whenFulfilled(_ function: @escaping @Sendable (Value) -> Void) {
        let value = state.withLock { state in
            if state.value == nil { state.functions.append(function) }
            return state.value
        }
        if let value { function(value) }
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
