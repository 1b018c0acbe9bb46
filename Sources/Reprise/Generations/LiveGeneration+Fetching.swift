import ByteRanges
import HTTPSemantics
import Locks

/// What a fetch asks and reports.
extension LiveGeneration {
    /// The rest of a fetch's range, or `nil` when it is cancelled or has nothing left to bring.
    func remainder(of id: FetchSchedule.FetchID) -> Range<Int64>? {
        state.withLock { state in
            guard let fetch = state.machine.fetches[id], state.handles[id]?.isCancelled == false,
                fetch.cursor < fetch.limit ?? .max
            else { return nil }
            return fetch.cursor..<(fetch.limit ?? .max)
        }
    }

    /// Whether the request of a fetch should be sent now that its turn has come: see
    /// ``FetchSchedule/claim(_:patience:)``.
    func claim(_ id: FetchSchedule.FetchID) -> Bool {
        state.withLock { state in
            // One that is not sent after all takes over nothing from the others.
            guard let handle = state.handles[id], !handle.isCancelled, handle.interest.demand != nil else {
                return false
            }
            let patience = patience(state)
            return state.machine.claim(id, patience: patience)
        }
    }

    /// The next byte that the fetch is to bring; `nil` when it is over.
    func position(of id: FetchSchedule.FetchID) -> Int64? { state.withLock { $0.machine.fetches[id]?.cursor } }

    /// The request that the fetch sends to the origin now; `nil` when it is over.
    func request(for id: FetchSchedule.FetchID) -> OriginRequest? {
        state.withLock { $0.chooseRequest(for: id) }
    }

    /// What the origin was asked last.
    func askedRequest(of id: FetchSchedule.FetchID) -> OriginRequest? { state.withLock { $0.handles[id]?.request } }

    /// The fetch reads from `body` now.
    ///
    /// False when it was cancelled in the meantime.
    func attach(_ body: any OriginBody, to id: FetchSchedule.FetchID) -> Bool {
        state.withLock { state in
            state.machine.responseArrived(id)
            state.handles[id]?.body = body
            return state.handles[id]?.isCancelled == false
        }
    }

    func learn(_ placement: BodyPlacement) {
        state.withLock {
            $0.machine.learn(completeLength: placement.completeLength, rangesSupported: placement.rangesSupported)
        }
    }

    /// A request beyond the end told the length, which was not known; false if the stored bytes contradict it.
    func learnEnd(_ length: Int64?) -> Bool {
        state.withLock { state in
            guard let length, state.machine.completeLength == nil,
                state.machine.stored.bounds?.upperBound ?? 0 <= length
            else { return false }
            state.machine.learn(completeLength: length, rangesSupported: nil)
            return true
        }
    }

    /// The parts of `range` that the fetch should write: inside its limit, not stored yet.
    func writable(_ range: Range<Int64>, for id: FetchSchedule.FetchID) -> (
        cursor: Int64, limit: Int64, holes: [Range<Int64>]
    ) {
        state.withLock { state in
            guard let fetch = state.machine.fetches[id] else { return (range.upperBound, range.upperBound, []) }
            let limit = fetch.limit ?? .max
            let lower = max(range.lowerBound, fetch.cursor)
            let upper = min(range.upperBound, limit)
            guard lower < upper else { return (fetch.cursor, limit, []) }
            return (fetch.cursor, limit, state.machine.stored.holes(in: lower..<upper))
        }
    }

    func advance(_ id: FetchSchedule.FetchID, by count: Int64) -> FetchSchedule.Verdict {
        let (verdict, effects) = state.withLock { state in
            state.handles[id]?.isResumed = false
            return state.machine.advance(id, by: count)
        }
        perform(effects)
        engine.progress.changed(key)
        return verdict
    }

    func verdict(_ id: FetchSchedule.FetchID) -> FetchSchedule.Verdict {
        let (verdict, effects) = state.withLock { state in
            state.handles[id]?.isResumed = false
            return state.machine.verdict(id)
        }
        perform(effects)
        return verdict
    }

    /// Waits until readers want more of the fetch, or it is cancelled, or its connection was given back.
    ///
    /// That happens once it has been parked for the whole parking time: its transfer is cancelled, and a request for
    /// the rest takes its place when readers want more. Only where such a request can continue the generation.
    func parkFetch(_ id: FetchSchedule.FetchID) async -> Parking {
        await withCheckedContinuation { continuation in
            let isParked = state.withLock { state in
                guard let handle = state.handles[id], !handle.isCancelled, !handle.isResumed else { return false }
                state.handles[id]?.parked = continuation
                guard handle.body != nil else { return true }
                state.handles[id]?.parkedSince = elapsed
                if handle.parkingTimer == nil { state.handles[id]?.parkingTimer = makeParkingTimer(id) }
                return true
            }
            if !isParked { continuation.resume(returning: .over) }
        }
    }

    /// One timer for many short stops: it looks how long the last one has been lasting.
    private func makeParkingTimer(_ id: FetchSchedule.FetchID) -> Task<Void, Never> {
        let (clock, limit) = (engine.configuration.clock, engine.configuration.parkingTime)
        return Task(executorPreference: DiskExecutor.shared) { [weak self] in
            var rest: Duration? = limit
            while let time = rest, (try? await clock.sleep(time)) != nil { rest = self?.checkParking(id, limit) }
        }
    }

    /// The time until the next look; `nil` when there is nothing to look at.
    private func checkParking(_ id: FetchSchedule.FetchID, _ limit: Duration) -> Duration? {
        typealias Found = (rest: Duration?, handle: FetchHandle?)
        let (rest, handle) = state.withLock { state -> Found in
            let now = elapsed
            if let handle = state.handles[id], handle.parked != nil, !Task.isCancelled {
                let rest = limit - (now - handle.parkedSince)
                if rest > .zero { return (rest, nil) }
                if Self.canGoOn(state, generationPolicy) {
                    state.handles[id]?.parked = nil
                    state.handles[id]?.body = nil
                    state.handles[id]?.parkingTimer = nil
                    return (nil, handle)
                }
            }
            state.handles[id]?.parkingTimer = nil
            return (nil, nil)
        }
        handle?.body?.cancel()
        handle?.parked?.resume(returning: .givenBack)
        return rest
    }

    /// Ends a fetch whose request failed; `nil` if a reader waits for its bytes, and a retry is due.
    ///
    /// One step under the lock: a reader that began to wait between the question and the end would get the error of a
    /// request that was never repeated. Returns whether the fetch had been cancelled.
    func endUnlessAwaited(_ id: FetchSchedule.FetchID) -> Bool? {
        let outcome = state.withLock { state -> (isCancelled: Bool, effects: [FetchSchedule.Effect])? in
            let isCancelled = state.handles[id]?.isCancelled ?? true
            guard isCancelled || !state.machine.isAwaited(id) else { return nil }
            return (isCancelled, state.end(id, reachedEnd: false, failure: nil, isShared: false))
        }
        guard let outcome else { return nil }
        perform(outcome.effects)
        return outcome.isCancelled
    }

    func isCancelled(_ id: FetchSchedule.FetchID) -> Bool {
        state.withLock { $0.handles[id]?.isCancelled ?? true }
    }

    func end(_ id: FetchSchedule.FetchID, reachedEnd: Bool, failure: RepriseError?) {
        let isShared = engine.configuration.reuse.isShared
        perform(state.withLock { $0.end(id, reachedEnd: reachedEnd, failure: failure, isShared: isShared) })
        engine.progress.changed(key)
    }

    /// The origin has another representation: readers end at their first hole, new reads ask the origin.
    func replace(reason: String) {
        perform(state.withLock { $0.machine.freeze(because: .replaced) })
        engine.reporter.tell(.generationReplaced(key, reason: reason))
        onReplaced(self, reason)
    }

    /// The cache closes: fetches end, keeping what arrived; readers end at their next hole.
    func stopFetches() async {
        let (effects, tasks) = state.withLock { state in
            (state.machine.freeze(because: .closed), state.handles.values.compactMap(\.task))
        }
        perform(effects)
        dropRemainder()
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }
}
