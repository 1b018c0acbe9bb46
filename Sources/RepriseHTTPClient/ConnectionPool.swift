import Locks
import NIOCore
import Reprise

/// Connections by endpoint: lends places, keeps idle ones, queues who is over the limit, first come first served.
///
/// A place belongs to `send` until the response's head has arrived, then to the response's stream.
final class ConnectionPool: Sendable {
    private typealias Waiter = CheckedContinuation<PoolSlot, any Error>

    private struct State {
        var hosts: [Endpoint: HostSlots<Connection>] = [:]
        var waiters: [Endpoint: [Int: Waiter]] = [:]
        var open: [ObjectIdentifier: Connection] = [:]
        var isClosed = false

        /// Stores `host`, or forgets the endpoint if nobody uses it any more.
        mutating func keep(_ host: HostSlots<Connection>, for endpoint: Endpoint) {
            hosts[endpoint] = host.isUnused ? nil : host
            if host.isUnused { waiters[endpoint] = nil }
        }
    }

    private enum Admission {
        case admitted(PoolSlot)
        case queued(ticket: Int)
        case refused
    }

    private let state = Mutex(State())
    private let limit: Int
    private let idleLimit: Int

    init(limit: Int, idleLimit: Int) {
        self.limit = limit
        self.idleLimit = idleLimit
    }

    /// A place for one request; waits while all are lent.
    ///
    /// Throws `CancellationError`, or `closed` after ``close()``.
    func lease(_ endpoint: Endpoint) async throws -> PoolSlot {
        try Task.checkCancellation()
        let ticket = Mutex<Int?>(nil)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: Waiter) in
                let admission = admit(endpoint, continuation)
                switch admission {
                case .admitted(let slot): continuation.resume(returning: slot)
                case .refused: continuation.resume(throwing: Self.closedError)
                case .queued(let number):
                    ticket.withLock { $0 = number }
                    // The handler may have run before there was a number.
                    if Task.isCancelled { withdraw(number, from: endpoint) }
                }
            }
        } onCancel: {
            if let number = ticket.withLock({ $0 }) { withdraw(number, from: endpoint) }
        }
    }

    /// A place comes back; `connection` only if it can carry another request.
    func release(_ endpoint: Endpoint, _ connection: Connection?) {
        var toClose: Connection?
        var next: (Waiter, Connection?)?
        state.withLock { state in
            guard var host = state.hosts[endpoint] else { return }
            switch host.release(state.isClosed ? nil : connection) {
            case .parked: break
            case .handOver(let ticket, let connection):
                if let waiter = state.waiters[endpoint]?.removeValue(forKey: ticket) { next = (waiter, connection) }
            case .close(let connection): toClose = connection
            }
            state.keep(host, for: endpoint)
        }
        toClose?.close()
        if let (waiter, connection) = next {
            waiter.resume(returning: PoolSlot(pool: self, endpoint: endpoint, idle: connection))
        }
    }

    /// Remembers an open connection until it closes.
    ///
    /// Throws `closed` after ``close()``.
    func register(_ connection: Connection, for endpoint: Endpoint) throws(RepriseError) {
        let isClosed = state.withLock { state in
            if !state.isClosed { state.open[ObjectIdentifier(connection)] = connection }
            return state.isClosed
        }
        guard !isClosed else { throw Self.closedError }
        connection.channel.closeFuture.whenComplete { [self] _ in
            state.withLock { state in
                state.open[ObjectIdentifier(connection)] = nil
                guard var host = state.hosts[endpoint] else { return }
                host.removeIdle { $0 === connection }
                state.keep(host, for: endpoint)
            }
        }
    }

    /// Refuses everything from now on and closes every connection.
    func close() async {
        let (waiters, connections) = state.withLock { state in
            state.isClosed = true
            let waiters = state.waiters.values.flatMap(\.values)
            state.waiters = [:]
            for endpoint in state.hosts.keys { state.hosts[endpoint]?.withdrawAll() }
            return (waiters, Array(state.open.values))
        }
        for waiter in waiters { waiter.resume(throwing: Self.closedError) }
        for connection in connections { connection.close(Self.closedError) }
        for connection in connections { try? await connection.channel.closeFuture.get() }
    }

    private func admit(_ endpoint: Endpoint, _ waiter: Waiter) -> Admission {
        state.withLock { state in
            guard !state.isClosed else { return .refused }
            var host = state.hosts[endpoint] ?? HostSlots(limit: limit, idleLimit: idleLimit)
            defer { state.hosts[endpoint] = host }
            switch host.lease() {
            case .reuse(let connection):
                return .admitted(PoolSlot(pool: self, endpoint: endpoint, idle: connection))
            case .open:
                return .admitted(PoolSlot(pool: self, endpoint: endpoint, idle: nil))
            case .wait(let ticket):
                state.waiters[endpoint, default: [:]][ticket] = waiter
                return .queued(ticket: ticket)
            }
        }
    }

    private func withdraw(_ ticket: Int, from endpoint: Endpoint) {
        let waiter: Waiter? = state.withLock { state in
            guard state.hosts[endpoint]?.withdraw(ticket: ticket) == true else { return nil }
            return state.waiters[endpoint]?.removeValue(forKey: ticket)
        }
        waiter?.resume(throwing: CancellationError())
    }

    private static var closedError: RepriseError {
        RepriseError(.closed, "The origin client was shut down.")
    }
}

/// A lent place in the pool, with the idle connection that came with it.
struct PoolSlot: Sendable {
    let pool: ConnectionPool
    let endpoint: Endpoint
    let idle: Connection?

    /// Gives the place back; exactly once.
    func release(_ connection: Connection?) {
        pool.release(endpoint, connection)
    }
}
