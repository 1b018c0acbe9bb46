import ByteRanges
import HTTPSemantics

/// The state of a generation: the schedule, the stored response, what is known of the origin and the disk.
///
/// A value. Events come in, with times and policies. Decisions of the schedule are kept until ``settle(with:at:)``
/// carries them out, in their order and under the same lock; it returns what has to be done outside the lock.
struct GenerationState: Sendable {
    typealias ReaderID = FetchSchedule.ReaderID
    typealias FetchID = FetchSchedule.FetchID

    var schedule: FetchSchedule
    var response: StoredResponse
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
    private(set) var isSuperseded = false
    /// Decisions that are not carried out yet.
    private var decisions: [FetchSchedule.Effect] = []
    /// What is left to do outside the lock.
    private var outbox: [GenerationEffect] = []
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
    var former: Generation?
    /// The rest of a response whose bytes found no room, and how far behind its start a reader may be that goes on with
    /// it.
    var remainder: (answer: OriginAnswer, reach: Int64)?

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
    mutating func setReadAhead(_ ahead: FetchSchedule.Ahead, at date: Int64) {
        readAhead = ahead
        settleAhead(at: date)
        decisions += schedule.resumable()
    }

    /// Begins to fetch what players come to next, if a request surely continues this generation.
    mutating func startAhead(_ policy: GenerationPolicy) {
        if schedule.readsAhead, canGoOn(policy) { decisions += schedule.startAhead() }
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
    /// false if there is no play.
    mutating func supersede(because cause: FetchSchedule.Freeze, at elapsed: Duration) -> Bool {
        guard !isRemoved, isPlayed(at: elapsed) else { return false }
        isSuperseded = true
        response.supersede()
        freeze(because: cause)
        return true
    }

    /// From now on only stored bytes are served.
    mutating func freeze(because cause: FetchSchedule.Freeze) { decisions += schedule.freeze(because: cause) }

    /// The entry was removed, or the cache closes if `isRemoved` is false: nothing takes in new bytes.
    mutating func stop(because cause: FetchSchedule.Freeze, isRemoved: Bool) {
        if isRemoved { self.isRemoved = true }
        dropRemainder()
        freeze(because: cause)
    }

    /// Nothing more can be stored for `pause`, or permanently if that is `nil`.
    mutating func closeStore(for pause: Duration?, lackingRoom: Bool, at elapsed: Duration) {
        disk.storeClosed(for: pause, lackingRoom: lackingRoom, at: elapsed)
        decisions += schedule.closeStore()
    }

    /// Updates the length and range support from a response of the origin.
    mutating func learn(_ placement: BodyPlacement, at elapsed: Duration) {
        schedule.learn(completeLength: placement.completeLength, rangesSupported: placement.rangesSupported)
        if placement.rangesSupported != nil { rangesLearned = elapsed }
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
        return schedule.addReader(
            extent.start, to: extent.end, demand: request.demand, rangeFallback: request.context.rangeFallback,
            isBounded: isBounded, request: SharedRequest(request))
    }

    mutating func removeReader(_ id: ReaderID) {
        wake(id)
        decisions += schedule.removeReader(id)
        if schedule.readers.isEmpty { dropRemainder() }
    }

    /// What `reader` does next; `distance` is ``OriginTimings/joinDistance(for:)``.
    mutating func next(_ reader: ReaderID, joinDistance distance: Int64, policy: GenerationPolicy) -> FetchSchedule.Next
    {
        let (next, decided) = schedule.next(reader, joinDistance: joinDistance(distance, policy))
        decisions += decided
        startAhead(policy)
        return next
    }

    /// How far behind the wanted byte a running fetch may be for a reader to wait for it; `measured` where that costs
    /// less than a request.
    ///
    /// If no other response may be joined, or would be of another file, any distance: nothing else can bring the byte.
    func joinDistance(_ measured: Int64, _ policy: GenerationPolicy) -> Int64 {
        response.isJoinable(policy) && schedule.ahead != .toEndAlone ? measured : .max
    }

    /// Parks a reader until `wake` is called; calls it at once if the reader need not wait or its task `isCancelled`.
    mutating func park(
        _ reader: ReaderID, at elapsed: Duration, isCancelled: Bool = false, wake: @escaping @Sendable () -> Void
    ) {
        guard !isCancelled, schedule.readers[reader]?.waitingOn != nil else { return outbox.append(.wake(wake)) }
        // One call at a time is the rule; a second one must not leave the first hanging.
        self.wake(reader)
        schedule.readers[reader]?.parked = ParkedReader(wake: wake, since: elapsed)
    }

    /// The reader waits no longer.
    mutating func wake(_ reader: ReaderID) {
        guard let parked = schedule.readers[reader]?.parked else { return }
        schedule.readers[reader]?.parked = nil
        outbox.append(.wake(parked.wake))
    }

    // MARK: - Decisions

    /// Carries the decisions out, and returns what has to be done outside the lock.
    ///
    /// Under the lock under which they were made: a fetch is therefore registered, canceled, resumed, and wanted in a
    /// class in the order of these decisions, and no decision finds a fetch that does not know of the ones before.
    mutating func settle(with tasks: some FetchTasks, at elapsed: @autoclosure () -> Duration) -> [GenerationEffect] {
        let due = takeDecisions()
        if !due.isEmpty { carryOut(due, with: tasks, at: elapsed()) }
        defer { outbox = [] }
        return outbox
    }

    mutating func decide(_ decisions: [FetchSchedule.Effect]) { self.decisions += decisions }
    mutating func leave(_ effects: [GenerationEffect]) { outbox += effects }

    /// Decisions that are not carried out yet.
    mutating func takeDecisions() -> [FetchSchedule.Effect] {
        defer { decisions = [] }
        return decisions
    }

    mutating func carryOut(_ decisions: [FetchSchedule.Effect], with tasks: some FetchTasks, at elapsed: Duration) {
        for decision in decisions {
            switch decision {
            case .start(let id, _): start(id, with: tasks, at: elapsed)
            case .demand(let id, let demand): outbox += schedule.fetches[id]?.handle?.change(to: demand) ?? []
            case .resume(let id): outbox += schedule.fetches[id]?.handle?.resume() ?? []
            case .linger(let id): schedule.fetches[id]?.handle?.linger(until: tasks.linger(id))
            case .cancel(let id): outbox += schedule.fetches[id]?.handle?.cancel() ?? []
            case .wake(let reader): wake(reader)
            }
        }
    }
}
