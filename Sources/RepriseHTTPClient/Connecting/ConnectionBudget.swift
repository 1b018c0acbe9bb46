import NIOCore
import Primitives
import Reprise

/// How many connections to origins there may be, over all hosts and all clients that share the budget.
///
/// An attempt to connect takes two descriptors, because a name lookup or the second address family may need one besides
/// its own; an open connection holds one. When an attempt has to wait, idle connections are closed for it, those that
/// were used longest ago first. The lock is a leaf; continuations are resumed and connections closed outside it.
package final class ConnectionBudget: Sendable {
    /// Closes a connection if it is still idle; whether it was.
    typealias Drop = @Sendable () -> Bool

    /// Number of open connections to origins, and of those among them that carry no request.
    package struct Counts: Sendable, Equatable {
        package var open = 0, idle = 0

        package init(open: Int = 0, idle: Int = 0) { (self.open, self.idle) = (open, idle) }
    }

    private struct Idle {
        let connection: ObjectIdentifier
        let stamp: Int
        let drop: Drop
    }

    private struct Waiter {
        let number: Int
        let continuation: CheckedContinuation<Void, any Error>
        var timer: Scheduled<Void>?
    }

    private struct State {
        /// Descriptors of attempts and open connections.
        var taken = 0 { didSet { mostTaken = max(mostTaken, taken) } }
        var mostTaken = 0
        var open = 0
        /// Number of connections that are closing to make room; never more than the actual number.
        var closing = 0
        var lastNumber = 0
        /// In order of arrival.
        var waiters: [Waiter] = []
        /// The valid entry of each idle connection in ``queue``.
        var stamps: [ObjectIdentifier: Int] = [:]
        /// The connection that was used longest ago first; entries without their stamp are void.
        var queue: [Idle] = []
        var head = 0

        mutating func number() -> Int {
            lastNumber += 1
            return lastNumber
        }

        /// Whether waiting attempts need more room than the closing connections will free.
        func needsRoom(_ limit: Int) -> Bool {
            taken - closing + waiters.count * ConnectionBudget.attempt > limit
        }

        /// Removes the least recently used connection; ``ConnectionBudget/close(_:)`` must follow.
        mutating func removeOldest() -> Drop? {
            while head < queue.count {
                let idle = queue[head]
                head += 1
                guard stamps[idle.connection] == idle.stamp else { continue }
                stamps[idle.connection] = nil
                closing += 1
                return idle.drop
            }
            return nil
        }

        mutating func compact() {
            guard queue.count > 2 * stamps.count + 64 else { return }
            queue = queue[head...].filter { stamps[$0.connection] == $0.stamp }
            head = 0
        }

        mutating func admit(_ limit: Int) -> [Waiter] {
            var admitted: [Waiter] = []
            while !waiters.isEmpty, taken + ConnectionBudget.attempt <= limit {
                taken += ConnectionBudget.attempt
                admitted.append(waiters.removeFirst())
            }
            return admitted
        }
    }

    /// Descriptors that an attempt to connect takes.
    static let attempt = 2

    /// Most descriptors.
    package let limit: Int
    /// Most idle connections.
    package let idleLimit: Int
    private let state = Mutex(State())
    private let holder = Mutex<UInt64?>(nil)

    /// Creates a budget of that many descriptors, of which idle connections may hold so many.
    package init(limit: Int, idleLimit: Int) {
        self.limit = max(Self.attempt, limit)
        self.idleLimit = max(0, min(idleLimit, limit))
        let number = Descriptors.process.add { [weak self] in self?.closeIdle() }
        holder.withLock { $0 = number }
    }

    deinit { if let number = holder.withLock({ $0 }) { Descriptors.process.remove(number) } }

    /// A budget for a process that may have `descriptors`: half of them, a fifth for idle connections, at least 64.
    package convenience init(descriptors: Int) {
        let limit = max(16, descriptors / 2)
        self.init(limit: limit, idleLimit: Self.idleShare(of: descriptors, within: limit))
    }

    /// How many idle connections a process that may have `descriptors` keeps, of at most `limit` connections.
    package static func idleShare(of descriptors: Int, within limit: Int) -> Int {
        min(limit, max(64, descriptors / 5))
    }

    /// What is open now.
    package var counts: Counts { state.withLock { Counts(open: $0.open, idle: $0.stamps.count) } }

    /// Number of entries for idle connections, void ones included.
    var idleEntries: Int { state.withLock { $0.queue.count } }
    /// Most descriptors that were taken at once.
    var mostTaken: Int { state.withLock { $0.mostTaken } }
    /// Number of attempts that wait.
    var waiting: Int { state.withLock { $0.waiters.count } }

    // MARK: - Attempts

    /// Waits until there is room for an attempt to connect, which ``opened()`` or ``failed()`` must follow.
    ///
    /// Throws `CancellationError`, or `error` after `time` by `loop`.
    func take(
        within time: TimeAmount, on loop: any EventLoop, otherwise error: @escaping @Sendable () -> RepriseError
    ) async throws {
        let number = state.withLock { $0.number() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                enter(Waiter(number: number, continuation: continuation), within: time, on: loop, otherwise: error)
            }
        } onCancel: {
            leave(number, throwing: CancellationError())
        }
    }

    private func enter(
        _ waiter: Waiter, within time: TimeAmount, on loop: any EventLoop,
        otherwise error: @escaping @Sendable () -> RepriseError
    ) {
        // A later cancellation finds the waiter in the queue; an earlier one is detected here.
        let result = state.withLock { state -> Result<Void, any Error>? in
            if Task.isCancelled { return .failure(CancellationError()) }
            guard !state.waiters.isEmpty || state.taken + Self.attempt > limit else {
                state.taken += Self.attempt
                return .success(())
            }
            state.waiters.append(waiter)
            return nil
        }
        if let result { return waiter.continuation.resume(with: result) }
        let number = waiter.number
        let timer = loop.scheduleTask(in: time) { [weak self] () -> Void in self?.leave(number, throwing: error()) }
        let isWaiting = state.withLock { state in
            guard let place = state.waiters.firstIndex(where: { $0.number == number }) else { return false }
            state.waiters[place].timer = timer
            return true
        }
        guard isWaiting else { return timer.cancel() }
        closeIdle { [limit] state in !state.waiters.isEmpty && state.needsRoom(limit) }
    }

    private func leave(_ number: Int, throwing error: any Error) {
        let waiter = state.withLock { state in
            state.waiters.firstIndex { $0.number == number }.map { state.waiters.remove(at: $0) }
        }
        waiter?.timer?.cancel()
        waiter?.continuation.resume(throwing: error)
    }

    /// Notes that an attempt has led to a connection, after which ``closed()`` must follow.
    func opened() {
        change { state in
            state.open += 1
            state.taken -= Self.attempt - 1
        }
    }

    /// Notes that an attempt has failed.
    func failed() { change { $0.taken -= Self.attempt } }

    /// Notes that a connection is closed.
    func closed() {
        change { state in
            state.open -= 1
            state.taken -= 1
            state.closing = max(0, state.closing - 1)
        }
    }

    private func change(_ body: (inout State) -> Void) {
        let admitted = state.withLock { state in
            body(&state)
            return state.admit(limit)
        }
        for waiter in admitted {
            waiter.timer?.cancel()
            waiter.continuation.resume()
        }
    }

    // MARK: - Idle connections

    /// Notes that a connection carries no request any more; returns what has to be closed, outside every lock.
    func becameIdle(_ connection: ObjectIdentifier, drop: @escaping Drop) -> [Drop] {
        state.withLock { state in
            let stamp = state.number()
            state.stamps[connection] = stamp
            state.queue.append(Idle(connection: connection, stamp: stamp, drop: drop))
            defer { state.compact() }
            guard state.stamps.count > idleLimit || !state.waiters.isEmpty && state.needsRoom(limit) else { return [] }
            return state.removeOldest().map { drop in [{ [self] in close(drop) }] } ?? []
        }
    }

    /// Notes that a connection carries a request again, or is closed.
    func leftIdle(_ connection: ObjectIdentifier) {
        state.withLock { _ = $0.stamps.removeValue(forKey: connection) }
    }

    /// Closes idle connections, those that were used longest ago first.
    func closeIdle() { closeIdle { _ in true } }

    private func closeIdle(while isNeeded: @Sendable (State) -> Bool) {
        while let drop = state.withLock({ isNeeded($0) ? $0.removeOldest() : nil }) { _ = close(drop) }
    }

    /// Closes a connection unless it got a request in the meantime.
    private func close(_ drop: Drop) -> Bool {
        let isClosing = drop()
        if !isClosing { state.withLock { $0.closing = max(0, $0.closing - 1) } }
        return isClosing
    }
}
