import ByteRanges
import HTTPSemantics
import HTTPTypes
import Locks

/// A live generation: its machine under a lock, its file, its fetches.
///
/// Lock order: `state` before the leaves (ledger, quota, reporter, timings, recorder's pending). Continuations are
/// resumed and tasks cancelled outside the lock.
final class LiveGeneration: Sendable {
    struct FetchHandle {
        /// How much its request is wanted.
        let interest: RequestInterest
        var task: Task<Void, Never>?
        /// The request that it sends to the origin.
        var request: OriginRequest?
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

        mutating func takeParked() -> CheckedContinuation<Parking, Never>? {
            defer { parked = nil }
            return parked
        }
    }

    /// How the wait of a parked fetch ended.
    enum Parking: Sendable {
        /// Its readers want more, or it was canceled.
        case over
        /// Its readers wanted nothing for the whole ``MediaCache/Configuration/parkingTime``, so the transfer was
        /// ended.
        case givenBack
    }

    struct State {
        var machine: FetchSchedule
        var response: StoredResponse
        var disk = DiskHealth()
        var origin: OriginHealth
        /// The request to send for each reader if the origin has to be asked.
        var requests: [FetchSchedule.ReaderID: OriginRequest] = [:]
        var parkedReaders: [FetchSchedule.ReaderID: CheckedContinuation<Void, Never>] = [:]
        var handles: [FetchSchedule.FetchID: FetchHandle] = [:]
        var isRemoved = false
        /// Whether the index has a record of it.
        var isRecorded = false
        /// What is left of a response whose bytes found no room.
        var remainder: Remainder?

        mutating func information() -> ContentInformation {
            response.information(completeLength: machine.completeLength, rangesSupported: machine.rangesSupported)
        }

        mutating func end(
            _ id: FetchSchedule.FetchID, reachedEnd: Bool, failure: RepriseError?, isShared: Bool
        ) -> [FetchSchedule.Effect] {
            let handle = handles.removeValue(forKey: id)
            handle?.lingerTimer?.cancel()
            handle?.parkingTimer?.cancel()
            return machine.end(id, reachedEnd: reachedEnd, failure: failure) { [requests] reader in
                guard let failure, let asked = handle?.request, let own = requests[reader] else { return true }
                return failure.concerns(own, asked: asked, isShared: isShared)
            }
        }

        /// Chooses the request for a fetch: that of its owner or, if the owner has left, that of the reader who began
        /// to wait last.
        mutating func chooseRequest(for id: FetchSchedule.FetchID) -> OriginRequest? {
            let owner = machine.fetches[id]?.owner.flatMap { requests[$0] }
            let waiting = machine.readers.filter { $0.value.waitingOn == id }.keys.max { $0.number < $1.number }
            let request = owner ?? waiting.flatMap { requests[$0] } ?? handles[id]?.request
            handles[id]?.request = request
            return request
        }

        /// The record with the machine's latest length and range support.
        var currentRecord: GenerationRecord {
            response.record(completeLength: machine.completeLength, rangesSupported: machine.rangesSupported)
        }
    }

    /// Decrypted bytes stay in memory until the client has taken them, and twice while they are written to its socket.
    private static let largestOpenedPiece: Int64 = 2 * Chunk.alignment

    let id: Int64
    let key: CacheKey
    let url: ResourceURL
    let engine: Engine
    let store: Store
    let file: DataFile
    let ledger: ChunkLedger
    let allocation: Allocation
    let punches = PunchGate()
    /// `nil` in a plain cache.
    let sealer: ChunkSealer?
    /// Bytes of running fetches that are not sealed yet.
    let tails = UnsealedTails()
    let state: Mutex<State>
    /// Called when the origin has another representation.
    let onReplaced: @Sendable (LiveGeneration, String) -> Void

    init(
        record: GenerationRecord, file: DataFile, ledger: ChunkLedger, engine: Engine, store: Store,
        isConfirmed: Bool,
        onReplaced: @escaping @Sendable (LiveGeneration, String) -> Void
    ) {
        id = record.id
        key = record.key
        url = record.url
        self.engine = engine
        self.store = store
        self.file = file
        self.ledger = ledger
        self.onReplaced = onReplaced
        sealer = store.vault.map { vault in
            vault.sealer(name: store.index.name(of: record.key), generation: record.id, salt: record.salt)
        }
        let stored = ledger.ranges
        allocation = Allocation(stored)
        var machine = FetchSchedule(
            completeLength: record.completeLength, rangesSupported: record.rangesSupported, stored: stored)
        if sealer != nil { machine.largestPiece = Self.largestOpenedPiece }
        if store.problem != nil { _ = machine.closeStore() }
        let policy = engine.configuration.reuse
        let response = StoredResponse(
            record, policy: policy, isConfirmed: isConfirmed, at: engine.configuration.clock.elapsed())
        state = Mutex(
            State(machine: machine, response: response, origin: OriginHealth(url: record.url, policy: policy)))
    }

    var moment: Moment { engine.configuration.clock.moment }
    var elapsed: Duration { engine.configuration.clock.elapsed() }
    var generationPolicy: GenerationPolicy { engine.configuration.generationPolicy }

    // MARK: - Stored response

    var record: GenerationRecord { state.withLock { $0.currentRecord } }
    var information: ContentInformation { state.withLock { $0.information() } }
    var storedRanges: ByteRangeSet { state.withLock { $0.machine.stored } }
    var isIdle: Bool { state.withLock { $0.machine.isIdle } && file.leases.isEmpty }
    var isFrozen: Bool { state.withLock { $0.machine.isFrozen } }

    // MARK: - Effects

    func perform(_ effects: [FetchSchedule.Effect]) {
        for effect in effects { perform(effect) }
    }

    private func perform(_ effect: FetchSchedule.Effect) {
        switch effect {
        case .start(let id, let range): start(id, range, response: nil)
        case .demand(let id):
            let (interest, demand) = state.withLock { ($0.handles[id]?.interest, $0.machine.fetches[id]?.demand) }
            interest?.change(to: demand)
        case .resume(let id):
            state.withLock { state in
                state.handles[id]?.lingerTimer?.cancel()
                state.handles[id]?.lingerTimer = nil
                state.handles[id]?.isResumed = true
                return state.handles[id]?.takeParked()
            }?.resume(returning: .over)
        case .linger(let id):
            let (clock, linger) = (engine.configuration.clock, engine.configuration.linger)
            let timer = Task(executorPreference: DiskExecutor.shared) {
                try? await clock.sleep(linger)
                guard !Task.isCancelled else { return }
                self.perform(self.state.withLock { $0.machine.lingerExpired(id) })
            }
            state.withLock { $0.handles[id]?.lingerTimer = timer }
        case .cancel(let id):
            let handle = state.withLock { state in
                state.handles[id]?.isCancelled = true
                let handle = state.handles[id]
                state.handles[id]?.parked = nil
                return handle
            }
            handle?.lingerTimer?.cancel()
            // Until its head arrives, a sent request keeps running, unless it still waits for a connection or other
            // requests wait for its connection: breaking it off would waste the work under way.
            if handle?.isHandedOver != true { handle?.interest.change(to: nil) }
            handle?.body?.cancel()
            handle?.parked?.resume(returning: .over)
        case .wake(let reader):
            state.withLock { $0.parkedReaders.removeValue(forKey: reader) }?.resume()
        }
    }

    private func start(
        _ id: FetchSchedule.FetchID, _ range: Range<Int64>, response: FetchResponse?,
        interest: RequestInterest? = nil
    ) {
        state.withLock { state in
            let owner = state.machine.fetches[id]?.owner
            let request = owner.flatMap { state.requests[$0] } ?? OriginRequest(url: url)
            let interest = interest ?? RequestInterest(state.machine.fetches[id]?.demand)
            var handle = FetchHandle(interest: interest)
            handle.request = request
            handle.body = response?.response.body
            let driver = FetchRun(id: id, core: self, request: request, interest: interest)
            engine.fetchesUnderWay.withLock { $0 += 1 }
            handle.task = Task(executorPreference: DiskExecutor.shared) {
                await driver.run(response)
                driver.engine.fetchesUnderWay.withLock { $0 -= 1 }
            }
            state.handles[id] = handle
        }
    }

    /// Takes over the response that began this generation: the fetch fills from `placement.start` on behalf of the
    /// first reader.
    ///
    /// `interest` is that of the request that the response answers.
    func adopt(
        _ response: FetchResponse, spec: RangeSpec?, request: OriginRequest, interest: RequestInterest?
    ) throws(RepriseError) -> OpenedReader? {
        let placement = response.placement
        let (opened, id) = state.withLock { state -> (OpenedReader?, FetchSchedule.FetchID) in
            let extent = Self.extent(of: spec, completeLength: state.machine.completeLength)
            var opened: OpenedReader?
            if let extent {
                let reader = state.machine.addReader(extent.start, extent.end, demand: request.demand)
                state.requests[reader] = request
                opened = OpenedReader(
                    id: reader, start: extent.start, end: extent.end ?? state.machine.completeLength,
                    information: state.information(), disposition: .unknown, isCollapsed: false)
            }
            return (opened, state.machine.adoptFetch(start: placement.start, limit: placement.end, owner: opened?.id))
        }
        engine.reporter.count { $0.reads += opened == nil ? 0 : 1 }
        start(id, placement.start..<(placement.end ?? .max), response: response, interest: interest)
        return opened
    }

    // MARK: - Recording

    /// Stops recording and accepts no new readers, because the entry is removed.
    func markRemoved(because reason: FetchSchedule.Freeze = .removed) {
        perform(
            state.withLock { state in
                state.isRemoved = true
                return state.machine.freeze(because: reason)
            })
        dropRemainder()
        // The file's name goes, so its readers could not open it again.
        if !isIdle { file.hold() }
        engine.progress.changed(key)
    }

    /// Whether the index has a record of it.
    var isRecorded: Bool { state.withLock { $0.isRecorded } }

    func markRecorded() { state.withLock { $0.isRecorded = true } }

    /// Discards a generation that the index has no record of, because the index cannot be written and others wait for
    /// it too.
    ///
    /// A file without any record is removed.
    func dropUnrecorded() {
        if !isRecorded { replace(reason: "The index could not be written.") }
    }

    /// The changes that the index lacks.
    func takeUnrecorded() -> Index.Batch.Generation? {
        guard let record = state.withLock({ $0.isRemoved ? nil : $0.currentRecord }) else { return nil }
        return Index.Batch.Generation(
            record: record, usage: Usage(allocated: allocation.usage.allocated, stored: ledger.byteCount),
            blocks: ledger.takeUnrecorded())
    }
}
