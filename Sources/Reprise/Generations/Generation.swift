import ByteRanges
import HTTPSemantics
import Primitives

/// A generation in use: its state under a lock, its bytes on disk, its fetches.
///
/// ``handle(_:)`` is the only way to change the state. It carries out what an event decides under the lock, and
/// performs the effects outside it, in the order of the decisions: bodies are canceled and continuations resumed there.
/// Lock order: the state before the leaves (ledger, quota, reporter, timings, interests, recorder's pending).
final class Generation: Sendable {
    typealias ReaderID = FetchSchedule.ReaderID
    typealias FetchID = FetchSchedule.FetchID

    /// Decrypted bytes stay in memory until the client has taken them, and twice while they are written to its socket.
    private static let largestOpenedPiece: Int64 = 2 * Chunk.alignment

    let id: Int64
    let key: CacheKey
    let url: ResourceURL
    let engine: Engine
    let store: Store
    let bytes: StoredBytes
    private let state: StateMachine<GenerationState, GenerationEffect>
    /// Called when the origin has another representation.
    let onReplaced: @Sendable (Generation) -> Void

    init(
        record: GenerationRecord, bytes: StoredBytes, engine: Engine, store: Store, isConfirmed: Bool,
        evidence: SplicingEvidence = SplicingEvidence(),
        onReplaced: @escaping @Sendable (Generation) -> Void
    ) {
        id = record.id
        key = record.key
        url = record.url
        self.engine = engine
        self.store = store
        self.bytes = bytes
        self.onReplaced = onReplaced
        var schedule = FetchSchedule(
            completeLength: record.completeLength, rangesSupported: record.rangesSupported, stored: bytes.ranges)
        if bytes.isSealed { schedule.largestPiece = Self.largestOpenedPiece }
        if store.problem != nil { _ = schedule.closeStore() }
        let policy = engine.configuration.reuse
        let response = StoredResponse(
            record, policy: policy, isConfirmed: isConfirmed, at: engine.clock.elapsed())
        state = StateMachine(
            GenerationState(
                schedule: schedule, response: response, origin: OriginHealth(url: record.url, policy: policy),
                evidence: evidence, at: engine.clock.elapsed()))
        settleSplicing()
    }

    var moment: Moment { engine.clock.moment }
    var elapsed: Duration { engine.clock.elapsed() }
    /// The time that waits and progress are measured by: while the device sleeps, no origin can answer.
    var awake: Duration { engine.clock.awake.elapsed() }
    var generationPolicy: GenerationPolicy { engine.configuration.generationPolicy }

    /// Answers a question about the state, without changing it.
    func ask<Answer>(_ question: (borrowing GenerationState) -> Answer) -> Answer { state.withLock { question($0) } }

    /// The metadata with the latest length and range support.
    var information: ContentInformation { state.withLock { $0.information(generationPolicy) } }
    /// The metadata and the stored bytes, at one moment.
    var content: (information: ContentInformation, ranges: ByteRangeSet) {
        state.withLock { ($0.information(generationPolicy), $0.schedule.stored) }
    }

    /// Handles an event: changes the state, and performs what that decides.
    @discardableResult
    func handle<Result: Sendable>(_ event: (inout GenerationState) -> Result) -> Result {
        state.update(performing: { $0.perform() }) { state, outbox in
            let result = event(&state)
            outbox += state.settle(with: self, at: awake)
            return result
        }
    }

    // MARK: - Readers

    /// Begins a read; `nil` if this generation cannot serve it and a new response must.
    func openReader(_ wanted: ReadRequest) throws(RepriseError) -> OpenedReader? {
        let (joinDistance, now) = (engine.timings.joinDistance(for: url.authority), elapsed)
        settleSplicing()
        let result: Result<OpenedReader?, RepriseError> = handle { state in
            guard !state.schedule.isFrozen || state.stillServes(wanted.range, at: now, in: wanted.play) else {
                return .success(nil)
            }
            reopenStore(&state, for: wanted.origin)
            do throws(RepriseError) {
                return .success(
                    try state.openReader(
                        wanted.range, for: wanted.origin, joinDistance: joinDistance, policy: generationPolicy,
                        at: now))
            } catch {
                return .failure(error)
            }
        }
        let opened = try result.get()
        if let opened {
            if wanted.mayAsk(engine.configuration.reuse) {
                settleReadAhead(for: wanted.origin)
            } else {
                // Fetches nothing on its behalf that it does not come to itself.
                handle { $0.schedule.stopReadingAhead(of: opened.id) }
            }
        }
        return opened
    }

    func noteUse() { store.recorder.noteUse(key) }

    /// Reopens a store that failed some time ago.
    ///
    /// A download tries at once, because it has waited for room itself.
    private func reopenStore(_ state: inout GenerationState, for request: OriginRequest) {
        guard state.schedule.isStoreClosed, store.breaker.reason == nil,
            state.disk.mayTryAgain(at: elapsed) || state.disk.lacksRoom && request.demand == .download
        else { return }
        state.schedule.reopenStore()
    }

    /// Takes over the response that began this generation: the fetch fills from `placement.start` on behalf of the
    /// first reader.
    ///
    /// `interest` is that of the request that the response answers.
    func adopt(
        _ answer: OriginAnswer, at placement: BodyPlacement, spec: RangeSpec?, request: OriginRequest,
        interest: RequestInterest?
    ) -> OpenedReader? {
        let date = moment.date
        let opened = handle { state in
            state.target.found(answer.response)
            state.settleAhead(at: date)
            let (opened, fetch) = state.adopt(placement, for: spec, of: request, policy: generationPolicy)
            state.start(fetch, answer: answer, interest: interest, with: self, at: awake)
            return opened
        }
        if opened != nil { settleReadAhead(for: request) }
        return opened
    }

    /// What `reader` does next, with a lease on the piece that it gets.
    func nextStep(of reader: ReaderID) -> (next: FetchSchedule.Next, lease: Lease?) {
        let distance = engine.timings.joinDistance(for: url.authority)
        return handle { state in
            let next = state.next(reader, joinDistance: distance, policy: generationPolicy)
            // Under the lock under which extents are evicted: between choice and lease nothing may vanish.
            guard case .piece(let range, _) = next else { return (next, nil) }
            return (next, bytes.file.leases.take(range))
        }
    }

    /// Waits until `reader` has to look again.
    func wait(_ reader: ReaderID) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                handle { state in
                    // A later cancellation finds the reader; an earlier one is detected here.
                    state.park(reader, at: awake, isCancelled: Task.isCancelled) { continuation.resume() }
                }
            }
        } onCancel: {
            handle { $0.wake(reader) }
        }
    }

    /// Gives up fetches that have made no progress for `limit` while readers waited for them; returns the time until
    /// that may happen to another one, `nil` if no reader waits.
    func endOverdueWaits(_ limit: Duration) -> Duration? {
        let authority = url.authority
        let (stalls, rest) = handle { state in
            state.endOverdueWaits(limit, at: awake) { demand, request in
                guard demand < .playing else { return false }
                let isPaced = demand == .download && (engine.pace.rate != nil || request?.context.errand != nil)
                return isPaced || engine.precedence.isYielding(at: authority)
            }
        }
        for stall in stalls {
            engine.reporter.tell(.fetchStalled(key, position: stall.position, after: stall.time))
        }
        return rest
    }

    /// The beginning of `spec`, at most `count` bytes, if all of `spec` is stored and verified.
    ///
    /// This path never waits. `isUsable` allows reuse at any age. `isFinal` also rules out requests to the origin.
    func hit(_ spec: RangeSpec?, atMost count: Int64, isUsable: Bool, isFinal: Bool) -> StoredHit? {
        guard !bytes.isSealed else { return nil }
        let moment = moment
        let found = state.withLock { state -> StoredHit? in
            // To open the file may wait for the disk.
            guard let range = state.hit(spec, isUsable: isUsable, isFinal: isFinal, at: moment),
                let file = bytes.file.opened
            else { return nil }
            state.response.noteUse(at: moment.elapsed)
            let first = range.lowerBound..<range.lowerBound + min(count, range.upperBound - range.lowerBound)
            return StoredHit(
                region: StoredRegion(range: first, of: self, openFile: file), range: range,
                information: state.information(generationPolicy))
        }
        guard let found, !found.region.isCutOff() else { return nil }
        return found
    }

    /// `range`, if it is stored and verified; `file` is the open data file.
    func storedRegion(_ range: Range<Int64>, in file: any OpenFile) -> StoredRegion? {
        let now = elapsed
        let region = state.withLock { state -> StoredRegion? in
            guard !range.isEmpty, state.schedule.verified.contains(range) else { return nil }
            state.response.noteUse(at: now)
            return StoredRegion(range: range, of: self, openFile: file)
        }
        guard let region, !region.isCutOff() else { return nil }
        return region
    }

    // MARK: - Reading ahead

    /// From now on fetches run ahead of players as `ahead` says.
    func readAhead(_ ahead: FetchSchedule.Ahead) {
        let date = moment.date
        handle { state in
            state.setReadAhead(ahead, at: date)
            state.startAhead(generationPolicy)
        }
    }

    // MARK: - Fetches

    /// Updates the length and range support from a response of the origin.
    func learn(_ placement: BodyPlacement) {
        let now = elapsed
        handle { $0.learn(placement, at: now) }
    }

    /// Changes what is known of the URL to which a redirect led.
    func changeTarget<Outcome: Sendable>(_ change: (inout KeptTarget) -> Outcome) -> Outcome {
        let date = moment.date
        return handle { state in
            defer { state.settleAhead(at: date) }
            return change(&state.target)
        }
    }

    /// Waits until readers want more of the fetch, or it is canceled, or its connection was given back.
    ///
    /// That happens once it has been parked for the whole parking time: its transfer is canceled, and a request for the
    /// rest takes its place when readers want more. Only where such a request can continue the generation.
    func parkFetch(_ id: FetchID) async -> FetchHandle.Parking {
        await withCheckedContinuation { continuation in
            let parked = handle { state in
                let parked = state.park(id, at: elapsed) { continuation.resume(returning: $0) }
                if case .needsTimer = parked { state.setParkingTimer(makeParkingTimer(id), of: id) }
                return parked
            }
            if case .refused = parked { continuation.resume(returning: .over) }
        }
    }

    /// One timer serves many short waits: when it fires, it checks how long the current one has lasted.
    private func makeParkingTimer(_ id: FetchID) -> Task<Void, Never> {
        let (clock, limit) = (engine.clock, engine.configuration.parkingTime)
        return Task(priority: .userInitiated) { [weak self] in
            var rest: Duration? = limit
            while let time = rest, (try? await clock.sleep(time)) != nil { rest = self?.checkParking(id, limit: limit) }
        }
    }

    private func checkParking(_ id: FetchID, limit: Duration) -> Duration? {
        handle { $0.checkParking(id, limit: limit, policy: generationPolicy, at: elapsed) }
    }

    func end(_ id: FetchID, reachedEnd: Bool, failure: RepriseError?) {
        let isShared = engine.configuration.reuse.isShared
        handle { state in
            state.end(id, reachedEnd: reachedEnd, failure: failure, isShared: isShared)
            state.startAhead(generationPolicy)
        }
        engine.progress.changed(key)
        if failure != nil { giveUpReplacing() }
        // Now that it is whole.
        if ask({ $0.former != nil && $0.schedule.isStored(nil) }) { store.recorder.note(self, bytes: 0) }
    }

    // MARK: - Bytes

    func markVerified(_ range: Range<Int64>) { handle { $0.schedule.markVerified(range) } }

    /// Turns these ranges into holes; returns how many stored bytes they had.
    @discardableResult
    func makeHoles(_ ranges: [Range<Int64>]) -> Int64 { handle { $0.schedule.discard(ranges) } }

    /// Stops storing; readers bypass the store.
    ///
    /// New readers try the store again after `pause`, unless it is `nil`.
    func closeStore(reason: String, because kind: BypassReason = .disk, for pause: Duration? = nil) {
        let now = elapsed
        handle { $0.closeStore(for: pause, lackingRoom: kind == .room, at: now) }
        engine.reporter.tell(.storeBypassed(key, reason: reason), because: kind)
    }

    /// Takes the extents out that are best evicted to free about `count` bytes, none of which a part is `kept`; nothing
    /// reads or writes there until ``StoredBytes/endPunching(_:)``.
    func takeExtents(freeing count: Int64, kept: ByteRangeSet) -> [Range<Int64>] {
        handle { state in
            let victims = state.schedule.extents(freeing: count, leased: bytes.file.leases.ranges, kept: kept)
            // Leases are taken and holes found under the same lock, so nothing reads or writes there now.
            state.schedule.evict(victims)
            bytes.beginPunching(victims)
            return victims
        }
    }

    // MARK: - A host that splices

    /// Notes another representation of the same URL, and remembers the host if that shows that it splices.
    func note(_ other: SplicingEvidence.Sighting) {
        let now = elapsed
        guard handle({ $0.note(other, at: now) }) else { return }
        engine.splicing.note(other.url)
        engine.reporter.tell(.hostSplices(key, host: other.url.authority))
    }

    /// Finds out whether its host is known to splice.
    ///
    /// Only of media whose end is known, and that fit into the store; files of streams are fetched whole anyway.
    private func settleSplicing() {
        guard !engine.splicing.isEmpty else { return }
        let record = record
        let isSpliced =
            engine.splicing.contains(record.finalURL ?? url) && record.isMedia && record.role == nil
            && record.completeLength.map { $0 <= min(store.entryLimit, store.quota.limit) } == true
        let date = moment.date
        handle { state in
            state.isSpliced = isSpliced
            state.settleAhead(at: date)
        }
    }

    /// The cache closes: fetches end, keeping what arrived; readers end at their next hole.
    func stopFetches() async {
        let tasks = handle { state in
            state.stop(because: .closed, isRemoved: false)
            return state.schedule.fetches.values.compactMap(\.handle?.task)
        }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }
}

extension Generation: FetchTasks {
    func run(
        _ id: FetchID, request: OriginRequest, interest: RequestInterest, answer: OriginAnswer?
    ) -> Task<Void, Never> {
        let run = FetchRun(id: id, generation: self, request: request, interest: interest)
        engine.fetchesUnderWay.withLock { $0 += 1 }
        request.context.tally?.begin()
        return DiskQueue.shared.task {
            await run.run(answer)
            request.context.tally?.end()
            await run.engine.holdLiveShare(after: self)
            run.engine.fetchesUnderWay.withLock { $0 -= 1 }
        }
    }

    func linger(_ id: FetchID) -> Task<Void, Never> {
        let (clock, linger) = (engine.clock, engine.configuration.linger)
        return Task(priority: .userInitiated) {
            try? await clock.sleep(linger)
            // Canceled under the lock, because readers are back.
            self.handle { if !Task.isCancelled { $0.lingerExpired(id) } }
        }
    }
}
