/// The requests, bodies and tasks of the fetches that run for a generation.
///
/// A value that its owner guards by a lock. Bodies are canceled and continuations resumed outside it: such work is
/// returned as ``GenerationEffect``s.
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

    /// What became of a fetch that wants to park.
    enum Parked {
        /// It has to go on at once.
        case refused
        case parked
        /// It is parked, and a timer has to be started that gives its connection back.
        case needsTimer
    }

    /// Ends the wait of a parked fetch.
    typealias Unpark = @Sendable (Parking) -> Void

    private struct Handle: Sendable {
        /// How much its request is wanted.
        let interest: RequestInterest
        let task: Task<Void, Never>
        /// The request that it sends to the origin.
        var request: OriginRequest
        /// The body that it reads; `nil` while it has no connection.
        var body: (any OriginBody)?
        /// When something last arrived, or the request went on in another way.
        var lastProgress: Duration
        var parked: Unpark?
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

    /// Whether the request may still be sent: a reader wants it.
    func isWanted(_ id: ID) -> Bool { !isCancelled(id) && handles[id]?.interest.demand != nil }

    mutating func add(
        _ id: ID, task: Task<Void, Never>, request: OriginRequest, interest: RequestInterest,
        body: (any OriginBody)?, at elapsed: Duration
    ) {
        handles[id] = Handle(
            interest: interest, task: task, request: request, body: body, lastProgress: elapsed)
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

    /// Something has arrived for the fetch, or its request has gone on in another way.
    mutating func noteProgress(of id: ID, at elapsed: Duration) { handles[id]?.lastProgress = elapsed }

    /// When the fetch last made progress; `nil` when it is over.
    func lastProgress(of id: ID) -> Duration? { handles[id]?.lastProgress }

    /// Its response is lost, and another request may follow.
    mutating func detach(_ id: ID) { handles[id]?.body = nil }

    /// Readers of this class want the fetch, or none does.
    mutating func change(_ id: ID, to demand: Demand?) -> [GenerationEffect] {
        guard let handle = handles[id], !handle.isHandedOver else { return [] }
        return handle.interest.take(as: demand).map { [.tell($0)] } ?? []
    }

    /// Leaves the body to a reader; false when the fetch was canceled.
    mutating func handOver(_ id: ID) -> Bool {
        guard handles[id]?.isCancelled == false else { return false }
        handles[id]?.body = nil
        handles[id]?.isHandedOver = true
        return true
    }

    /// Readers want more.
    mutating func resume(_ id: ID) -> [GenerationEffect] {
        handles[id]?.lingerTimer?.cancel()
        handles[id]?.lingerTimer = nil
        handles[id]?.isResumed = true
        return takeParked(id).map { [.unpark($0, .over)] } ?? []
    }

    /// No reader wants it; `timer` ends it unless one comes back.
    mutating func linger(_ id: ID, until timer: Task<Void, Never>) { handles[id]?.lingerTimer = timer }

    /// Until its head arrives, a sent request keeps running, unless it still waits for a connection or other requests
    /// wait for its connection: breaking it off would waste the work under way.
    mutating func cancel(_ id: ID) -> [GenerationEffect] {
        handles[id]?.isCancelled = true
        handles[id]?.lingerTimer?.cancel()
        return change(id, to: nil) + release(id, parking: .over)
    }

    /// Parks the fetch until ``resume(_:)``, ``cancel(_:)`` or ``giveBack(_:)``.
    mutating func park(_ id: ID, at elapsed: Duration, unpark: @escaping Unpark) -> Parked {
        guard let handle = handles[id], !handle.isCancelled, !handle.isResumed else { return .refused }
        handles[id]?.parked = unpark
        guard handle.body != nil else { return .parked }
        handles[id]?.parkedSince = elapsed
        return handle.parkingTimer == nil ? .needsTimer : .parked
    }

    mutating func setParkingTimer(_ timer: Task<Void, Never>?, of id: ID) { handles[id]?.parkingTimer = timer }

    /// Since when the fetch has been parked; `nil` while it is not.
    func parkedSince(_ id: ID) -> Duration? { handles[id].flatMap { $0.parked == nil ? nil : $0.parkedSince } }

    /// Gives the connection of a parked fetch back.
    mutating func giveBack(_ id: ID) -> [GenerationEffect] {
        defer { handles[id]?.body = nil }
        return release(id, parking: .givenBack)
    }

    private mutating func release(_ id: ID, parking: Parking) -> [GenerationEffect] {
        [handles[id]?.body.map { .end($0) }, takeParked(id).map { .unpark($0, parking) }].compactMap(\.self)
    }

    private mutating func takeParked(_ id: ID) -> Unpark? {
        defer { handles[id]?.parked = nil }
        return handles[id]?.parked
    }
}

/// What is left to do outside a generation's lock when a decision has been carried out.
///
/// No effect decides or waits, so it may be late: a task looks again, or a transfer ends that no fetch reads any more.
enum GenerationEffect: Sendable {
    /// The class in which a request is wanted has changed.
    case tell(RequestInterest.Notice)
    /// Nothing reads this body any more.
    case end(any OriginBody)
    /// The wait of a parked fetch is over.
    case unpark(RunningFetches.Unpark, RunningFetches.Parking)
    /// A reader has to look again.
    case wake(GenerationState.Wake)

    func perform() {
        switch self {
        case .tell(let notice): notice.tell()
        case .end(let body): body.cancel()
        case .unpark(let unpark, let parking): unpark(parking)
        case .wake(let wake): wake()
        }
    }
}

/// Makes the tasks of a generation's fetches; called under its lock.
protocol FetchTasks {
    /// Runs a fetch, which may begin at once.
    func run(
        _ id: FetchSchedule.FetchID, request: OriginRequest, interest: RequestInterest, answer: OriginAnswer?
    ) -> Task<Void, Never>
    /// Ends a fetch after a while, unless the task is canceled before.
    func linger(_ id: FetchSchedule.FetchID) -> Task<Void, Never>
}

/// Carries out what the schedule decides, under the lock under which it was decided.
///
/// A fetch is therefore registered, canceled, resumed, and wanted in a class in the order of these decisions, and no
/// decision finds a fetch that does not know of the ones before.
extension GenerationState {
    /// Carries `effects` out, and leaves in `outbox` what has to be done outside the lock.
    mutating func carryOut(
        _ effects: [FetchSchedule.Effect], with tasks: some FetchTasks, at elapsed: Duration,
        leaving outbox: inout [GenerationEffect]
    ) {
        for effect in effects {
            switch effect {
            case .start(let id, _): start(id, with: tasks, at: elapsed, leaving: &outbox)
            case .demand(let id, let demand): outbox += running.change(id, to: demand)
            case .resume(let id): outbox += running.resume(id)
            case .linger(let id): running.linger(id, until: tasks.linger(id))
            case .cancel(let id): outbox += running.cancel(id)
            case .wake(let reader): outbox += wake(reader).map { [.wake($0)] } ?? []
            }
        }
    }

    /// Begins a fetch, with the first response if that is here already.
    mutating func start(
        _ id: FetchID, answer: OriginAnswer? = nil, interest: RequestInterest? = nil, with tasks: some FetchTasks,
        at elapsed: Duration, leaving outbox: inout [GenerationEffect]
    ) {
        guard let fetch = schedule.fetches[id], fetch.phase != .ending else {
            // Not wanted any more: its readers look again.
            if let answer { outbox.append(.end(answer.response.body)) }
            let ended = schedule.end(id, reachedEnd: false, failure: nil)
            return carryOut(ended, with: tasks, at: elapsed, leaving: &outbox)
        }
        let request = ownRequest(for: id) ?? OriginRequest(url: response.record.url)
        let interest = interest ?? RequestInterest(fetch.demand)
        if let notice = interest.take(as: fetch.demand) { outbox.append(.tell(notice)) }
        running.add(
            id, task: tasks.run(id, request: request, interest: interest, answer: answer), request: request,
            interest: interest, body: answer?.response.body, at: elapsed)
    }
}
