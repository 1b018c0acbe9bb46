/// The requests, bodies and tasks of the fetches that run for a generation.
///
/// A value that its owner guards by a lock. Bodies are canceled and continuations resumed outside it: such work is
/// returned as a ``Release``.
struct RunningFetches: Sendable {
    typealias ID = FetchSchedule.FetchID

    /// How the wait of a parked fetch ended.
    enum Parking: Sendable {
        /// Its readers want more, or it was canceled.
        case over
        /// Its readers wanted nothing for the whole ``MediaCache/Configuration/parkingTime``, so the transfer was
        /// ended.
        case givenBack
    }

    /// What a fetch held that ends: to be released outside the lock.
    struct Release: Sendable {
        fileprivate var interest: RequestInterest?
        fileprivate let body: (any OriginBody)?
        fileprivate let parked: CheckedContinuation<Parking, Never>?
        fileprivate let parking: Parking

        func perform() {
            interest?.change(to: nil)
            body?.cancel()
            parked?.resume(returning: parking)
        }
    }

    /// What became of a fetch that wants to park.
    enum Parked {
        /// It has to go on at once.
        case refused
        case parked
        /// It is parked, and a timer has to be started that gives its connection back.
        case needsTimer
    }

    private struct Handle: Sendable {
        /// How much its request is wanted.
        let interest: RequestInterest
        let task: Task<Void, Never>
        /// The request that it sends to the origin.
        var request: OriginRequest
        /// The body that it reads; `nil` while it has no connection.
        var body: (any OriginBody)?
        var parked: CheckedContinuation<Parking, Never>?
        /// When it was last parked, by the monotonic clock.
        var parkedSince = Duration.zero
        var parkingTimer: Task<Void, Never>?
        var lingerTimer: Task<Void, Never>?
        var isCancelled = false
        var isResumed = false
        /// Its body is a reader's now.
        var isHandedOver = false
    }

    private var handles: [ID: Handle] = [:]

    var tasks: [Task<Void, Never>] { handles.values.map(\.task) }

    /// Whether it was canceled, or is over.
    func isCancelled(_ id: ID) -> Bool { handles[id]?.isCancelled ?? true }

    /// The request that the origin was asked last.
    func request(of id: ID) -> OriginRequest? { handles[id]?.request }

    /// How much the request of the fetch is wanted.
    func interest(of id: ID) -> RequestInterest? { handles[id]?.interest }

    /// Whether the request may still be sent: a reader wants it.
    func isWanted(_ id: ID) -> Bool { !isCancelled(id) && handles[id]?.interest.demand != nil }

    mutating func add(
        _ id: ID, task: Task<Void, Never>, request: OriginRequest, interest: RequestInterest,
        body: (any OriginBody)?
    ) {
        handles[id] = Handle(interest: interest, task: task, request: request, body: body)
    }

    /// The fetch is over; returns the request that the origin was asked last.
    mutating func remove(_ id: ID) -> OriginRequest? {
        let handle = handles.removeValue(forKey: id)
        handle?.lingerTimer?.cancel()
        handle?.parkingTimer?.cancel()
        return handle?.request
    }

    mutating func send(_ request: OriginRequest, for id: ID) { handles[id]?.request = request }

    /// The fetch reads from `body` now; false when it was canceled in the meantime.
    mutating func attach(_ body: any OriginBody, to id: ID) -> Bool {
        handles[id]?.body = body
        return handles[id]?.isCancelled == false
    }

    /// The fetch asks whether to go on: what resumed it has had its effect.
    mutating func goesOn(_ id: ID) { handles[id]?.isResumed = false }

    /// Leaves the body to a reader; false when the fetch was canceled.
    mutating func handOver(_ id: ID) -> Bool {
        guard handles[id]?.isCancelled == false else { return false }
        handles[id]?.body = nil
        handles[id]?.isHandedOver = true
        return true
    }

    /// Readers want more.
    mutating func resume(_ id: ID) -> Release {
        handles[id]?.lingerTimer?.cancel()
        handles[id]?.lingerTimer = nil
        handles[id]?.isResumed = true
        return Release(body: nil, parked: takeParked(id), parking: .over)
    }

    /// No reader wants it; `timer` ends it unless one comes back.
    mutating func linger(_ id: ID, until timer: Task<Void, Never>) { handles[id]?.lingerTimer = timer }

    /// Until its head arrives, a sent request keeps running, unless it still waits for a connection or other requests
    /// wait for its connection: breaking it off would waste the work under way.
    mutating func cancel(_ id: ID) -> Release? {
        handles[id]?.isCancelled = true
        guard let handle = handles[id] else { return nil }
        handle.lingerTimer?.cancel()
        return Release(
            interest: handle.isHandedOver ? nil : handle.interest, body: handle.body, parked: takeParked(id),
            parking: .over)
    }

    /// Parks the fetch until ``resume(_:)``, ``cancel(_:)`` or ``giveBack(_:)``.
    mutating func park(_ id: ID, continuation: CheckedContinuation<Parking, Never>, at elapsed: Duration) -> Parked {
        guard let handle = handles[id], !handle.isCancelled, !handle.isResumed else { return .refused }
        handles[id]?.parked = continuation
        guard handle.body != nil else { return .parked }
        handles[id]?.parkedSince = elapsed
        return handle.parkingTimer == nil ? .needsTimer : .parked
    }

    mutating func setParkingTimer(_ timer: Task<Void, Never>?, of id: ID) { handles[id]?.parkingTimer = timer }

    /// Since when the fetch has been parked; `nil` while it is not.
    func parkedSince(_ id: ID) -> Duration? { handles[id].flatMap { $0.parked == nil ? nil : $0.parkedSince } }

    /// Gives the connection of a parked fetch back.
    mutating func giveBack(_ id: ID) -> Release {
        defer { handles[id]?.body = nil }
        return Release(body: handles[id]?.body, parked: takeParked(id), parking: .givenBack)
    }

    private mutating func takeParked(_ id: ID) -> CheckedContinuation<Parking, Never>? {
        defer { handles[id]?.parked = nil }
        return handles[id]?.parked
    }
}
