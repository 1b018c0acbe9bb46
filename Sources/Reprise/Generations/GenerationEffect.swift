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
        _ id: FetchSchedule.FetchID, request: OriginRequest, interest: RequestInterest, response: FetchResponse?
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
        _ id: FetchID, response: FetchResponse? = nil, interest: RequestInterest? = nil, with tasks: some FetchTasks,
        at elapsed: Duration, leaving outbox: inout [GenerationEffect]
    ) {
        guard let fetch = schedule.fetches[id], fetch.phase != .ending else {
            // Not wanted any more: its readers look again.
            if let response { outbox.append(.end(response.response.body)) }
            let ended = schedule.end(id, reachedEnd: false, failure: nil)
            return carryOut(ended, with: tasks, at: elapsed, leaving: &outbox)
        }
        let request = ownRequest(for: id) ?? OriginRequest(url: self.response.record.url)
        let interest = interest ?? RequestInterest(fetch.demand)
        if let notice = interest.take(as: fetch.demand) { outbox.append(.tell(notice)) }
        running.add(
            id, task: tasks.run(id, request: request, interest: interest, response: response), request: request,
            interest: interest, body: response?.response.body, at: elapsed)
    }
}
