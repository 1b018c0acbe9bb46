import HTTPSemantics

/// Fetches: their requests and bodies, and what is left of a response.
extension GenerationState {
    /// Whether a request for the rest of a fetch surely continues this generation.
    func canGoOn(_ policy: GenerationPolicy) -> Bool {
        schedule.rangesSupported == true && !schedule.isFrozen && response.isJoinable(policy)
    }

    /// The request of the reader on whose behalf a fetch began.
    private func ownRequest(for id: FetchID) -> SharedRequest? {
        schedule.fetches[id]?.owner.flatMap { schedule.readers[$0]?.request }
    }

    /// Begins a fetch, with the first response if that is here already.
    mutating func start(
        _ id: FetchID, answer: OriginAnswer? = nil, interest: RequestInterest? = nil, with tasks: some FetchTasks,
        at elapsed: Duration
    ) {
        guard let fetch = schedule.fetches[id], fetch.phase != .ending else {
            // Not wanted any more: its readers look again.
            if let answer { leave([.end(answer.response.body)]) }
            return carryOut(schedule.end(id, reachedEnd: false, failure: nil), with: tasks, at: elapsed)
        }
        let request = ownRequest(for: id) ?? SharedRequest(OriginRequest(url: response.record.url))
        let interest = interest ?? RequestInterest(fetch.demand)
        if let notice = interest.take(as: fetch.demand) { leave([.tell(notice)]) }
        let task = tasks.run(id, request: request.value, interest: interest, answer: answer)
        schedule.fetches[id]?.handle = FetchHandle(
            task: task, request: request, interest: interest, body: answer?.response.body, at: elapsed)
    }

    /// Chooses the request for a fetch: that of its owner or, if the owner has left, that of the reader who began to
    /// wait last.
    mutating func chooseRequest(for id: FetchID) -> OriginRequest? {
        let waiting = schedule.readers.filter { $0.value.waitingOn == id }.max { $0.key.number < $1.key.number }
        guard let request = ownRequest(for: id) ?? waiting?.value.request else { return askedRequest(of: id) }
        schedule.fetches[id]?.handle?.request = request
        return request.value
    }

    /// The request that the origin was asked last.
    func askedRequest(of id: FetchID) -> OriginRequest? { schedule.fetches[id]?.handle?.request.value }

    /// Whether the fetch was canceled, or is over.
    func isCancelled(_ id: FetchID) -> Bool { schedule.fetches[id]?.handle?.isCancelled ?? true }

    /// The rest of a fetch's range, or `nil` when it is canceled or has nothing left to bring.
    func rest(of id: FetchID) -> Range<Int64>? {
        guard let fetch = schedule.fetches[id], !isCancelled(id), fetch.cursor < fetch.limit ?? .max else { return nil }
        return fetch.cursor..<(fetch.limit ?? .max)
    }

    /// Whether the request of a fetch should be sent now that its turn has come.
    ///
    /// See ``FetchSchedule/claim(_:joinDistance:)``; `distance` is ``OriginTimings/joinDistance(for:)``.
    mutating func claim(_ id: FetchID, joinDistance distance: Int64, policy: GenerationPolicy) -> Bool {
        // A request that was never sent must not affect the other fetches.
        guard schedule.fetches[id]?.handle?.isWanted == true else { return false }
        return schedule.claim(id, joinDistance: joinDistance(distance, policy))
    }

    /// The request of a fetch has gone on, and may take its time again.
    mutating func noteProgress(of id: FetchID, at elapsed: Duration) {
        schedule.fetches[id]?.handle?.lastProgress = elapsed
    }

    /// The fetch reads from `body` now; false when it was canceled in the meantime.
    mutating func attach(_ body: any OriginBody, to id: FetchID, at elapsed: Duration) -> Bool {
        schedule.responseArrived(id)
        noteProgress(of: id, at: elapsed)
        return schedule.fetches[id]?.handle?.attach(body) ?? false
    }

    /// The response of the fetch is lost; another request may follow.
    mutating func detach(_ id: FetchID, at elapsed: Duration) {
        schedule.responseLost(id)
        schedule.fetches[id]?.handle?.detach()
        noteProgress(of: id, at: elapsed)
    }

    /// The response of a fetch is partial; see ``FetchSchedule/takeOver(_:isFirstProof:)``.
    mutating func takeOver(_ id: FetchID, isFirstProof: Bool) {
        decide(schedule.takeOver(id, isFirstProof: isFirstProof))
    }

    /// `count` bytes at the fetch's cursor are on disk; `nil` asks only whether to go on.
    mutating func advance(_ id: FetchID, by count: Int64?, at elapsed: Duration) -> FetchSchedule.Verdict {
        schedule.fetches[id]?.handle?.goesOn(at: elapsed)
        let (verdict, decided) = if let count { schedule.advance(id, by: count) } else { schedule.verdict(id) }
        decide(decided)
        return verdict
    }

    /// The fetch is over; readers whom `failure` does not concern ask again, each with a request of its own.
    mutating func end(_ id: FetchID, reachedEnd: Bool, failure: RepriseError?, isShared: Bool) {
        let handle = schedule.fetches[id]?.handle
        handle?.end()
        if failure != nil { schedule.stopReadingAhead() }
        decide(
            schedule.end(id, reachedEnd: reachedEnd, failure: failure) { reader in
                guard let failure, let asked = handle?.request.value, let own = reader.request?.value else {
                    return true
                }
                return failure.concerns(own, asked: asked, isShared: isShared)
            })
    }

    /// Ends a fetch whose request failed, and returns whether it had been canceled; `nil` if a reader waits for its
    /// bytes, and a retry is due.
    ///
    /// One step: a reader that began to wait between the question and the end would get the error of a request that was
    /// never repeated.
    mutating func endUnlessAwaited(_ id: FetchID) -> Bool? {
        let isCancelled = isCancelled(id)
        guard isCancelled || !schedule.isAwaited(id) else { return nil }
        if !isCancelled { schedule.stopReadingAhead() }
        end(id, reachedEnd: false, failure: nil, isShared: false)
        return isCancelled
    }

    /// The linger time of the fetch is over.
    mutating func lingerExpired(_ id: FetchID) { decide(schedule.lingerExpired(id)) }

    /// Parks a fetch that has the bytes that readers want.
    mutating func park(
        _ id: FetchID, at elapsed: Duration, unpark: @escaping FetchHandle.Unpark
    ) -> FetchHandle.Parked {
        schedule.fetches[id]?.handle?.park(at: elapsed, unpark: unpark) ?? .refused
    }

    mutating func setParkingTimer(_ timer: Task<Void, Never>, of id: FetchID) {
        schedule.fetches[id]?.handle?.setParkingTimer(timer)
    }

    /// Gives the connection of a fetch back that has been parked for `limit`; returns the time until the next look,
    /// `nil` when there is nothing to look at.
    mutating func checkParking(
        _ id: FetchID, limit: Duration, policy: GenerationPolicy, at elapsed: Duration
    ) -> Duration? {
        let since = schedule.fetches[id]?.handle?.parkedSince
        if let since, elapsed - since < limit { return limit - (elapsed - since) }
        schedule.fetches[id]?.handle?.setParkingTimer(nil)
        if since != nil, canGoOn(policy) { leave(schedule.fetches[id]?.handle?.giveBack() ?? []) }
        return nil
    }

    // MARK: - Waits that take too long

    /// A fetch that readers waited for, and that has made no progress for too long.
    struct Stall: Sendable {
        /// The first byte that a reader waited for.
        var position: Int64
        var time: Duration
        fileprivate var readers: [ReaderID]
    }

    /// Gives up fetches that have made no progress for `limit` while readers waited for them.
    ///
    /// Players fetch the hole for themselves; others begin another fetch. `mayRest` says whether a fetch of that class,
    /// for a reader's request, may stand still for any time.
    mutating func endOverdueWaits(
        _ limit: Duration, at elapsed: Duration, mayRest: (Demand, OriginRequest?) -> Bool
    ) -> (stalls: [Stall], rest: Duration?) {
        var rest: Duration?
        var stalls: [FetchID: Stall] = [:]
        for (id, reader) in schedule.readers {
            guard let parked = reader.parked, let fetch = reader.waitingOn else { continue }
            let since = max(parked.since, schedule.fetches[fetch]?.handle?.lastProgress ?? .zero)
            if mayRest(schedule.fetches[fetch]?.demand ?? .playing, reader.request?.value) { continue }
            let time = elapsed - since
            guard time >= limit else {
                rest = min(rest ?? limit, limit - time)
                continue
            }
            var stall = stalls[fetch] ?? Stall(position: reader.delivered, time: time, readers: [])
            (stall.position, stall.time) = (min(stall.position, reader.delivered), max(stall.time, time))
            stall.readers.append(id)
            stalls[fetch] = stall
        }
        for (fetch, stall) in stalls {
            decide(
                schedule.abandon(
                    fetch, bypassing: stall.readers.filter { schedule.readers[$0]?.demand == .playing }))
        }
        return (Array(stalls.values), rest)
    }

    // MARK: - What is left of a response

    /// Bytes that are dropped of a response at most, where a reader could ask for its own.
    private static let remainderReach: Int64 = 64 << 10

    /// Leaves the rest of a response to the reader that comes to it first.
    ///
    /// False if there is no reader, or if each can ask for its own, unless a player waits for it and `toWaiting` is
    /// true.
    mutating func handOver(
        _ rest: OriginAnswer, of id: FetchID, toWaiting: Bool, policy: GenerationPolicy
    ) -> Bool {
        guard let start = rest.placement?.start else { return false }
        var reach = Int64.max
        if response.isJoinable(policy) {
            reach = Self.remainderReach
            let near = start...start + reach
            let isAwaited = schedule.readers.values.contains { reader in
                reader.waitingOn == id && reader.demand == .playing && near.contains(reader.delivered)
            }
            guard toWaiting, isAwaited else { return false }
        }
        guard remainder == nil, !schedule.readers.isEmpty, handOver(id) else { return false }
        remainder = (rest, reach)
        return true
    }

    /// Leaves the body of a fetch's response to another owner, who ends it; false when the fetch was canceled.
    mutating func handOver(_ id: FetchID) -> Bool { schedule.fetches[id]?.handle?.handOver() ?? false }

    /// The rest of a response that brings the byte at `position`, for one reader.
    mutating func takeRemainder(at position: Int64) -> OriginAnswer? {
        guard let (rest, reach) = remainder, let start = rest.placement?.start, position >= start,
            position - start <= reach
        else { return nil }
        remainder = nil
        return rest
    }

    /// No reader comes for it any more.
    mutating func dropRemainder() {
        if let rest = remainder?.answer { leave([.end(rest.response.body)]) }
        remainder = nil
    }
}
