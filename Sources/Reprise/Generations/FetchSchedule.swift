import ByteRanges

/// What happens to the bytes of one generation: who reads, what is on its way, who waits for what.
///
/// Pure: events in, actions out. Its owner holds it under a lock and performs the actions outside. A *reader* moves a
/// position through a range; a *fetch* owns a range of the representation and fills it from its cursor on. Readers
/// never own bytes: one that pauses holds up only a fetch that works for it alone.
struct FetchSchedule: Sendable {
    /// Largest piece, so that a stream holds at most 1 MiB and a slow reader holds up no memory.
    static let maximumPiece: Int64 = 1 << 20
    /// A cancelled fetch stores what the system had received before it ends: at most this much, and at once.
    static let drainLimit: Int64 = 1 << 20
    /// An unwanted fetch that lacks less than this may finish, so that its connection stays usable.
    static let finishThreshold: Int64 = 64 << 10

    /// Largest piece of this generation; smaller where pieces are held in memory while a slow client takes them.
    var largestPiece = Self.maximumPiece
    private(set) var completeLength: Int64?
    private(set) var rangesSupported: Bool?
    /// Changed elsewhere only by eviction (`FetchSchedule+Extents`).
    var stored: ByteRangeSet
    var verified = ByteRangeSet()
    /// What readers of this process took.
    private(set) var played = ByteRangeSet()
    var readers: [ReaderID: Reader] = [:]
    private(set) var fetches: [FetchID: Fetch] = [:]
    /// Why only stored bytes are served, if it is so.
    private var freeze: Freeze?
    /// Only stored bytes are served.
    var isFrozen: Bool { freeze != nil }
    /// Nothing more can be stored; bytes of holes bypass the store.
    private(set) var isStoreClosed = false
    private var nextNumber: UInt64 = 0

    init(completeLength: Int64?, rangesSupported: Bool?, stored: ByteRangeSet = ByteRangeSet()) {
        self.completeLength = completeLength
        self.rangesSupported = rangesSupported
        self.stored = stored
    }

    var isIdle: Bool { readers.isEmpty && fetches.isEmpty }

    private mutating func makeNumber() -> UInt64 {
        nextNumber += 1
        return nextNumber
    }
}

// MARK: - Readers

extension FetchSchedule {
    mutating func addReader(_ start: Int64, _ end: Int64?, demand: Demand = .playing) -> ReaderID {
        let id = ReaderID(number: makeNumber())
        readers[id] = Reader(
            start: start, end: end, demand: demand, consumed: start, delivered: start, stored: stored)
        return id
    }

    /// `reader` has consumed what it was given and wants more.
    ///
    /// `patience` is how far behind the wanted byte a running fetch may be for the reader to wait for it.
    mutating func next(_ id: ReaderID, patience: Int64) -> (Next, [Effect]) {
        guard var reader = readers[id] else { return (.end, []) }
        reader.consumed = reader.delivered
        reader.waitingOn = nil
        if let failure = reader.failure {
            reader.failure = nil
            readers[id] = reader
            return (.fail(failure), [])
        }
        readers[id] = reader
        let position = reader.delivered
        if let end = end(of: reader), position >= end {
            // The length was not known when it began.
            let isBeyond = reader.start > 0 && reader.start >= completeLength ?? .max
            return (isBeyond ? .fail(LiveGeneration.notSatisfiable(completeLength ?? 0)) : .end, resumable())
        }
        let prefix = stored.storedPrefix(from: position)
        if !prefix.isEmpty { return (piece(id, prefix, end: reader.end), resumable()) }
        if let freeze { return (.fail(freeze.error(at: position)), []) }
        if isStoreClosed { return (.direct(from: position, to: endOfHole(at: position, for: reader)), []) }
        let effects = wait(id, at: position, patience: patience)
        return (.wait, effects + resumable())
    }

    /// Where what the reader wants ends; `nil` while that is not known.
    func end(of id: ReaderID) -> Int64? { readers[id].flatMap(end) }

    /// Where the reader's range ends: a length that became known later cuts it (RFC 9110 §14.1.2).
    private func end(of reader: Reader) -> Int64? {
        guard let completeLength else { return reader.end }
        return min(reader.end ?? completeLength, completeLength)
    }

    /// Where the reader's hole at `position` ends; `nil` while that is not known.
    ///
    /// From an origin without ranges, which sends everything for each of them, all that the reader wants is one hole.
    private func endOfHole(at position: Int64, for reader: Reader) -> Int64? {
        let end = end(of: reader)
        guard rangesSupported != false else { return end }
        return stored.spans(in: position..<max(end ?? .max, position + 1)).first?.lowerBound ?? end
    }

    private mutating func piece(_ id: ReaderID, _ prefix: Range<Int64>, end: Int64?) -> Next {
        guard let reader = readers[id] else { return .end }
        let position = prefix.lowerBound
        var upper = min(prefix.upperBound, end ?? .max, position + largestPiece)
        let checked = verified.storedPrefix(from: position)
        guard !checked.isEmpty else { return .verify(position..<upper) }
        let (source, reached) = reader.source(of: position..<min(upper, checked.upperBound))
        upper = reached
        readers[id]?.delivered = upper
        played.insert(position..<upper)
        return .piece(position..<upper, source)
    }

    /// Joins the fetch that will bring `position` soon, or starts one.
    private mutating func wait(_ id: ReaderID, at position: Int64, patience: Int64) -> [Effect] {
        let candidates = fetches.filter { $0.value.covers(position) }
        if let (fetchID, fetch) = candidates.max(by: { $0.value.cursor < $1.value.cursor }),
            isWorthWaiting(for: fetch, at: position, patience: patience)
        {
            readers[id]?.waitingOn = fetchID
            guard fetch.phase != .ending else { return [] }
            fetches[fetchID]?.phase = .active
            return raiseDemand(of: fetchID, for: id)
        }
        var effects: [Effect] = []
        let fetchID = FetchID(number: makeNumber())
        var start = position
        var upper: Int64?
        if rangesSupported == false {
            start = 0
        } else {
            let wanted = position..<max(readers[id].flatMap(end) ?? .max, position + 1)
            upper = stored.spans(in: wanted).first?.lowerBound ?? wanted.upperBound
            for fetch in fetches.values where fetch.cursor > position { upper = min(upper ?? .max, fetch.cursor) }
        }
        effects.append(.start(fetchID, start..<(upper ?? .max)))
        if upper == .max { upper = nil }
        fetches[fetchID] = Fetch(
            start: start, cursor: start, limit: upper, owner: id, demand: readers[id]?.demand)
        readers[id]?.waitingOn = fetchID
        effects += cancelUnwanted(except: fetchID)
        return effects
    }

    /// The turn of a fetch to send its request has come: it takes over what follows its next byte from the fetches
    /// before it.
    ///
    /// False if the request is not needed: while it waited for its turn, another response has brought that byte, or has
    /// come near. Its readers look again when the fetch ends. A request that is never sent takes over nothing.
    mutating func claim(_ id: FetchID, patience: Int64) -> Bool {
        guard let fetch = fetches[id], rangesSupported != false else { return true }
        let position = fetch.cursor
        guard !stored.contains(position) else { return false }
        let others = fetches.filter { $0.key != id && $0.value.covers(position) }
        let isComing = others.values.contains { other in
            other.hasResponse && other.phase != .ending
                && isWorthWaiting(for: other, at: position, patience: patience)
        }
        guard !isComing else { return false }
        for other in others.keys { fetches[other]?.limit = position }
        return true
    }

    /// What was cancelled before its response came brings nothing more.
    private func isWorthWaiting(for fetch: Fetch, at position: Int64, patience: Int64) -> Bool {
        if fetch.phase == .ending, !fetch.hasResponse { return false }
        if rangesSupported == false { return true }
        return position - fetch.cursor <= (fetch.phase == .ending ? Self.drainLimit : patience)
    }

    mutating func removeReader(_ id: ReaderID) -> [Effect] {
        guard let reader = readers.removeValue(forKey: id) else { return [] }
        return settleUnwanted() + lowerDemand(from: reader.demand)
    }

    /// Whether the next byte for the reader is a hole.
    func mustWait(_ id: ReaderID) -> Bool {
        guard let reader = readers[id], reader.delivered < end(of: reader) ?? .max else { return false }
        return !stored.contains(reader.delivered)
    }

    /// A stored chunk was read and its checksum is right.
    ///
    /// A range evicted in the meantime stays a hole.
    mutating func markVerified(_ range: Range<Int64>) {
        for span in stored.spans(in: range) { verified.insert(span) }
    }

    /// A stored chunk was read and its checksum is wrong: a hole again.
    mutating func discard(_ range: Range<Int64>) {
        stored.remove(range)
        verified.remove(range)
    }

    /// The reader was given less than it was promised: it goes on at `position`.
    mutating func rewind(_ id: ReaderID, to position: Int64) { readers[id]?.delivered = position }
}

// MARK: - Fetches

extension FetchSchedule {
    /// Takes in a fetch whose response is already here: the one that began this generation.
    mutating func adoptFetch(start: Int64, limit: Int64?, owner: ReaderID?) -> FetchID {
        let id = FetchID(number: makeNumber())
        let demand = owner.flatMap { readers[$0]?.demand } ?? .playing
        fetches[id] = Fetch(
            start: start, cursor: start, limit: limit, owner: owner, demand: demand, hasResponse: true)
        if let owner { readers[owner]?.waitingOn = id }
        return id
    }

    /// The response to the fetch's request is here.
    mutating func responseArrived(_ id: FetchID) { fetches[id]?.hasResponse = true }

    /// `count` bytes at the fetch's cursor are on disk.
    mutating func advance(_ id: FetchID, by count: Int64) -> (Verdict, [Effect]) {
        guard var fetch = fetches[id] else { return (.finished, []) }
        let range = fetch.cursor..<fetch.cursor + count
        stored.insert(range)
        verified.insert(range)
        fetch.cursor = range.upperBound
        fetches[id] = fetch
        if let owner = fetch.owner { readers[owner]?.own.insert(range) }
        var effects: [Effect] = []
        // Also readers of a fetch that still waits for its turn.
        for (readerID, reader) in readers where reader.waitingOn != nil && range.contains(reader.delivered) {
            readers[readerID]?.waitingOn = nil
            effects.append(.wake(readerID))
        }
        if let limit = fetch.limit, fetch.cursor >= limit { return (.finished, effects) }
        let (verdict, more) = verdict(id)
        return (verdict, effects + more)
    }

    /// Whether the fetch may read on.
    mutating func verdict(_ id: FetchID) -> (Verdict, [Effect]) {
        guard let fetch = fetches[id] else { return (.finished, []) }
        if let limit = fetch.limit, fetch.cursor >= limit { return (.finished, []) }
        switch fetch.phase {
        case .ending: return (.go, [])
        case .finishing: return (.go, [])
        case .lingering: return (.pause, [])
        case .active:
            let interest = interest(in: fetch, id)
            if interest == .none { return (.pause, settleUnwanted()) }
            return (interest == .now ? .go : .pause, [])
        }
    }

    /// The fetch is over; `failure` if it did not bring what it was to bring.
    ///
    /// Readers whom the failure does not concern ask again, each with a request of its own.
    mutating func end(
        _ id: FetchID, reachedEnd: Bool, failure: RepriseError?, concerns: (ReaderID) -> Bool = { _ in true }
    ) -> [Effect] {
        guard let fetch = fetches.removeValue(forKey: id) else { return [] }
        if reachedEnd, failure == nil, completeLength == nil { completeLength = fetch.cursor }
        var effects: [Effect] = []
        for (readerID, reader) in readers where reader.waitingOn == id {
            readers[readerID]?.waitingOn = nil
            readers[readerID]?.failure = concerns(readerID) ? failure : nil
            effects.append(.wake(readerID))
        }
        return effects
    }

    /// The linger time of the fetch is over.
    mutating func lingerExpired(_ id: FetchID) -> [Effect] {
        guard fetches[id]?.phase == .lingering else { return [] }
        fetches[id]?.phase = .ending
        return [.cancel(id)]
    }

    /// Whether a reader waits for bytes of this fetch right now: an error must be retried or reported.
    func isAwaited(_ id: FetchID) -> Bool { readers.values.contains { $0.waitingOn == id } }

    /// From here on only stored bytes are served; the first reason counts.
    mutating func freeze(because reason: Freeze) -> [Effect] {
        freeze = freeze ?? reason
        return cancelAll() + wakeAll()
    }

    /// Nothing more can be stored.
    mutating func closeStore() -> [Effect] {
        isStoreClosed = true
        return cancelAll() + wakeAll()
    }

    /// Tries the disk again.
    mutating func reopenStore() { isStoreClosed = false }

    /// A response told the length or whether ranges work.
    mutating func learn(completeLength length: Int64?, rangesSupported supported: Bool?) {
        completeLength = completeLength ?? length
        rangesSupported = supported ?? rangesSupported
    }

    private mutating func wakeAll() -> [Effect] {
        readers.filter { $0.value.waitingOn != nil }.map { id, _ in
            readers[id]?.waitingOn = nil
            return .wake(id)
        }
    }

    private mutating func cancelAll() -> [Effect] {
        fetches.filter { $0.value.phase != .ending }.map { id, _ in
            fetches[id]?.phase = .ending
            return .cancel(id)
        }
    }

    /// How much any reader wants the next byte of `fetch`.
    private func interest(in fetch: Fetch, _ id: FetchID) -> FetchInterest {
        var highest = FetchInterest.none
        for reader in readers.values {
            highest = max(highest, interest(of: reader, in: fetch, id))
            if highest == .now { return .now }
        }
        return highest
    }

    private func interest(of reader: Reader, in fetch: Fetch, _ id: FetchID) -> FetchInterest {
        FetchInterest(of: reader, in: fetch, isAwaited: reader.waitingOn == id, stored: stored)
    }

    /// A reader joins: the fetch takes its class if that is the higher one.
    private mutating func raiseDemand(of id: FetchID, for reader: ReaderID) -> [Effect] {
        guard let demand = readers[reader]?.demand, let fetch = fetches[id] else { return [] }
        if let present = fetch.demand, present >= demand { return [] }
        fetches[id]?.demand = demand
        return [.demand(id)]
    }

    /// A reader of that class has left: fetches that had theirs from it take that of the readers that stay.
    private mutating func lowerDemand(from demand: Demand) -> [Effect] {
        let active = fetches.filter { $0.value.phase == .active && $0.value.demand == demand }
        return active.compactMap { id, fetch in
            var highest: Demand?
            for reader in readers.values where highest ?? .download <= reader.demand {
                guard interest(of: reader, in: fetch, id) != .none else { continue }
                highest = reader.demand
                if highest == demand { return nil }
            }
            guard let highest else { return nil }
            fetches[id]?.demand = highest
            return .demand(id)
        }
    }

    /// Parked fetches that may go on because a reader has moved.
    private func resumable() -> [Effect] {
        fetches.compactMap { id, fetch in
            fetch.phase == .active && interest(in: fetch, id) == .now ? .resume(id) : nil
        }
    }

    /// Settles the fetches that no reader wants: nearly done ones finish, others linger; if another is wanted they
    /// would only halve its rate, so they end at once.
    private mutating func settleUnwanted() -> [Effect] {
        let unwanted = fetches.filter { $0.value.phase == .active && interest(in: $0.value, $0.key) == .none }
        guard !unwanted.isEmpty else { return [] }
        let othersWanted = fetches.contains { $0.value.phase == .active && unwanted[$0.key] == nil }
        return unwanted.flatMap { id, fetch -> [Effect] in
            if fetch.remaining <= Self.finishThreshold {
                fetches[id]?.phase = .finishing
                fetches[id]?.demand = nil
                return [.demand(id), .resume(id)]
            }
            fetches[id]?.phase = othersWanted ? .ending : .lingering
            return [othersWanted ? .cancel(id) : .linger(id)]
        }
    }

    /// A far seek: unwanted fetches end before the new request competes with them.
    private mutating func cancelUnwanted(except new: FetchID) -> [Effect] {
        fetches.compactMap { id, fetch in
            guard id != new, fetch.phase == .lingering || fetch.phase == .active else { return nil }
            guard interest(in: fetch, id) == .none else { return nil }
            fetches[id]?.phase = .ending
            return .cancel(id)
        }
    }
}
