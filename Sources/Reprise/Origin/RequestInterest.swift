import Primitives

/// How much a request under way is wanted: by which class of demand, or no longer at all.
///
/// The engine changes it as readers come and go; a client that queues requests observes it. Its lock is a leaf;
/// observers are called outside it.
package final class RequestInterest: Sendable {
    private struct State {
        var demand: Demand?
        var observers: [Int: @Sendable () -> Void] = [:]
        var lastObserver = 0
    }

    private let state: Mutex<State>

    /// Creates an interest of the given class.
    package init(_ demand: Demand?) { state = Mutex(State(demand: demand)) }

    /// The highest class among those waiting for the response; `nil` if nothing waits for it any more.
    package var demand: Demand? { state.withLock { $0.demand } }

    /// Changes the class of demand, or sets none.
    package func change(to demand: Demand?) {
        let observers = state.withLock { state -> [@Sendable () -> Void] in
            guard state.demand != demand else { return [] }
            state.demand = demand
            return Array(state.observers.values)
        }
        for observer in observers { observer() }
    }

    /// Calls `observer` after each change from now on, from any thread, until ``forget(_:)`` is called with the
    /// returned number.
    package func observe(_ observer: @escaping @Sendable () -> Void) -> Int {
        state.withLock { state in
            state.lastObserver += 1
            state.observers[state.lastObserver] = observer
            return state.lastObserver
        }
    }

    /// Ends an observation; a call of the observer may still be under way.
    package func forget(_ number: Int) { state.withLock { $0.observers[number] = nil } }

    /// Waits for `time`, less if the interest is or becomes another than `demand` or the task is canceled.
    func sleep(_ time: Duration, while demand: Demand, on clock: CacheClock) async {
        let timer = Task(executorPreference: DiskExecutor.shared) { try? await clock.sleep(time) }
        let observer = observe { timer.cancel() }
        defer { forget(observer) }
        if self.demand != demand { timer.cancel() }
        await withTaskCancellationHandler {
            await timer.value
        } onCancel: {
            timer.cancel()
        }
    }
}
