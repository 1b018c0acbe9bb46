/// The task, request and body of a fetch that runs.
///
/// A value that ``FetchSchedule`` carries, and its owner guards by a lock. Bodies are canceled and continuations
/// resumed outside it: such work is returned as ``GenerationEffect``s.
struct FetchHandle: Sendable {
    /// How the wait of a parked fetch ended.
    enum Parking: Sendable {
        /// Its readers want more, or it was canceled.
        case over
        /// Its readers wanted nothing for the whole ``MediaCache/Configuration/parkingTime``, so the transfer was
        /// ended.
        case givenBack
    }

    /// The outcome of ``park(at:unpark:)``.
    enum Parked {
        /// It has to go on at once.
        case refused
        case parked
        /// It is parked, and a timer has to be started that gives its connection back.
        case needsTimer
    }

    /// Ends the wait of a parked fetch.
    typealias Unpark = @Sendable (Parking) -> Void

    /// How much its request is wanted.
    let interest: RequestInterest
    let task: Task<Void, Never>
    /// The request that the origin was asked last.
    var request: SharedRequest
    /// When something last arrived, or the request went on in another way.
    var lastProgress: Duration
    private(set) var isCancelled = false
    /// The body that it reads; `nil` while it has no connection.
    private var body: (any OriginBody)?
    private var unpark: Unpark?
    /// When it was last parked, by the monotonic clock.
    private var parkingBegan = Duration.zero
    private var parkingTimer: Task<Void, Never>?
    private var lingerTimer: Task<Void, Never>?
    private var isResumed = false
    /// Its body is a reader's now.
    private var isHandedOver = false

    init(
        task: Task<Void, Never>, request: SharedRequest, interest: RequestInterest, body: (any OriginBody)?,
        at elapsed: Duration
    ) {
        (self.task, self.request, self.interest, self.body) = (task, request, interest, body)
        lastProgress = elapsed
    }

    /// Whether the request may still be sent: a reader wants it.
    var isWanted: Bool { !isCancelled && interest.demand != nil }

    /// Since when the fetch has been parked; `nil` while it is not.
    var parkedSince: Duration? { unpark == nil ? nil : parkingBegan }

    /// The fetch is over.
    func end() {
        lingerTimer?.cancel()
        parkingTimer?.cancel()
    }

    /// The fetch reads from `body` now; false when it was canceled in the meantime.
    mutating func attach(_ body: any OriginBody) -> Bool {
        self.body = body
        return !isCancelled
    }

    /// Its response is lost, and another request may follow.
    mutating func detach() { body = nil }

    /// The fetch asks whether to go on: what resumed it has had its effect.
    mutating func goesOn(at elapsed: Duration) { (isResumed, lastProgress) = (false, elapsed) }

    /// Readers of this class want the fetch, or none does.
    func change(to demand: Demand?) -> [GenerationEffect] {
        guard !isHandedOver else { return [] }
        return interest.take(as: demand).map { [.tell($0)] } ?? []
    }

    /// Leaves the body to a reader; false when the fetch was canceled.
    mutating func handOver() -> Bool {
        guard !isCancelled else { return false }
        (body, isHandedOver) = (nil, true)
        return true
    }

    /// Readers want more.
    mutating func resume() -> [GenerationEffect] {
        lingerTimer?.cancel()
        (lingerTimer, isResumed) = (nil, true)
        return takeUnpark(.over)
    }

    /// No reader wants it; `timer` ends it unless one comes back.
    mutating func linger(until timer: Task<Void, Never>) { lingerTimer = timer }

    /// Until its head arrives, a sent request keeps running, unless it still waits for a connection or other requests
    /// wait for its connection: breaking it off would waste the work under way.
    mutating func cancel() -> [GenerationEffect] {
        isCancelled = true
        lingerTimer?.cancel()
        return change(to: nil) + endBody() + takeUnpark(.over)
    }

    /// Parks the fetch until ``resume()``, ``cancel()`` or ``giveBack()``.
    mutating func park(at elapsed: Duration, unpark: @escaping Unpark) -> Parked {
        guard !isCancelled, !isResumed else { return .refused }
        self.unpark = unpark
        guard body != nil else { return .parked }
        parkingBegan = elapsed
        return parkingTimer == nil ? .needsTimer : .parked
    }

    mutating func setParkingTimer(_ timer: Task<Void, Never>?) { parkingTimer = timer }

    /// Gives the connection of a parked fetch back.
    mutating func giveBack() -> [GenerationEffect] {
        defer { body = nil }
        return endBody() + takeUnpark(.givenBack)
    }

    private func endBody() -> [GenerationEffect] { body.map { [.end($0)] } ?? [] }

    private mutating func takeUnpark(_ parking: Parking) -> [GenerationEffect] {
        defer { unpark = nil }
        return unpark.map { [.unpark($0, parking)] } ?? []
    }
}

/// A request by reference: the values of a schedule are copied often.
final class SharedRequest: Sendable {
    let value: OriginRequest

    init(_ value: OriginRequest) { self.value = value }
}

/// The wait of a reader.
struct ParkedReader: Sendable {
    /// Ends the wait.
    let wake: @Sendable () -> Void
    let since: Duration
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
    case unpark(FetchHandle.Unpark, FetchHandle.Parking)
    /// A reader has to look again.
    case wake(@Sendable () -> Void)

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
