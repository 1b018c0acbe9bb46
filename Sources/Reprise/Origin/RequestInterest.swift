import Locks

/// How much a request that is under way is wanted: by which class of demand, or not at all any more.
///
/// The engine changes it while readers come and go; a client that queues requests looks at it. Its lock is a leaf; observers
/// are called outside it.
package final class RequestInterest: Sendable {
    private struct State {
        var demand: Demand?
        var observers: [Int: @Sendable () -> Void] = [:]
        var lastObserver = 0
    }

    private let state: Mutex<State>

    /// An interest of that class.
    package init(_ demand: Demand?) { state = Mutex(State(demand: demand)) }

    /// The highest class of those who wait for the response; `nil` when nothing waits for it any more.
    package var demand: Demand? { state.withLock { $0.demand } }

    /// Takes another class, or none.
    package func change(to demand: Demand?) {
        let observers = state.withLock { state -> [@Sendable () -> Void] in
            guard state.demand != demand else { return [] }
            state.demand = demand
            return Array(state.observers.values)
        }
        for observer in observers { observer() }
    }

    /// Calls `observer` after each change from now on, from any thread, until ``forget(_:)`` with the number returned.
    package func observe(_ observer: @escaping @Sendable () -> Void) -> Int {
        state.withLock { state in
            state.lastObserver += 1
            state.observers[state.lastObserver] = observer
            return state.lastObserver
        }
    }

    /// Ends what ``observe(_:)`` began; a call may still be under way.
    package func forget(_ number: Int) { state.withLock { $0.observers[number] = nil } }
}
