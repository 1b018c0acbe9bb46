import Primitives

/// Who goes first at each origin.
///
/// What a lower class of demand wants gives way to readers of a higher one: it neither begins a request nor pulls a
/// body while they wait for bytes, and for a moment after, since a reader that is given a piece asks for the next one
/// soon. And where several requests are under way that nothing waits for any more, the next one waits a moment: a
/// player that scrubs leaves within it, and its request is never sent. Hits come past none of this. The lock is a leaf;
/// continuations are resumed outside it.
final class Precedence: Sendable {
    /// How long no reader of a higher class may have begun to wait.
    static let quietTime = Duration.milliseconds(100)
    /// Unwanted requests without a head at one origin from which on the next request waits.
    static let unwantedLimit = 4
    /// How long it waits.
    static let settlingTime = Duration.milliseconds(100)

    private struct Yielder {
        let authority: String
        let demand: Demand
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var table = PrecedenceTable()
        var yielders: [UInt64: Yielder] = [:]
        /// Requests without a head, by origin.
        var unanswered: [String: [UInt64: RequestInterest]] = [:]
        var lastNumber: UInt64 = 0
        /// Called when something begins or ceases to give way.
        var listener: (@Sendable () -> Void)?
        /// Called when a reader begins to wait and nothing watches how long.
        var watcher: (@Sendable () -> Void)?
        var isWatched = false

        mutating func makeNumber() -> UInt64 {
            lastNumber += 1
            return lastNumber
        }
    }

    private let state = Mutex(State())
    private let clock: CacheClock
    private let isOffline: Bool

    /// If `isOffline`, nothing is sent, and so nothing has to wait.
    init(clock: CacheClock, isOffline: Bool = false) { (self.clock, self.isOffline) = (clock, isOffline) }

    // MARK: - Readers

    /// A reader begins to wait for bytes of `authority`; ``readerGoesOn(_:at:)`` follows.
    func readerWaits(_ demand: Demand, at authority: String) {
        let watcher = state.withLock { state -> (@Sendable () -> Void)? in
            state.table.readerWaits(demand, at: authority)
            guard !state.isWatched else { return nil }
            state.isWatched = true
            return state.watcher
        }
        watcher?()
    }

    /// From now on `begin` is called when a reader begins to wait, until ``endWatch()`` the first one only.
    func whenReadersWait(_ begin: @escaping @Sendable () -> Void) { state.withLock { $0.watcher = begin } }

    /// Ends the watch if no reader waits; false if one does.
    func endWatch() -> Bool {
        state.withLock { state in
            state.isWatched = state.table.hasWaiting
            return !state.isWatched
        }
    }

    /// The reader has its bytes, or has left.
    func readerGoesOn(_ demand: Demand, at authority: String) {
        let freed = state.withLock { state in
            state.table.readerGoesOn(demand, at: authority)
            let freed = state.yielders.filter { _, yielder in
                yielder.authority == authority && !state.table.isOutranked(yielder.demand, at: authority)
            }
            for number in freed.keys { state.yielders[number] = nil }
            return freed.values.map(\.continuation)
        }
        for continuation in freed { continuation.resume() }
    }

    // MARK: - Requests and fetches

    /// Returns when a request of that interest may be sent.
    func waitForTurn(_ interest: RequestInterest, at authority: String) async {
        guard !isOffline else { return }
        await giveWay(interest, at: authority)
        await settle(interest, at: authority)
    }

    /// Returns when what is wanted with that interest may ask or pull; false if it did not have to wait.
    ///
    /// At once if it is wanted to be played, or not at all any more, and when the task is canceled. What a reader waits
    /// for must be wanted in its class, or it would give way to that reader.
    @discardableResult
    func giveWay(_ interest: RequestInterest, at authority: String) async -> Bool {
        guard let demand = interest.demand, demand < .playing,
            state.withLock({ $0.table.isOutranked(demand, at: authority) })
        else { return false }
        changeYielding { $0.beginYielding(at: authority) }
        defer { changeYielding { $0.endYielding(at: authority) } }
        var waits = state.withLock { $0.table.waitsBegun }
        while !Task.isCancelled, let demand = interest.demand, isOutranked(demand, at: authority, since: waits) {
            await yield(interest, for: demand, at: authority)
            guard interest.demand == demand else { continue }
            waits = state.withLock { $0.table.waitsBegun }
            await interest.sleep(Self.quietTime, while: demand, on: clock)
        }
        return true
    }

    private func isOutranked(_ demand: Demand, at authority: String, since waits: Int) -> Bool {
        state.withLock { state in
            state.table.isOutranked(demand, at: authority)
                || state.table.isOutranked(demand, at: authority, since: waits)
        }
    }

    /// Waits a moment where many requests are under way that nothing waits for any more.
    func settle(_ interest: RequestInterest, at authority: String) async {
        guard let demand = interest.demand else { return }
        if unwantedRequests(at: authority) >= Self.unwantedLimit {
            await interest.sleep(Self.settlingTime, while: demand, on: clock)
        }
    }

    /// Requests without a head that nothing waits for any more.
    func unwantedRequests(at authority: String) -> Int {
        state.withLock { $0.unanswered[authority]?.values.count { $0.demand == nil } ?? 0 }
    }

    /// From now on `tell` is called when something begins or ceases to give way.
    func whenYieldingChanges(_ tell: @escaping @Sendable () -> Void) { state.withLock { $0.listener = tell } }

    private func changeYielding(_ change: (inout PrecedenceTable) -> Void) {
        let listener = state.withLock { state in
            change(&state.table)
            return state.listener
        }
        listener?()
    }

    /// Whether something gives way there.
    func isYielding(at authority: String) -> Bool { state.withLock { $0.table.isYielding(at: authority) } }

    /// Requests and fetches that give way now.
    var yielding: Int { state.withLock { $0.yielders.count } }

    /// A request is sent; ``answered(_:at:)`` follows with the number.
    func sends(_ interest: RequestInterest, to authority: String) -> UInt64 {
        state.withLock { state in
            let number = state.makeNumber()
            state.unanswered[authority, default: [:]][number] = interest
            return number
        }
    }

    /// Its head is here, or there will be none.
    func answered(_ number: UInt64, at authority: String) {
        state.withLock { state in
            state.unanswered[authority]?[number] = nil
            if state.unanswered[authority]?.isEmpty == true { state.unanswered[authority] = nil }
        }
    }

    // MARK: - Waiting

    /// Waits until no reader of a higher class waits, or the interest changes, or the task is canceled.
    private func yield(_ interest: RequestInterest, for demand: Demand, at authority: String) async {
        let number = state.withLock { $0.makeNumber() }
        let observer = interest.observe { [weak self] in self?.resume(number) }
        defer { interest.forget(observer) }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mustWait = state.withLock { state in
                    guard !Task.isCancelled, interest.demand == demand,
                        state.table.isOutranked(demand, at: authority)
                    else { return false }
                    state.yielders[number] = Yielder(
                        authority: authority, demand: demand, continuation: continuation)
                    return true
                }
                if !mustWait { continuation.resume() }
            }
        } onCancel: {
            resume(number)
        }
    }

    private func resume(_ number: UInt64) {
        state.withLock { $0.yielders.removeValue(forKey: number) }?.continuation.resume()
    }
}

/// Which classes of demand wait for bytes, by origin.
///
/// A pure value; ``Precedence`` guards it. An origin is dropped when nothing waits and nothing gives way there.
struct PrecedenceTable: Sendable {
    private struct Site {
        /// Number of waiting readers, by class.
        var waiting: [Demand: Int] = [:]
        /// Number of the last wait that began, by class.
        var lastWait: [Demand: Int] = [:]
        /// Number of requests and fetches that give way.
        var yielding = 0

        var isUnused: Bool { waiting.isEmpty && yielding == 0 }
    }

    private var sites: [String: Site] = [:]
    /// Number of waits that have begun, at any origin.
    private(set) var waitsBegun = 0

    var isEmpty: Bool { sites.isEmpty }
    /// Whether a reader waits anywhere.
    var hasWaiting: Bool { sites.values.contains { !$0.waiting.isEmpty } }

    /// A reader begins to wait for bytes of `authority`.
    mutating func readerWaits(_ demand: Demand, at authority: String) {
        waitsBegun += 1
        var site = sites[authority] ?? Site()
        site.waiting[demand, default: 0] += 1
        site.lastWait[demand] = waitsBegun
        sites[authority] = site
    }

    /// A waiting reader got its bytes, or left.
    mutating func readerGoesOn(_ demand: Demand, at authority: String) {
        guard var site = sites[authority], let count = site.waiting[demand] else { return }
        site.waiting[demand] = count > 1 ? count - 1 : nil
        sites[authority] = site.isUnused ? nil : site
    }

    /// Whether a reader of a higher class than `demand` waits.
    func isOutranked(_ demand: Demand, at authority: String) -> Bool {
        sites[authority]?.waiting.keys.contains { $0 > demand } ?? false
    }

    /// Whether a reader of a higher class began to wait after the first `waits` waits.
    ///
    /// Call it between ``beginYielding(at:)`` and ``endYielding(at:)`` only.
    func isOutranked(_ demand: Demand, at authority: String, since waits: Int) -> Bool {
        sites[authority]?.lastWait.contains { $0.key > demand && $0.value > waits } ?? false
    }

    /// Whether a request or a fetch gives way there.
    func isYielding(at authority: String) -> Bool { sites[authority]?.yielding ?? 0 > 0 }

    mutating func beginYielding(at authority: String) { sites[authority, default: Site()].yielding += 1 }

    mutating func endYielding(at authority: String) {
        guard var site = sites[authority] else { return }
        site.yielding -= 1
        sites[authority] = site.isUnused ? nil : site
    }
}
