import ByteRanges
import HTTPSemantics

/// What the lock of a live generation guards: the schedule, the stored response, who waits and what runs.
///
/// A value. Times and policies come in, decisions go out; its owner has them carried out in their order, under the
/// lock.
struct GenerationState: Sendable {
    typealias ReaderID = FetchSchedule.ReaderID
    typealias FetchID = FetchSchedule.FetchID

    var schedule: FetchSchedule
    var response: StoredResponse
    var running = RunningFetches()
    var disk = DiskHealth()
    var origin: OriginHealth
    /// Where requests for missing bytes go while the play lasts.
    var target = KeptTarget()
    /// Whether its host is known to splice.
    var isSpliced = false
    /// How far fetches run ahead of players where nothing is spliced.
    private(set) var readAhead = FetchSchedule.Ahead.asRead
    /// Whether it was looked up how far to read ahead of players.
    private var knowsReadAhead = false
    /// What else the origin sent during the play.
    private(set) var evidence: SplicingEvidence
    /// Whether the origin has another representation.
    private var isSuperseded = false
    /// The request to send for each reader if the origin has to be asked.
    private var requests: [ReaderID: OriginRequest] = [:]
    private var parkedReaders: [ReaderID: Parked] = [:]
    /// When a response last proved or disproved range support, on the monotonic clock.
    private var rangesLearned = Duration.zero
    /// How long an origin that ignored a range is treated as not supporting ranges.
    ///
    /// Many origins support ranges once they have the complete file themselves.
    private static let memoryOfRefusedRanges = Duration.seconds(60)
    /// Whether its entry was removed, so that nothing is recorded.
    var isRemoved = false
    /// Whether the index has a record of it.
    var isRecorded = false
    /// The kept generation that stays recorded until this one is whole.
    var former: LiveGeneration?
    /// The rest of a response whose bytes found no room, and how far behind its start a reader may be that goes on with
    /// it.
    private var remainder: (answer: OriginAnswer, reach: Int64)?

    /// Ends the wait of a reader.
    typealias Wake = @Sendable () -> Void

    /// A reader that waits.
    private struct Parked: Sendable {
        let wake: Wake
        let since: Duration
    }

    init(
        schedule: FetchSchedule, response: StoredResponse, origin: OriginHealth,
        evidence: SplicingEvidence = SplicingEvidence(), at elapsed: Duration = .zero
    ) {
        rangesLearned = elapsed
        self.schedule = schedule
        self.response = response
        self.origin = origin
        self.evidence = evidence
    }

    /// The record with the schedule's latest length and range support.
    var record: GenerationRecord {
        response.record(completeLength: schedule.completeLength, rangesSupported: schedule.rangesSupported)
    }

    /// The metadata with the schedule's latest length and range support; `policy` decides which responses may be
    /// joined.
    mutating func information(_ policy: GenerationPolicy) -> ContentInformation {
        var information = response.information(
            completeLength: schedule.completeLength, rangesSupported: schedule.rangesSupported)
        information.servesRanges =
            schedule.rangesSupported == true || response.isJoinable(policy) || schedule.isStored(nil)
        return information
    }

    // MARK: - The target of a redirect

    /// Where requests for missing bytes go now; `nil` for the first URL.
    func keptTarget(at moment: Moment) -> KeptTarget.Target? {
        guard isPlayed(at: moment.elapsed) else { return nil }
        return target.usable(at: moment.date)
    }

    // MARK: - A host that splices

    /// Settles how far fetches run ahead from `date` on, in seconds since 1970, when the host or the target has changed
    /// and when a read begins.
    ///
    /// Behind a target that has ended, another request would bring another file, as without a target.
    mutating func settleAhead(at date: Int64) {
        schedule.ahead = !isSpliced ? readAhead : target.usable(at: date) != nil ? .toEnd : .toEndAlone
    }

    // MARK: - Reading ahead

    /// Whether to look up now how far to read ahead; true once.
    mutating func takeReadAhead() -> Bool {
        defer { knowsReadAhead = true }
        return !knowsReadAhead
    }

    /// From `date` on, in seconds since 1970, fetches run ahead of players as `ahead` says.
    mutating func setReadAhead(_ ahead: FetchSchedule.Ahead, at date: Int64) -> [FetchSchedule.Effect] {
        readAhead = ahead
        settleAhead(at: date)
        return schedule.resumable()
    }

    /// Begins to fetch what players come to next, if a request surely continues this generation.
    mutating func startAhead(_ policy: GenerationPolicy) -> [FetchSchedule.Effect] {
        schedule.readsAhead && canGoOn(policy) ? schedule.startAhead() : []
    }

    private func isPlayed(at elapsed: Duration) -> Bool {
        response.isPlayed(hasReaders: !schedule.readers.isEmpty, at: elapsed)
    }

    /// Notes another representation if a play is going on; true if it shows that the host splices.
    mutating func note(_ other: SplicingEvidence.Sighting, at elapsed: Duration) -> Bool {
        guard isPlayed(at: elapsed) else {
            evidence = SplicingEvidence()
            return false
        }
        let record = record
        _ = evidence.add(
            SplicingEvidence.Sighting(
                url: record.finalURL ?? record.url, completeLength: record.completeLength,
                validators: record.identity.validators))
        return evidence.add(other)
    }

    /// The origin has another representation: only stored bytes are served from now on, and only until the play ends;
    /// `nil` if there is no play.
    mutating func supersede(because cause: FetchSchedule.Freeze, at elapsed: Duration) -> [FetchSchedule.Effect]? {
        guard !isRemoved, isPlayed(at: elapsed) else { return nil }
        isSuperseded = true
        response.supersede()
        return schedule.freeze(because: cause)
    }

    /// Whether the origin has another representation, and stored bytes are served for the rest of `play`.
    func isSuperseded(at elapsed: Duration, in play: Play? = nil) -> Bool {
        isSuperseded && !isRemoved && response.isInPlay(at: elapsed, of: play)
    }

    /// Whether all of `spec` is served although nothing more is stored.
    func stillServes(_ spec: RangeSpec?, at elapsed: Duration, in play: Play? = nil) -> Bool {
        isSuperseded(at: elapsed, in: play) && schedule.isStored(spec)
    }

    // MARK: - Readers

    /// Begins a read of `spec`; `nil` if this generation cannot serve it and a new response must.
    ///
    /// `joinDistance` is how far behind the wanted byte a running fetch may be for a reader to wait for it.
    mutating func openReader(
        _ spec: RangeSpec?, for request: OriginRequest, joinDistance: Int64, policy: GenerationPolicy,
        at elapsed: Duration
    ) throws(RepriseError) -> OpenedReader? {
        // A new play asks the first URL again.
        if !isPlayed(at: elapsed) { target.forget() }
        if elapsed - rangesLearned >= Self.memoryOfRefusedRanges { schedule.forgetRefusedRanges() }
        let length = schedule.completeLength
        guard let extent = ReadExtent(spec, completeLength: length) else {
            throw ReadExtent.notSatisfiable(length ?? 0)
        }
        let range = extent.start..<max(extent.start, extent.end ?? length ?? .max)
        // Without asking for a representation that might be another one.
        let distance = request.context.rangeFallback == .keep ? .max : joinDistance
        guard response.isJoinable(policy) || schedule.willHave(range, joinDistance: distance) else { return nil }
        let stored = schedule.stored
        // A hole of a stale generation is asked for: its play goes on once the answer confirms it.
        if stored.contains(extent.start) || response.isInPlay(at: elapsed) { response.noteUse(at: elapsed) }
        let id = addReader(extent, of: spec, for: request)
        let holes = length == nil && extent.end == nil ? 1 : stored.holes(in: range).count
        let anyStored = !stored.spans(in: range).isEmpty
        return OpenedReader(
            id: id, start: extent.start, end: extent.end ?? length, information: information(policy),
            disposition: holes == 0 ? .hit : anyStored ? .partial : .miss,
            isCollapsed: holes > 0 && schedule.fetches.values.contains { $0.covers(extent.start) })
    }

    /// Takes in the fetch that began this generation, and its first reader unless `spec` is unsatisfiable.
    mutating func adopt(
        _ placement: BodyPlacement, for spec: RangeSpec?, of request: OriginRequest, policy: GenerationPolicy
    ) -> (reader: OpenedReader?, fetch: FetchID) {
        response.noteDemand(request.demand)
        let extent = ReadExtent(spec, completeLength: schedule.completeLength)
        let opened = extent.map { extent in
            OpenedReader(
                id: addReader(extent, of: spec, for: request), start: extent.start,
                end: extent.end ?? schedule.completeLength, information: information(policy), disposition: .unknown,
                isCollapsed: false)
        }
        return (opened, schedule.adoptFetch(start: placement.start, limit: placement.end, owner: opened?.id))
    }

    private mutating func addReader(
        _ extent: ReadExtent, of spec: RangeSpec?, for request: OriginRequest
    ) -> ReaderID {
        let isBounded = if case .bounded? = spec { true } else { false }
        let id = schedule.addReader(
            extent.start, to: extent.end, demand: request.demand, rangeFallback: request.context.rangeFallback,
            isBounded: isBounded)
        requests[id] = request
        return id
    }

    /// The reader has left.
    mutating func removeReader(_ id: ReaderID) -> [FetchSchedule.Effect] {
        requests[id] = nil
        let effects = schedule.removeReader(id)
        return parkedReaders[id] == nil ? effects : effects + [.wake(id)]
    }

    /// The range that `spec` resolves to, if every byte of it is stored, verified and usable at that time.
    ///
    /// `isUsable` allows reuse at any age. `isFinal` also rules out requests to the origin.
    func hit(_ spec: RangeSpec?, isUsable: Bool, isFinal: Bool, at moment: Moment) -> Range<Int64>? {
        guard isFinal || !mustAsk(about: spec, at: moment) else { return nil }
        guard !schedule.isFrozen || stillServes(spec, at: moment.elapsed), let length = schedule.completeLength,
            isUsable || response.isUsable(at: moment),
            let extent = ReadExtent(spec, completeLength: length), let end = extent.end, end > extent.start,
            schedule.verified.contains(extent.start..<end)
        else { return nil }
        return extent.start..<end
    }

    /// Whether a request for `spec` must be forwarded to the origin, unless the origin has declared the response fresh.
    ///
    /// That is the case if the answer depends on the end of a file that may have grown (RFC 9110 §14.4), or if it would
    /// start with old bytes of a live stream.
    func mustAsk(about spec: RangeSpec?, at moment: Moment) -> Bool {
        if response.isFreshByOrigin(at: moment.date) { return false }
        guard let length = schedule.completeLength else {
            return spec.map(\.beginsAtStart) != false && response.isLiveBody(at: moment.elapsed)
                && schedule.comesAsItIsMade
        }
        return spec?.dependsOnEnd(completeLength: length) == true
    }

    /// Whether the initial response is still arriving and started only a moment ago.
    func isArriving(at elapsed: Duration) -> Bool {
        response.hasJustArrived(at: elapsed)
            && schedule.fetches.values.contains { $0.hasResponse && $0.cursor < $0.limit ?? .max }
    }

    /// Whether the first byte of `spec` has to be fetched under a strong validator anyway, which also shows whether the
    /// rest is still current.
    ///
    /// Returns false after a response has contradicted the stored one, because a fetch might fail with 412 forever.
    func beginsInHole(_ spec: RangeSpec?) -> Bool {
        guard response.record.identity.validators.ifRangeValue != nil, !response.record.isExpired,
            schedule.rangesSupported != false, let extent = ReadExtent(spec, completeLength: schedule.completeLength),
            extent.start < schedule.completeLength ?? .max
        else { return false }
        return !schedule.stored.contains(extent.start)
    }

    /// A reader waits from now on, unless it has to look again at once; returns what ends a wait that is over.
    mutating func park(_ reader: ReaderID, at elapsed: Duration, wake: @escaping Wake) -> Wake? {
        guard schedule.readers[reader]?.waitingOn != nil else { return wake }
        // One call at a time is the rule; a second one must not leave the first hanging.
        return parkedReaders.updateValue(Parked(wake: wake, since: elapsed), forKey: reader)?.wake
    }

    /// What ends the wait of a reader that waits no longer.
    mutating func wake(_ reader: ReaderID) -> Wake? { parkedReaders.removeValue(forKey: reader)?.wake }

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
    ) -> (stalls: [Stall], rest: Duration?, effects: [FetchSchedule.Effect]) {
        var rest: Duration?
        var stalls: [FetchID: Stall] = [:]
        for (id, parked) in parkedReaders {
            guard let reader = schedule.readers[id], let fetch = reader.waitingOn else { continue }
            let since = max(parked.since, running.lastProgress(of: fetch) ?? .zero)
            if mayRest(schedule.fetches[fetch]?.demand ?? .playing, requests[id]) { continue }
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
        let effects = stalls.flatMap { fetch, stall in
            schedule.abandon(fetch, bypassing: stall.readers.filter { schedule.readers[$0]?.demand == .playing })
        }
        return (Array(stalls.values), rest, effects)
    }

    // MARK: - Fetches

    /// Updates the length and range support from a response of the origin.
    mutating func learn(_ placement: BodyPlacement, at elapsed: Duration) {
        schedule.learn(completeLength: placement.completeLength, rangesSupported: placement.rangesSupported)
        if placement.rangesSupported != nil { rangesLearned = elapsed }
    }

    /// Whether a request for the rest of a fetch surely continues this generation.
    func canGoOn(_ policy: GenerationPolicy) -> Bool {
        schedule.rangesSupported == true && !schedule.isFrozen && response.isJoinable(policy)
    }

    /// The request of the reader on whose behalf a fetch began.
    func ownRequest(for id: FetchID) -> OriginRequest? { schedule.fetches[id]?.owner.flatMap { requests[$0] } }

    /// Chooses the request for a fetch: that of its owner or, if the owner has left, that of the reader who began to
    /// wait last.
    mutating func chooseRequest(for id: FetchID) -> OriginRequest? {
        let waiting = schedule.readers.filter { $0.value.waitingOn == id }.keys.max { $0.number < $1.number }
        guard let request = ownRequest(for: id) ?? waiting.flatMap({ requests[$0] }) else {
            return running.request(of: id)
        }
        running.send(request, for: id)
        return request
    }

    /// The rest of a fetch's range, or `nil` when it is canceled or has nothing left to bring.
    func rest(of id: FetchID) -> Range<Int64>? {
        guard let fetch = schedule.fetches[id], !running.isCancelled(id), fetch.cursor < fetch.limit ?? .max else {
            return nil
        }
        return fetch.cursor..<(fetch.limit ?? .max)
    }

    /// The fetch is over; readers whom `failure` does not concern ask again, each with a request of its own.
    mutating func end(
        _ id: FetchID, reachedEnd: Bool, failure: RepriseError?, isShared: Bool
    ) -> [FetchSchedule.Effect] {
        let asked = running.remove(id)
        if failure != nil { schedule.stopReadingAhead() }
        return schedule.end(id, reachedEnd: reachedEnd, failure: failure) { [requests] reader in
            guard let failure, let asked, let own = requests[reader] else { return true }
            return failure.concerns(own, asked: asked, isShared: isShared)
        }
    }

    /// Ends a fetch whose request failed; `nil` if a reader waits for its bytes, and a retry is due.
    ///
    /// One step: a reader that began to wait between the question and the end would get the error of a request that was
    /// never repeated.
    mutating func endUnlessAwaited(_ id: FetchID) -> (isCancelled: Bool, effects: [FetchSchedule.Effect])? {
        let isCancelled = running.isCancelled(id)
        guard isCancelled || !schedule.isAwaited(id) else { return nil }
        if !isCancelled { schedule.stopReadingAhead() }
        return (isCancelled, end(id, reachedEnd: false, failure: nil, isShared: false))
    }

    /// Gives the connection of a fetch back that has been parked for `limit`; returns the time until the next look,
    /// `nil` when there is nothing to look at.
    mutating func checkParking(
        _ id: FetchID, limit: Duration, policy: GenerationPolicy, at elapsed: Duration
    ) -> (rest: Duration?, effects: [GenerationEffect]) {
        if let since = running.parkedSince(id) {
            let rest = limit - (elapsed - since)
            if rest > .zero { return (rest, []) }
            if canGoOn(policy) {
                running.setParkingTimer(nil, of: id)
                return (nil, running.giveBack(id))
            }
        }
        running.setParkingTimer(nil, of: id)
        return (nil, [])
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
        guard remainder == nil, !schedule.readers.isEmpty, running.handOver(id) else { return false }
        remainder = (rest, reach)
        return true
    }

    /// The rest of a response that brings the byte at `position`, for one reader; any rest for `nil`.
    mutating func takeRemainder(at position: Int64?) -> OriginAnswer? {
        guard let (rest, reach) = remainder, let start = rest.placement?.start else { return nil }
        if let position, position < start || position - start > reach { return nil }
        remainder = nil
        return rest
    }
}
