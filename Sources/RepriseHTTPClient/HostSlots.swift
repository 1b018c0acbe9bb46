import NIOCore

/// The places for connections to one endpoint: how many are lent, which idle ones wait to be used again, who queues.
///
/// A pure value. `lent + idle` never exceeds `limit`; somebody queues only while `limit` are lent.
struct HostSlots<Element> {
    /// What somebody who wants a connection gets.
    enum Lease {
        /// This idle connection.
        case reuse(Element)
        /// A place, to open a connection in.
        case open
        /// A number in the queue.
        case wait(ticket: Int)
    }

    /// What becomes of a place that was given back.
    enum Release {
        /// The connection, if there was one, is idle now.
        case parked
        /// The next in the queue has the place, and the connection if there is one.
        case handOver(ticket: Int, Element?)
        /// There are enough idle ones.
        case close(Element)
    }

    let limit: Int
    let idleLimit: Int
    private(set) var lent = 0
    private(set) var idle: [Element] = []
    private var queue = CircularBuffer<Int>()
    private var nextTicket = 0

    init(limit: Int, idleLimit: Int) {
        self.limit = max(1, limit)
        self.idleLimit = max(0, idleLimit)
    }

    var isUnused: Bool { lent == 0 && idle.isEmpty && queue.isEmpty }
    var queued: Int { queue.count }

    /// The idle connection that was used last comes first: it is the least likely to have been closed meanwhile.
    mutating func lease() -> Lease {
        if lent < limit {
            lent += 1
            return idle.popLast().map(Lease.reuse) ?? .open
        }
        defer { nextTicket += 1 }
        queue.append(nextTicket)
        return .wait(ticket: nextTicket)
    }

    /// A place comes back, with its connection if that can carry another request.
    mutating func release(_ element: Element?) -> Release {
        precondition(lent > 0, "a place was given back twice")
        if let ticket = queue.popFirst() { return .handOver(ticket: ticket, element) }
        lent -= 1
        guard let element else { return .parked }
        guard idle.count < idleLimit else { return .close(element) }
        idle.append(element)
        return .parked
    }

    /// Somebody leaves the queue.
    ///
    /// `false` if the place was already theirs.
    mutating func withdraw(ticket: Int) -> Bool {
        guard let index = queue.firstIndex(of: ticket) else { return false }
        queue.remove(at: index)
        return true
    }

    /// Everybody leaves the queue.
    mutating func withdrawAll() {
        queue.removeAll()
    }

    mutating func removeIdle(where isGone: (Element) -> Bool) {
        idle.removeAll(where: isGone)
    }
}
