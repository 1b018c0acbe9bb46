import Primitives
import NIOCore
import Reprise

/// Connections by endpoint: lends places, keeps idle connections, and queues requests over the limit.
///
/// ``HostSlots`` decides for one endpoint, ``ConnectionBudget`` over all of them. A place belongs to `send` until the
/// response's head has arrived, then to the response's stream. Continuations are resumed and requests ended outside the
/// lock, in the order in which that was decided; under it only the locks of a ``RequestInterest`` and of the budget are
/// taken.
final class ConnectionPool: Sendable {
    /// How many connections there may be to one endpoint, and how long a request queues for one.
    struct Limits: Sendable {
        let connections: Int
        /// Another number for a host; `nil` from it for the same.
        var connectionsToHost: (@Sendable (String) -> Int?)?
        let lent: Int
        let idle: Int
        let queueTimeout: TimeAmount

        /// The most connections to `endpoint`.
        func connections(to endpoint: Endpoint) -> Int {
            max(1, connectionsToHost?(endpoint.host) ?? connections)
        }
    }

    private typealias Waiter = CheckedContinuation<PoolSlot, any Error>
    private typealias Action = HostSlots<Connection>.Action
    /// Resumes a continuation, ends a request, or closes a connection.
    private typealias Effect = @Sendable () -> Void

    /// The pool's view of a request.
    private struct Guest: Sendable {
        let interest: RequestInterest?
        var observer: Int?
        /// The waiter, while it queues.
        var waiter: Waiter?
        /// Ends the queueing.
        var timer: Scheduled<Void>?
        /// Ends the request: before its head without an error, afterwards with one.
        var end: (@Sendable (RepriseError?) -> Void)?
        /// Whether it should end as soon as that is possible.
        var isEnding = false

        mutating func leaveQueue() -> Waiter? {
            timer?.cancel()
            defer { waiter = nil }
            return waiter
        }

        /// The request leaves the queue without a place.
        func leave(_ error: any Error) {
            timer?.cancel()
            forget()
            waiter?.resume(throwing: error)
        }

        func forget() {
            if let observer { interest?.forget(observer) }
        }
    }

    private struct Host: Sendable {
        var slots: HostSlots<Connection>
        var guests: [Int: Guest] = [:]
    }

    private struct State: Sendable {
        var hosts: [Endpoint: Host] = [:]
        var open: [ObjectIdentifier: Connection] = [:]
        var isClosed = false
    }

    private let state = StateMachine<State, Effect>(State())
    private let limits: Limits
    private let budget: ConnectionBudget
    private let group: any EventLoopGroup

    init(limits: Limits, budget: ConnectionBudget, group: any EventLoopGroup) {
        self.limits = limits
        self.budget = budget
        self.group = group
    }

    // MARK: - The queue

    /// Waits for a place for `request`.
    ///
    /// Throws `originTimedOut` when it has waited for too long, `CancellationError` when the task is canceled or
    /// nothing wants the request any more, `closed` after ``close()``.
    func lease(_ endpoint: Endpoint, for request: OriginRequest) async throws -> PoolSlot {
        try Task.checkCancellation()
        let ticket = Mutex<Int?>(nil)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (waiter: Waiter) in
                guard let number = enter(endpoint, request: request, waiter: waiter) else {
                    return waiter.resume(throwing: Failures.poolClosed)
                }
                ticket.withLock { $0 = number }
                // The handler may have run before the number was known.
                if Task.isCancelled { leaveQueue(endpoint, number: number, error: CancellationError()) }
            }
        } onCancel: {
            if let number = ticket.withLock({ $0 }) { leaveQueue(endpoint, number: number, error: CancellationError()) }
        }
    }

    /// Returns the request's number, or `nil` if the pool is closed.
    private func enter(_ endpoint: Endpoint, request: OriginRequest, waiter: Waiter) -> Int? {
        let interest = request.context.interest
        let entered = state.update(performing: { $0() }) { state, effects -> (number: Int, isQueued: Bool)? in
            guard !state.isClosed else { return nil }
            return change(endpoint, in: &state, &effects) { host in
                let (number, actions) = host.slots.enter(
                    interest == nil ? request.demand : interest?.demand, for: request.url.hashValue)
                host.guests[number] = Guest(interest: interest, waiter: waiter)
                return ((number, host.slots.isQueued(number)), actions)
            }
        }
        guard let (number, isQueued) = entered else { return nil }
        if isQueued {
            let timer = group.any().scheduleTask(in: limits.queueTimeout) { [weak self] () -> Void in
                if let self { leaveQueue(endpoint, number: number, error: Failures.queueTimedOut(endpoint, limits)) }
            }
            let hasLeft = state.withLock { state in
                guard state.hosts[endpoint]?.guests[number]?.waiter != nil else { return true }
                state.hosts[endpoint]?.guests[number]?.timer = timer
                return false
            }
            if hasLeft { timer.cancel() }
        }
        if let interest {
            let observer = interest.observe { [weak self] in self?.interestChanged(endpoint, of: number) }
            let hasLeft = state.withLock { state in
                state.hosts[endpoint]?.guests[number]?.observer = observer
                return state.hosts[endpoint]?.guests[number] == nil
            }
            if hasLeft { interest.forget(observer) }
            // It may have changed before it was observed.
            interestChanged(endpoint, of: number)
        }
        return number
    }

    private func interestChanged(_ endpoint: Endpoint, of number: Int) {
        update(endpoint) { host in
            guard let guest = host.guests[number] else { return ((), []) }
            return ((), host.slots.change(number, to: guest.interest?.demand))
        }
    }

    /// Removes a request from the queue, if it is still there.
    private func leaveQueue(_ endpoint: Endpoint, number: Int, error: any Error) {
        state.update(performing: { $0() }) { state, effects in
            guard state.hosts[endpoint]?.slots.withdraw(number) == true else { return }
            let guest = state.hosts[endpoint]?.guests.removeValue(forKey: number)
            if state.hosts[endpoint]?.slots.isUnused == true { state.hosts[endpoint] = nil }
            effects.append { guest?.leave(error) }
        }
    }

    /// Number of requests that wait for a place, at all endpoints.
    var queued: Int { state.withLock { $0.hosts.values.reduce(0) { $0 + $1.slots.queued } } }

    /// Whether nothing queues, has a place, or is idle.
    var isUnused: Bool { state.withLock { $0.hosts.isEmpty } }

    // MARK: - A place

    /// Notes that the request starts; `end` ends it until its head arrives.
    fileprivate func begin(_ slot: PoolSlot, end: @escaping @Sendable () -> Void) {
        let isEnding = update(slot.endpoint) { host in
            host.guests[slot.number]?.end = { _ in end() }
            return (host.guests[slot.number]?.isEnding ?? false, [])
        }
        if isEnding { end() }
    }

    /// Notes that the head has arrived; from now on `close` ends the request.
    fileprivate func headArrived(
        _ slot: PoolSlot, canBeResumed: Bool, close: @escaping @Sendable (RepriseError?) -> Void
    ) {
        update(slot.endpoint) { host in
            host.guests[slot.number]?.end = close
            return ((), host.slots.headArrived(slot.number, canBeResumed: canBeResumed))
        }
    }

    fileprivate func change(_ slot: PoolSlot, to pace: BodyPace) {
        update(slot.endpoint) { ((), $0.slots.change(slot.number, to: pace.speed, isResting: pace.isResting)) }
    }

    fileprivate func release(_ slot: PoolSlot, with connection: Connection?) {
        let guest = state.update(performing: { $0() }) { state, effects in
            let connection = state.isClosed ? nil : connection
            return change(slot.endpoint, in: &state, &effects) { host in
                (host.guests.removeValue(forKey: slot.number), host.slots.release(slot.number, with: connection))
            }
        }
        guest?.forget()
    }

    // MARK: - Connections

    /// Opens a connection with `connector`, once the budget has room for it, and registers it until it closes.
    ///
    /// Throws as the connector does, `originTimedOut` if there was no room for too long, and `closed` after
    /// ``close()``.
    func open(_ endpoint: Endpoint, with connector: Connector) async throws -> Connection {
        try await budget.take(within: limits.queueTimeout, on: group.any()) { [budget] in
            Failures.budgetTimedOut(endpoint, limit: budget.limit)
        }
        let connection: Connection
        do {
            connection = try await connect(endpoint, with: connector)
        } catch {
            budget.failed()
            throw error
        }
        budget.opened()
        let registration = Result { try register(connection, for: endpoint) }
        // Added after the callback of `register`, so the budget never chooses a connection that has closed.
        connection.channel.closeFuture.whenComplete { [budget] _ in budget.closed() }
        do { try registration.get() } catch {
            connection.close()
            throw error
        }
        return connection
    }

    /// Closes all idle connections, and tries again, if the process has no descriptor left.
    private func connect(_ endpoint: Endpoint, with connector: Connector) async throws -> Connection {
        do { return try await connector.connect(to: endpoint) } catch {
            guard Failures.isLackOfDescriptors(error) else { throw error }
            Descriptors.process.release()
            // Each loop closes its connections in the order in which it was told; one that has ended has none.
            for loop in group.makeIterator() { try? await loop.submit {}.get() }
            try Task.checkCancellation()
            return try await connector.connect(to: endpoint)
        }
    }

    /// Registers an open connection until it closes.
    ///
    /// Throws `closed` after ``close()``.
    private func register(_ connection: Connection, for endpoint: Endpoint) throws(RepriseError) {
        let isClosed = state.withLock { state in
            if !state.isClosed { state.open[ObjectIdentifier(connection)] = connection }
            return state.isClosed
        }
        guard !isClosed else { throw Failures.poolClosed }
        connection.channel.closeFuture.whenComplete { [self] _ in
            state.withLock { $0.open[ObjectIdentifier(connection)] = nil }
            update(endpoint) { host in
                host.slots.removeIdle { $0 === connection }
                return ((), [])
            }
        }
    }

    /// Closes `connection` if it is idle; whether it was.
    private func drop(_ connection: Connection, of endpoint: Endpoint) -> Bool {
        let wasIdle = update(endpoint) { host in
            guard host.slots.idle.contains(where: { $0 === connection }) else { return (false, []) }
            host.slots.removeIdle { $0 === connection }
            return (true, [.close(connection)])
        }
        return wasIdle
    }

    /// Refuses all further requests and closes every connection.
    func close() async {
        let connections = state.update(performing: { $0() }) { state, effects in
            state.isClosed = true
            for (endpoint, known) in state.hosts {
                var host = known
                host.slots.withdrawAll()
                let waiting = host.guests.values.filter { $0.waiter != nil }
                host.guests = host.guests.filter { $0.value.waiter == nil }
                state.hosts[endpoint] = host
                effects.append { for guest in waiting { guest.leave(Failures.poolClosed) } }
            }
            return Array(state.open.values)
        }
        for connection in connections { connection.close(Failures.poolClosed) }
        for connection in connections { try? await connection.channel.closeFuture.get() }
    }

    // MARK: - Effects

    /// Changes the state of an endpoint and performs the effects.
    @discardableResult
    private func update<Result: Sendable>(
        _ endpoint: Endpoint, _ body: (inout Host) -> (Result, [Action])
    ) -> Result {
        state.update(performing: { $0() }) { state, effects in change(endpoint, in: &state, &effects, body) }
    }

    private func change<Result: Sendable>(
        _ endpoint: Endpoint, in state: inout State, _ effects: inout [Effect],
        _ body: (inout Host) -> (Result, [Action])
    ) -> Result {
        var host =
            state.hosts[endpoint]
            ?? Host(
                slots: HostSlots(
                    limit: limits.connections(to: endpoint), lentLimit: limits.lent, idleLimit: limits.idle,
                    isStrict: limits.connectionsToHost?(endpoint.host) != nil))
        let idle = host.slots.idle
        let (result, actions) = body(&host)
        effects += actions.map { effect(of: $0, at: endpoint, host: &host) }
        effects += tellBudget(of: host.slots.idle, insteadOf: idle, at: endpoint)
        state.hosts[endpoint] = host.slots.isUnused ? nil : host
        return result
    }

    /// Tells the budget which connections of an endpoint are idle now; returns what closes others for them.
    ///
    /// Under the lock, so that the budget learns of changes in their order.
    private func tellBudget(
        of idle: [Connection], insteadOf former: [Connection], at endpoint: Endpoint
    ) -> [@Sendable () -> Void] {
        for connection in former where !idle.contains(where: { $0 === connection }) {
            budget.leftIdle(ObjectIdentifier(connection))
        }
        return idle.filter { connection in !former.contains { $0 === connection } }.flatMap { connection in
            budget.becameIdle(ObjectIdentifier(connection)) { [weak self, weak connection] in
                guard let self, let connection else { return false }
                return drop(connection, of: endpoint)
            }
        }.map { drop in { _ = drop() } }
    }

    /// The effect of an action, to be performed outside the lock.
    private func effect(of action: Action, at endpoint: Endpoint, host: inout Host) -> Effect {
        switch action {
        case .admit(let number, let idle):
            let waiter = host.guests[number]?.leaveQueue()
            let slot = PoolSlot(pool: self, endpoint: endpoint, number: number, idle: idle)
            return { waiter?.resume(returning: slot) }
        case .withdraw(let number):
            let guest = host.guests.removeValue(forKey: number)
            return { guest?.leave(CancellationError()) }
        case .end(let number):
            host.guests[number]?.isEnding = true
            let end = host.guests[number]?.end
            return { end?(nil) }
        case .giveUp(let number):
            let end = host.guests[number]?.end
            return { end?(Failures.givenUp(endpoint)) }
        case .close(let connection): return { connection.close() }
        }
    }
}

/// A place in the pool, with the idle connection that came with it.
struct PoolSlot: Sendable {
    let pool: ConnectionPool
    let endpoint: Endpoint
    let number: Int
    let idle: Connection?

    /// Notes that the request starts; `end` is called if nothing wants it any more before its head arrives, and others
    /// need the place.
    func begin(end: @escaping @Sendable () -> Void) { pool.begin(self, end: end) }

    /// Notes that the head has arrived on `connection`.
    ///
    /// `canBeResumed` is true if a range request can fetch the rest of the body.
    func headArrived(on connection: Connection, canBeResumed: Bool) {
        pool.headArrived(self, canBeResumed: canBeResumed) { connection.close($0) }
    }

    /// Notes a change in the consumer's pace.
    func change(to pace: BodyPace) { pool.change(self, to: pace) }

    /// Returns the place; must be called exactly once.
    func release(_ connection: Connection?) { pool.release(self, with: connection) }
}
