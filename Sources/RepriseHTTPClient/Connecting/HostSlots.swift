import Reprise

/// The places for connections to one endpoint: which requests have one, which idle connections can be reused, and which
/// requests queue.
///
/// A pure value: events go in, actions come out. At most `limit` requests have a place at once. A body whose consumer
/// pulls slowly, or not at all, keeps its connection, but its place is lent to another request; at most `lentLimit`
/// places are lent.
///
/// A body of a lower class, or one that is pulled slowly, lends its place as soon as a request needs it. The first
/// request in the queue waits only for moving bodies of its own class or a higher one, and for requests without a
/// head.
///
/// If the limit is strict, no place is lent. For a queued request, the connection of a running body is closed first,
/// and its place is then reassigned. A body can be closed if no reader wants it, or if it is of a lower class. It can
/// also be closed if it is slow, and a range request can fetch the rest.
///
///     queued ──► asking ──► streaming ◄──► throttled, parked, displaced
///                  └──► ending                       └──► givenUp
struct HostSlots<Element: Sendable>: Sendable {
    /// The state of a request.
    private enum Standing {
        /// It waits for a place.
        case queued
        /// It has a place, but no head yet.
        case asking
        /// It was told to end before its head has arrived.
        case ending
        /// Its body is in transfer.
        case streaming
        /// In transfer, but its consumer pulls more slowly than the origin sends.
        case throttled
        /// In transfer, but its consumer does not pull.
        case parked
        /// In transfer, but a request of a higher class needed the place more.
        case displaced
        /// Its connection is being closed: it was parked, and too many places were lent.
        case givenUp
        /// Its connection is being closed, and its place then goes to a queued request.
        case closing
    }

    /// What the owner has to do.
    enum Action {
        /// The request has a place now, with an idle connection if there is one.
        case admit(Int, Element?)
        /// The request leaves the queue, because nothing waits for it any more.
        case withdraw(Int)
        /// The request has no head yet and nothing waits for it any more, but others wait for its place.
        case end(Int)
        /// Close the connection of this body, because its place is needed.
        case giveUp(Int)
        /// There are enough idle connections: close this one.
        case close(Element)
    }

    private struct Request {
        /// A hash of its URL.
        let resource: Int
        var standing: Standing
        var demand: Demand?
        /// How fast the consumer pulls the body.
        var speed = BodyPace.Speed.full
        /// Whether its consumer pulled nothing between the last two looks; see ``BodyPace/isResting``.
        var isResting = false
        /// Whether a range request can fetch the rest of the body.
        var canBeResumed = false
    }

    let limit: Int
    let lentLimit: Int
    let idleLimit: Int
    /// Whether there are never more than `limit` connections.
    let isStrict: Bool
    private(set) var idle: [Element] = []
    private var requests: [Int: Request] = [:]
    /// Number of requests that have a place.
    private(set) var placed = 0
    /// Numbers of requests whose place is lent, the longest lent first.
    private var lent: [Int] = []
    private var lastNumber = 0

    init(limit: Int, lentLimit: Int, idleLimit: Int, isStrict: Bool = false) {
        self.isStrict = isStrict
        self.limit = max(1, limit)
        self.lentLimit = max(0, lentLimit)
        self.idleLimit = max(0, idleLimit)
    }

    var isUnused: Bool { requests.isEmpty && idle.isEmpty }
    /// Number of requests whose place is lent.
    var lentPlaces: Int { lent.count }
    /// Number of requests that wait for a place.
    var queued: Int { requests.values.count { $0.standing == .queued } }

    /// Whether the request waits for a place.
    func isQueued(_ number: Int) -> Bool { requests[number]?.standing == .queued }

    /// Adds a request for the file with this hash; its number identifies it from now on.
    mutating func enter(_ demand: Demand?, for resource: Int = 0) -> (number: Int, actions: [Action]) {
        lastNumber += 1
        requests[lastNumber] = Request(resource: resource, standing: .queued, demand: demand)
        return (lastNumber, settle())
    }

    /// Changes the demand of a request, because other readers wait for it now, or none does.
    mutating func change(_ number: Int, to demand: Demand?) -> [Action] {
        requests[number]?.demand = demand
        return settle()
    }

    /// Removes a request from the queue.
    ///
    /// `false` if it had already left.
    mutating func withdraw(_ number: Int) -> Bool {
        guard requests[number]?.standing == .queued else { return false }
        requests[number] = nil
        return true
    }

    /// Removes all requests from the queue.
    mutating func withdrawAll() {
        requests = requests.filter { $0.value.standing != .queued }
    }

    /// Notes that the head of the response has arrived: from now on the place can be lent.
    mutating func headArrived(_ number: Int, canBeResumed: Bool = false) -> [Action] {
        guard let standing = requests[number]?.standing, standing == .asking || standing == .ending else { return [] }
        requests[number]?.standing = .streaming
        requests[number]?.canBeResumed = canBeResumed
        return settle()
    }

    /// Notes a change in the pace of a body's consumer.
    mutating func change(_ number: Int, to speed: BodyPace.Speed, isResting: Bool = false) -> [Action] {
        guard let standing = requests[number]?.standing else { return [] }
        requests[number]?.speed = speed
        requests[number]?.isResting = isResting
        guard !isStrict else { return settle() }
        var actions: [Action] = []
        switch (standing, speed) {
        case (.streaming, .reduced) where lent.count < lentLimit: lendPlace(of: number, as: .throttled, &actions)
        case (.streaming, .stopped), (.throttled, .stopped), (.displaced, .stopped):
            lendPlace(of: number, as: .parked, &actions)
        case (.parked, .reduced): requests[number]?.standing = .throttled
        // Immediately, even beyond the limit.
        case (.parked, .full), (.throttled, .full): takePlace(number)
        default: break
        }
        return actions + settle()
    }

    /// Ends a request; `element` is its connection, if that can carry another one.
    mutating func release(_ number: Int, with element: Element?) -> [Action] {
        guard let request = requests.removeValue(forKey: number) else { preconditionFailure("released twice") }
        switch request.standing {
        case .asking, .ending, .streaming, .closing: placed -= 1
        case .throttled, .parked, .displaced: lent.removeAll { $0 == number }
        case .queued, .givenUp: break
        }
        if let element { idle.append(element) }
        return settle()
    }

    mutating func removeIdle(where isGone: (Element) -> Bool) {
        idle.removeAll(where: isGone)
    }

    // MARK: Who is next

    private mutating func settle() -> [Action] {
        var actions = withdrawUnwanted()
        admit(&actions)
        if isStrict {
            closeForQueue(&actions)
        } else {
            while let next = nextInQueue, makeWay(for: next.demand, &actions) { admit(&actions) }
        }
        if nextInQueue != nil {
            endUnwanted(&actions)
        } else {
            while placed < limit, let number = lent.first(where: { requests[$0]?.standing == .displaced }) {
                takePlace(number)
            }
        }
        while idle.count > idleLimit || placed + idle.count > limit, !idle.isEmpty {
            actions.append(.close(idle.removeFirst()))
        }
        return actions
    }

    /// The newest request, of the highest class, for the file that has waited longest.
    ///
    /// Among requests for one file, the newest has the player's current position.
    private var nextInQueue: (number: Int, demand: Demand)? {
        var oldest: (number: Int, demand: Demand, resource: Int)?
        for (number, request) in requests where request.standing == .queued {
            guard let demand = request.demand else { continue }
            if let oldest, (oldest.demand, -oldest.number) > (demand, -number) { continue }
            oldest = (number, demand, request.resource)
        }
        guard var next = oldest else { return nil }
        for (number, request) in requests
        where request.standing == .queued && request.demand == next.demand && request.resource == next.resource {
            next.number = max(next.number, number)
        }
        return (next.number, next.demand)
    }

    private mutating func withdrawUnwanted() -> [Action] {
        let unwanted = requests.filter { $0.value.standing == .queued && $0.value.demand == nil }.keys
        for number in unwanted { requests[number] = nil }
        return unwanted.map { .withdraw($0) }
    }

    /// The most recently used idle connection comes first, because it is the least likely to have been closed since.
    private mutating func admit(_ actions: inout [Action]) {
        while placed < limit, let next = nextInQueue {
            requests[next.number]?.standing = .asking
            placed += 1
            actions.append(.admit(next.number, idle.popLast()))
        }
    }

    /// Lends the place of a body that is pulled slowly, or else of the least wanted one if its class is below `demand`;
    /// false if there is none, or as many places as may be are lent already, and not to a parked body of at most that
    /// class.
    private mutating func makeWay(for demand: Demand, _ actions: inout [Action]) -> Bool {
        guard lent.count < lentLimit || leastParked.map({ rank($0) <= demand.rawValue }) == true else { return false }
        let bodies = requests.filter { $0.value.standing == .streaming }
        if let slow = bodies.filter({ $0.value.speed != .full }).keys.min() {
            lendPlace(of: slow, as: .throttled, &actions)
            return true
        }
        guard let least = bodies.keys.min(by: { (rank($0), $0) < (rank($1), $1) }), rank(least) < demand.rawValue
        else { return false }
        lendPlace(of: least, as: .displaced, &actions)
        return true
    }

    /// Closes one connection for each queued request.
    ///
    /// Unwanted bodies are closed first, then bodies of lower classes, bodies whose consumers rest, and slow bodies.
    private mutating func closeForQueue(_ actions: inout [Action]) {
        guard let next = nextInQueue else { return }
        let excess = queued - requests.values.count { $0.standing == .closing || $0.standing == .ending }
        let bodies = requests.keys.compactMap { number in
            order(ofClosing: number, for: next.demand).map { ($0, number) }
        }
        for (_, number) in bodies.sorted(by: <).prefix(max(0, excess)) {
            requests[number]?.standing = .closing
            actions.append(.giveUp(number))
        }
    }

    /// The position of a body in the order of closing for a request of class `demand`; `nil` if it must stay open.
    private func order(ofClosing number: Int, for demand: Demand) -> Int? {
        guard let body = requests[number], body.standing == .streaming else { return nil }
        if body.demand == nil { return 0 }
        // A body of a lower class yields to the waiting player anyway, so keeping its connection would block both.
        if rank(number) < demand.rawValue { return body.canBeResumed ? 1 : 4 }
        guard body.canBeResumed, rank(number) == demand.rawValue else { return nil }
        if body.isResting { return 2 }
        return body.speed == .full ? nil : 3
    }

    /// Ends requests that nothing waits for, oldest first, as many as others wait for a place.
    private mutating func endUnwanted(_ actions: inout [Action]) {
        var excess = queued - requests.values.count { $0.standing == .ending }
        let unwanted = requests.filter { $0.value.standing == .asking && $0.value.demand == nil }.keys.sorted()
        for number in unwanted where excess > 0 {
            requests[number]?.standing = .ending
            actions.append(.end(number))
            excess -= 1
        }
    }

    /// Lends the place of a body to others from now on, if it has one.
    ///
    /// If too many are lent then, the least wanted parked body is given up, and of several the one parked first.
    private mutating func lendPlace(of number: Int, as standing: Standing, _ actions: inout [Action]) {
        if requests[number]?.standing == .streaming {
            placed -= 1
            lent.append(number)
        }
        requests[number]?.standing = standing
        guard lent.count > lentLimit, let first = leastParked else { return }
        lent.removeAll { $0 == first }
        requests[first]?.standing = .givenUp
        actions.append(.giveUp(first))
    }

    private var leastParked: Int? {
        lent.filter { requests[$0]?.standing == .parked }.min { rank($0) < rank($1) }
    }

    /// Orders requests by their classes; those that nothing wants come first.
    private func rank(_ number: Int) -> Int { requests[number]?.demand?.rawValue ?? -1 }

    private mutating func takePlace(_ number: Int) {
        lent.removeAll { $0 == number }
        requests[number]?.standing = .streaming
        placed += 1
    }
}
