import Primitives

/// What bytes are wanted for: a class of demand, from lowest to highest.
///
/// At one origin a higher class goes first. It gets the next free connection, and while one of its readers waits for
/// bytes, fetches of lower classes neither send requests nor read. Within a class the file that has waited longest
/// goes first, and of one file the newest request.
public enum Demand: Int, Sendable, Hashable, Comparable, CaseIterable {
    /// To be kept, with no deadline; at most as fast as ``Downloads/rate`` says.
    case download
    /// To be available when played later.
    case preload
    /// To be available where the player is about to seek.
    case seekingAhead
    /// To be played now.
    case playing

    /// Whether the first class gives way to the second.
    public static func < (first: Demand, second: Demand) -> Bool { first.rawValue < second.rawValue }
}

/// How much a request under way is wanted: by which class of demand, or no longer at all.
///
/// The engine changes it as readers come and go; a client that queues requests observes it. Its lock is a leaf;
/// observers are called outside it.
package final class RequestInterest: Sendable {
    /// Tells the observers of a new class, to be done outside the caller's locks.
    ///
    /// May be late, because observers look at the class themselves.
    struct Notice: Sendable {
        fileprivate let observers: [@Sendable () -> Void]

        func tell() { for observer in observers { observer() } }
    }

    private struct State {
        var demand: Demand?
        /// Whether a fetch has taken it over.
        var isTaken = false
        var observers: [Int: @Sendable () -> Void] = [:]
        var lastObserver = 0
    }

    private let state: Mutex<State>

    /// Creates an interest of the given class.
    package init(_ demand: Demand?) { state = Mutex(State(demand: demand)) }

    /// The highest class among those waiting for the response; `nil` if nothing waits for it any more.
    package var demand: Demand? { state.withLock { $0.demand } }

    /// Changes the class of demand, or sets none; has no effect once a fetch has taken it over.
    package func change(to demand: Demand?) { propose(demand)?.tell() }

    /// As ``change(to:)``, under the lock that guards who wants the response; `nil` if nothing observes it.
    func propose(_ demand: Demand?) -> Notice? { set(demand, asOwner: false) }

    /// As ``propose(_:)`` on behalf of the fetch that has the response, which alone changes the class from then on.
    func take(as demand: Demand?) -> Notice? { set(demand, asOwner: true) }

    private func set(_ demand: Demand?, asOwner: Bool) -> Notice? {
        state.withLock { state in
            guard asOwner || !state.isTaken else { return nil }
            state.isTaken = asOwner
            guard state.demand != demand else { return nil }
            state.demand = demand
            return state.observers.isEmpty ? nil : Notice(observers: Array(state.observers.values))
        }
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
        await sleep(time, on: clock) { $0 == demand }
    }

    /// Waits for `time`, less if nothing waits for the response any more or the task is canceled.
    func sleepWhileWanted(_ time: Duration, on clock: CacheClock) async { await sleep(time, on: clock) { $0 != nil } }

    private func sleep(
        _ time: Duration, on clock: CacheClock, while goesOn: @escaping @Sendable (Demand?) -> Bool
    ) async {
        let timer = Task(priority: .userInitiated) { try? await clock.sleep(time) }
        let check = { @Sendable [weak self] in if !goesOn(self?.demand) { timer.cancel() } }
        let observer = observe(check)
        defer { forget(observer) }
        check()
        await withTaskCancellationHandler {
            await timer.value
        } onCancel: {
            timer.cancel()
        }
    }
}
