/// A state behind a lock, and an outbox of the effects that its changes decide.
///
/// A change appends effects under the lock. They are performed one at a time, outside the lock, in the order in which
/// they were decided. If no other caller is performing effects, the caller performs all that are due, including those
/// of later changes. Otherwise it leaves them in the outbox and returns. No caller waits for an effect, and an effect
/// may change the state itself. Three things follow for the owner:
///
/// - An effect may be performed by another thread, after ``update(performing:_:)`` has returned.
/// - The state may have changed by then. Anything that must change together with a decision belongs in the state. An
///   effect takes what it needs from the state when it is decided, and does not look at the state again.
/// - Effects hold up those behind them. They resume, cancel, signal or begin something, and never block.
///
/// A change without effects costs no more than a ``Mutex``.
package final class StateMachine<State: Sendable, Effect: Sendable>: Sendable {
    private struct Guarded: Sendable {
        var state: State
        var outbox: [Effect] = []
        /// Whether a caller performs effects, and will look into the outbox again.
        var isPerforming = false
    }

    private let guarded: Mutex<Guarded>

    /// Creates a machine with an empty outbox.
    package init(_ state: State) { guarded = Mutex(Guarded(state: state)) }

    /// Calls `body` with exclusive access to the state, for reads and for changes without effects.
    ///
    /// Not reentrant.
    package func withLock<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try guarded.withLock { guarded throws(Failure) in try body(&guarded.state) }
    }

    /// Changes the state, and has `perform` called for the effects that `body` appends, after those decided before.
    ///
    /// `perform` may also be called for effects of other callers: they all have to pass the same one. If `body` throws,
    /// the effects that it has appended are performed.
    package func update<Result: Sendable, Failure: Error>(
        performing perform: (Effect) -> Void,
        _ body: (inout State, inout [Effect]) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var mustPerform = false
        defer { if mustPerform { performAll(perform) } }
        return try guarded.withLock { guarded throws(Failure) in
            defer {
                mustPerform = !guarded.outbox.isEmpty && !guarded.isPerforming
                if mustPerform { guarded.isPerforming = true }
            }
            return try body(&guarded.state, &guarded.outbox)
        }
    }

    private func performAll(_ perform: (Effect) -> Void) {
        while true {
            let due = guarded.withLock { guarded -> [Effect] in
                guarded.isPerforming = !guarded.outbox.isEmpty
                defer { guarded.outbox = [] }
                return guarded.outbox
            }
            guard !due.isEmpty else { return }
            for effect in due { perform(effect) }
        }
    }
}
