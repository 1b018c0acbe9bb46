import ByteRanges
import HTTPSemantics
import Primitives

/// A live generation: its state under a lock, its bytes on disk, its fetches.
///
/// The state is changed in this file only. Other files ask (``ask(_:)``), or use the methods that change it here. What
/// the schedule decides is carried out under the lock; bodies are canceled and continuations resumed outside it, in the
/// order of the decisions. Lock order: `state` before the leaves (ledger, quota, reporter, timings, interests,
/// recorder's pending).
final class LiveGeneration: Sendable {
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
    let state: StateMachine<GenerationState, GenerationEffect>
    /// Called when the origin has another representation.
    let onReplaced: @Sendable (LiveGeneration) -> Void

    init(
        record: GenerationRecord, bytes: StoredBytes, engine: Engine, store: Store, isConfirmed: Bool,
        evidence: SplicingEvidence = SplicingEvidence(),
        onReplaced: @escaping @Sendable (LiveGeneration) -> Void
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
    private var awake: Duration { engine.clock.awake.elapsed() }
    var generationPolicy: GenerationPolicy { engine.configuration.generationPolicy }

    /// Answers a question about the state, without changing it.
    func ask<Answer>(_ question: (borrowing GenerationState) -> Answer) -> Answer { state.withLock { question($0) } }

    /// The metadata with the latest length and range support.
    var information: ContentInformation { state.withLock { $0.information(generationPolicy) } }
    /// The metadata and the stored bytes, at one moment.
    var content: (information: ContentInformation, ranges: ByteRangeSet) {
        state.withLock { ($0.information(generationPolicy), $0.schedule.stored) }
    }

    // MARK: - Changes

    /// Changes the state, and has carried out what the schedule decides.
    func update<Result: Sendable>(
        _ change: (inout GenerationState, inout [FetchSchedule.Effect]) -> Result
    ) -> Result {
        updateAndLeave { state, effects, _ in change(&state, &effects) }
    }

    /// As ``update(_:)``; what else has to be done outside the lock is left in the outbox.
    func updateAndLeave<Result: Sendable>(
        _ change: (inout GenerationState, inout [FetchSchedule.Effect], inout [GenerationEffect]) -> Result
    ) -> Result {
        state.update(performing: { $0.perform() }) { state, outbox in
            var effects: [FetchSchedule.Effect] = []
            let result = change(&state, &effects, &outbox)
            if !effects.isEmpty { state.carryOut(effects, with: self, at: awake, leaving: &outbox) }
            return result
        }
    }

    // MARK: - Readers

    /// Begins a read of `spec` in `play`, or returns `nil` if this generation cannot serve it and a new response must.
    ///
    /// `mayAsk` says that the origin may be asked for bytes that are missing.
    func openReader(
        _ spec: RangeSpec?, request: OriginRequest, in play: Play? = nil, mayAsk: Bool = true
    ) throws(RepriseError) -> OpenedReader? {
        let (joinDistance, now) = (engine.timings.joinDistance(for: url.authority), elapsed)
        settleSplicing()
        let result: Result<OpenedReader?, RepriseError> = state.withLock { state in
            guard !state.schedule.isFrozen || state.stillServes(spec, at: now, in: play) else { return .success(nil) }
            reopenStore(&state, for: request)
            do throws(RepriseError) {
                return .success(
                    try state.openReader(
                        spec, for: request, joinDistance: joinDistance, policy: generationPolicy, at: now))
            } catch {
                return .failure(error)
            }
        }
        let opened = try result.get()
        if let opened {
            if mayAsk { settleReadAhead(for: request) } else { stopReadingAhead(of: opened.id) }
        }
        return opened
    }

    /// Notes that it is used now.
    func noteUse() { store.recorder.noteUse(key) }

    /// Reopens a store that failed some time ago.
    ///
    /// A download waits for room by itself, and comes when there may be some.
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
        let opened = updateAndLeave { state, _, outbox in
            state.target.found(answer.response)
            state.settleAhead(at: date)
            let (opened, fetch) = state.adopt(placement, for: spec, of: request, policy: generationPolicy)
            state.start(
                fetch, answer: answer, interest: interest, with: self, at: awake, leaving: &outbox)
            return opened
        }
        if opened != nil { settleReadAhead(for: request) }
        return opened
    }

    func removeReader(_ id: ReaderID) {
        updateAndLeave { state, effects, outbox in
            effects = state.removeReader(id)
            if state.schedule.readers.isEmpty { Self.dropRemainder(of: &state, leaving: &outbox) }
        }
    }

    func rewind(_ reader: ReaderID, to position: Int64) {
        state.withLock { $0.schedule.rewind(reader, to: position) }
    }

    /// What `reader` does next, with a lease on the piece that it gets.
    func nextStep(of reader: ReaderID) -> (next: FetchSchedule.Next, lease: Lease?) {
        update { state, effects in
            let next: FetchSchedule.Next
            (next, effects) = state.schedule.next(reader, joinDistance: joinDistance(state))
            effects += state.startAhead(generationPolicy)
            // Under the lock under which extents are evicted: between choice and lease nothing may vanish.
            guard case .piece(let range, _) = next else { return (next, nil) }
            return (next, bytes.file.leases.take(range))
        }
    }

    /// Waits until `reader` has to look again.
    func wait(_ reader: ReaderID) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                updateAndLeave { state, _, outbox in
                    // A later cancellation finds the reader; an earlier one is detected here.
                    let wake: GenerationState.Wake = { continuation.resume() }
                    let over = Task.isCancelled ? wake : state.park(reader, at: awake, wake: wake)
                    if let over { outbox.append(.wake(over)) }
                }
            }
        } onCancel: {
            update { _, effects in effects = [.wake(reader)] }
        }
    }

    /// Gives up fetches that have made no progress for `limit` while readers waited for them; returns the time until
    /// that may happen to another one, `nil` if no reader waits.
    func endOverdueWaits(_ limit: Duration) -> Duration? {
        let authority = url.authority
        let (stalls, rest) = update { state, effects in
            let overdue = state.endOverdueWaits(limit, at: awake) { demand, request in
                guard demand < .playing else { return false }
                let isPaced = demand == .download && (engine.pace.rate != nil || request?.context.errand != nil)
                return isPaced || engine.precedence.isYielding(at: authority)
            }
            effects = overdue.effects
            return (overdue.stalls, overdue.rest)
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

    /// Whether to look up now how far to read ahead; true once.
    func takeReadAhead() -> Bool { state.withLock { $0.takeReadAhead() } }

    /// Fetches nothing on behalf of `reader` that it does not come to itself.
    private func stopReadingAhead(of reader: ReaderID) { state.withLock { $0.schedule.stopReadingAhead(of: reader) } }

    /// From now on fetches run ahead of players as `ahead` says.
    func readAhead(_ ahead: FetchSchedule.Ahead) {
        let date = moment.date
        update { state, effects in
            effects = state.setReadAhead(ahead, at: date) + state.startAhead(generationPolicy)
        }
    }

    // MARK: - Fetches

    /// How far behind the wanted byte a running fetch may be for a reader to wait for it.
    ///
    /// Where no other response may be joined, or would be of another file, any distance: nothing else can bring the
    /// byte.
    private func joinDistance(_ state: borrowing GenerationState) -> Int64 {
        guard state.response.isJoinable(generationPolicy), state.schedule.ahead != .toEndAlone else { return .max }
        return engine.timings.joinDistance(for: url.authority)
    }

    /// Whether the request of a fetch should be sent now that its turn has come: see
    /// ``FetchSchedule/claim(_:joinDistance:)``.
    func claim(_ id: FetchID) -> Bool {
        state.withLock { state in
            // One that is not sent after all takes over nothing from the others.
            guard state.running.isWanted(id) else { return false }
            return state.schedule.claim(id, joinDistance: joinDistance(state))
        }
    }

    /// The request that the fetch sends to the origin now; `nil` when it is over.
    func request(for id: FetchID) -> OriginRequest? { state.withLock { $0.chooseRequest(for: id) } }

    /// The fetch reads from `body` now.
    ///
    /// False when it was canceled in the meantime.
    func attach(_ body: any OriginBody, to id: FetchID) -> Bool {
        state.withLock { state in
            state.schedule.responseArrived(id)
            state.running.noteProgress(of: id, at: awake)
            return state.running.attach(body, to: id)
        }
    }

    /// The response of the fetch is lost; another request may follow.
    func detach(_ id: FetchID) {
        state.withLock { state in
            state.schedule.responseLost(id)
            state.running.detach(id)
            state.running.noteProgress(of: id, at: awake)
        }
    }

    /// The request of a fetch has gone on, and may take its time again.
    func noteProgress(of id: FetchID) { state.withLock { $0.running.noteProgress(of: id, at: awake) } }

    /// Where requests for missing bytes go now; `nil` for the first URL.
    var keptTarget: KeptTarget.Target? {
        let moment = moment
        return ask { $0.keptTarget(at: moment) }
    }

    /// Changes what is known of the URL to which a redirect led.
    func changeTarget<Outcome>(_ change: (inout KeptTarget) -> Outcome) -> Outcome {
        let date = moment.date
        return state.withLock { state in
            defer { state.settleAhead(at: date) }
            return change(&state.target)
        }
    }

    func learn(_ placement: BodyPlacement) {
        let now = elapsed
        state.withLock { $0.learn(placement, at: now) }
    }

    /// Records that the response of a fetch is partial; see ``FetchSchedule/takeOver(_:isFirstProof:)``.
    func takeOver(_ id: FetchID, isFirstProof: Bool) {
        update { state, effects in effects = state.schedule.takeOver(id, isFirstProof: isFirstProof) }
    }

    /// The response to the request of a fetch is the whole in place of a range: see
    /// ``FetchSchedule/takeWhole(_:to:)``.
    func takeWhole(_ id: FetchID, to end: Int64?) -> Bool { state.withLock { $0.schedule.takeWhole(id, to: end) } }

    /// The request of a fetch was refused because the representation ends before it; false if that cannot be.
    func learnEnd(_ length: Int64?, from id: FetchID) -> Bool {
        state.withLock { $0.schedule.learnEnd(length, from: id) }
    }

    func advance(_ id: FetchID, by count: Int64) -> FetchSchedule.Verdict {
        let verdict = update { state, effects in
            state.running.goesOn(id)
            state.running.noteProgress(of: id, at: awake)
            let verdict: FetchSchedule.Verdict
            (verdict, effects) = state.schedule.advance(id, by: count)
            return verdict
        }
        engine.progress.changed(key)
        return verdict
    }

    func verdict(_ id: FetchID) -> FetchSchedule.Verdict {
        update { state, effects in
            state.running.goesOn(id)
            state.running.noteProgress(of: id, at: awake)
            let verdict: FetchSchedule.Verdict
            (verdict, effects) = state.schedule.verdict(id)
            return verdict
        }
    }

    /// Waits until readers want more of the fetch, or it is canceled, or its connection was given back.
    ///
    /// That happens once it has been parked for the whole parking time: its transfer is canceled, and a request for the
    /// rest takes its place when readers want more. Only where such a request can continue the generation.
    func parkFetch(_ id: FetchID) async -> RunningFetches.Parking {
        await withCheckedContinuation { continuation in
            let parked = state.withLock { state in
                let parked = state.running.park(id, at: elapsed) { continuation.resume(returning: $0) }
                if case .needsTimer = parked { state.running.setParkingTimer(makeParkingTimer(id), of: id) }
                return parked
            }
            if case .refused = parked { continuation.resume(returning: .over) }
        }
    }

    /// One timer for many short stops: it looks how long the last one has been lasting.
    private func makeParkingTimer(_ id: FetchID) -> Task<Void, Never> {
        let (clock, limit) = (engine.clock, engine.configuration.parkingTime)
        return Task(priority: .userInitiated) { [weak self] in
            var rest: Duration? = limit
            while let time = rest, (try? await clock.sleep(time)) != nil { rest = self?.checkParking(id, limit: limit) }
        }
    }

    private func checkParking(_ id: FetchID, limit: Duration) -> Duration? {
        updateAndLeave { state, _, outbox in
            let (rest, effects) = state.checkParking(id, limit: limit, policy: generationPolicy, at: elapsed)
            outbox += effects
            return rest
        }
    }

    /// Ends a fetch whose request failed, and returns whether it had been canceled; `nil` if a reader waits for its
    /// bytes, and a retry is due.
    func endUnlessAwaited(_ id: FetchID) -> Bool? {
        update { state, effects in
            guard let outcome = state.endUnlessAwaited(id) else { return nil }
            effects = outcome.effects
            return outcome.isCancelled
        }
    }

    func end(_ id: FetchID, reachedEnd: Bool, failure: RepriseError?) {
        let isShared = engine.configuration.reuse.isShared
        update { state, effects in
            effects = state.end(id, reachedEnd: reachedEnd, failure: failure, isShared: isShared)
            effects += state.startAhead(generationPolicy)
        }
        engine.progress.changed(key)
        if failure != nil { giveUpReplacing() }
        // Now that it is whole.
        if ask({ $0.former != nil && $0.schedule.isStored(nil) }) { store.recorder.note(self, bytes: 0) }
    }

    /// Remembers a fetch that failed for good.
    func noteRefusal(_ error: RepriseError, of request: OriginRequest) {
        let now = elapsed
        state.withLock { $0.origin.fetchFailed(error, sending: request, at: now) }
    }

    /// Resets the failure count: the origin answered a fetch as expected.
    func noteSuccess() { state.withLock { $0.origin.fetchSucceeded() } }

    /// Leaves the body of a fetch's response to another owner, who ends it; false when the fetch was canceled.
    func handOver(_ id: FetchID) -> Bool { state.withLock { $0.running.handOver(id) } }

    /// Leaves what is left of a response to the reader that comes to it first; false where there is none, or where each
    /// can ask for its own, unless a player waits for it and `toWaiting` is true.
    func handOver(_ rest: OriginAnswer, of id: FetchID, toWaiting: Bool) -> Bool {
        state.withLock { $0.handOver(rest, of: id, toWaiting: toWaiting, policy: generationPolicy) }
    }

    /// The rest of a response that brings the byte at `position`, for one reader.
    func takeRemainder(at position: Int64) -> OriginAnswer? { state.withLock { $0.takeRemainder(at: position) } }

    /// No reader comes for it any more.
    static func dropRemainder(of state: inout GenerationState, leaving outbox: inout [GenerationEffect]) {
        if let rest = state.takeRemainder(at: nil) { outbox.append(.end(rest.response.body)) }
    }

    // MARK: - The stored response

    /// Changes the stored response.
    func changeResponse<Outcome>(_ change: (inout StoredResponse) -> Outcome) -> Outcome {
        state.withLock { change(&$0.response) }
    }

    // MARK: - Bytes

    /// Stored bytes were read and are right.
    func markVerified(_ range: Range<Int64>) { state.withLock { $0.schedule.markVerified(range) } }

    /// Turns these ranges into holes; returns how many stored bytes they had.
    @discardableResult
    func makeHoles(_ ranges: [Range<Int64>]) -> Int64 { state.withLock { $0.schedule.discard(ranges) } }

    /// A fault of the disk; true if it is the second one, so that nothing more should be written for a while.
    func noteFault(_ note: (inout DiskHealth) -> Bool) -> Bool { state.withLock { note(&$0.disk) } }

    /// Stops storing; readers bypass the store.
    ///
    /// New readers try the store again after `pause`, unless it is `nil`.
    func closeStore(reason: String, because kind: BypassReason = .disk, for pause: Duration? = nil) {
        let now = elapsed
        update { state, effects in
            state.disk.storeClosed(for: pause, lackingRoom: kind == .room, at: now)
            effects = state.schedule.closeStore()
        }
        engine.reporter.tell(.storeBypassed(key, reason: reason), because: kind)
    }

    /// Takes the extents out that are best evicted to free about `count` bytes, none of which a part is `kept`; nothing
    /// reads or writes there until ``StoredBytes/endPunching(_:)``.
    func takeExtents(freeing count: Int64, kept: ByteRangeSet) -> [Range<Int64>] {
        state.withLock { state in
            let victims = state.schedule.extents(freeing: count, leased: bytes.file.leases.ranges, kept: kept)
            // Leases are taken and holes found under the same lock, so nothing reads or writes there now.
            state.schedule.evict(victims)
            bytes.beginPunching(victims)
            return victims
        }
    }

    // MARK: - A host that splices

    /// Notes what else the origin sent for the same URL, and remembers the host if that shows that it splices.
    func note(_ other: SplicingEvidence.Sighting) {
        let now = elapsed
        guard state.withLock({ $0.note(other, at: now) }) else { return }
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
        state.withLock { state in
            state.isSpliced = isSpliced
            state.settleAhead(at: date)
        }
    }

    /// The cache closes: fetches end, keeping what arrived; readers end at their next hole.
    func stopFetches() async {
        let tasks = updateAndLeave { state, effects, outbox in
            effects = state.schedule.freeze(because: .closed)
            Self.dropRemainder(of: &state, leaving: &outbox)
            return state.running.tasks
        }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }
}

extension LiveGeneration: FetchTasks {
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
            self.update { state, effects in
                // Canceled under the lock, because readers are back.
                guard !Task.isCancelled else { return }
                effects = state.schedule.lingerExpired(id)
            }
        }
    }
}
