import ByteRanges

/// Fetches: what each brings, whether it goes on, how it ends.
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

    /// How far the request of a fetch may reach: as far as the range of a reader that waits for it, or of its owner.
    func bound(of id: FetchID) -> RangeForms.Bound {
        let owner = fetches[id]?.owner
        let concerned = readers.filter { $0.key == owner || $0.value.waitingOn == id }.values
        guard !concerned.isEmpty, concerned.allSatisfy({ $0.isBounded && $0.demand == .playing }),
            let end = concerned.compactMap(\.end).max()
        else { return .open }
        return .player(end)
    }

    /// The response to the fetch's request is here.
    mutating func responseArrived(_ id: FetchID) { fetches[id]?.hasResponse = true }

    /// The response has ended before it brought everything: only another one brings the rest.
    mutating func responseLost(_ id: FetchID) { fetches[id]?.hasResponse = false }

    /// The response to the fetch's request is the whole, which ends at `end`, in place of a range.
    ///
    /// All of it is stored for all readers, also what comes before and behind the range, but for what other responses
    /// bring. False if it is of no use: no reader wants the range at that price, or a response is under way that brings
    /// the same bytes and more.
    mutating func takeWhole(_ id: FetchID, to end: Int64?) -> Bool {
        let waiting = readers.values.filter { $0.waitingOn == id }
        if !waiting.isEmpty, waiting.allSatisfy({ $0.rangeFallback == .fail }) { return false }
        guard let position = fetches[id]?.cursor else { return false }
        let others = fetches.filter { $0.key != id && $0.value.hasResponse }
        // What arrives of the ones that end would not be all of it.
        for (other, fetch) in others where fetch.phase == .ending { fetches[other]?.limit = fetch.cursor }
        let running = others.values.filter { $0.phase != .ending }
        guard !running.contains(where: { $0.covers(position) }) else { return false }
        fetches[id]?.cursor = running.filter { $0.cursor <= position }.compactMap(\.limit).max() ?? 0
        fetches[id]?.limit = running.map(\.cursor).filter { $0 > position }.min() ?? end
        return true
    }

    /// What a fetch does with bytes that have arrived.
    struct Writable: Sendable {
        /// The next byte that the fetch is to bring.
        let cursor: Int64
        /// Where its range ends.
        let limit: Int64
        /// The parts that are not stored yet.
        let holes: [Range<Int64>]
    }

    /// The parts of `range` that the fetch should write: inside its limit, not stored yet.
    func writable(_ range: Range<Int64>, for id: FetchID) -> Writable {
        guard let fetch = fetches[id] else {
            return Writable(cursor: range.upperBound, limit: range.upperBound, holes: [])
        }
        let limit = fetch.limit ?? .max
        let lower = max(range.lowerBound, fetch.cursor)
        let upper = min(range.upperBound, limit)
        return Writable(cursor: fetch.cursor, limit: limit, holes: lower < upper ? stored.holes(in: lower..<upper) : [])
    }

    /// `count` bytes at the fetch's cursor are on disk.
    mutating func advance(_ id: FetchID, by count: Int64) -> (Verdict, [Effect]) {
        guard var fetch = fetches[id] else { return (.finished, []) }
        let range = fetch.cursor..<fetch.cursor + count
        store(range)
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
            let interest = interest(in: fetch, id: id)
            if interest == .none { return (.pause, settleUnwanted()) }
            fetches[id]?.isFull = interest == .later
            return (interest == .later ? .pause : .go, readsAhead ? settleDemand(of: id) : [])
        }
    }

    /// The fetch is over; `failure` if it did not bring what it was to bring.
    ///
    /// Readers whom the failure does not concern ask again, each with a request of its own. The reader whose request it
    /// was does not: it would be told the same for ever.
    mutating func end(
        _ id: FetchID, reachedEnd: Bool, failure: RepriseError?, concerns: (Reader) -> Bool = { _ in true }
    ) -> [Effect] {
        guard let fetch = fetches.removeValue(forKey: id) else { return [] }
        if reachedEnd, failure == nil { learn(completeLength: fetch.cursor, rangesSupported: nil) }
        var effects: [Effect] = []
        for (readerID, reader) in readers where reader.waitingOn == id {
            readers[readerID]?.waitingOn = nil
            readers[readerID]?.failure = readerID == fetch.owner || concerns(reader) ? failure : nil
            effects.append(.wake(readerID))
        }
        // Their readers may come back now, and their linger time may have passed.
        if rangesSupported != true {
            for (other, lingering) in fetches where lingering.phase == .lingering && lingering.covers(fetch.cursor) {
                effects.append(.linger(other))
            }
        }
        return effects
    }

    /// The linger time of the fetch is over.
    ///
    /// A fetch whose response may be needed stays until the response of the other one is here, see
    /// ``takeOver(_:isFirstProof:)``, or until the other one ends.
    mutating func lingerExpired(_ id: FetchID) -> [Effect] {
        guard let fetch = fetches[id], fetch.phase == .lingering, !mayBringAll(fetch) else { return [] }
        return [cancel(id)]
    }

    /// The fetch is stuck: no reader waits for it from now on, and `bypassing` ones fetch the hole for themselves.
    mutating func abandon(_ id: FetchID, bypassing: [ReaderID]) -> [Effect] {
        for reader in bypassing { readers[reader]?.bypassesHole = true }
        responseLost(id)
        let waiting = readers.filter { $0.value.waitingOn == id }.keys
        return [cancel(id)]
            + waiting.map { reader in
                readers[reader]?.waitingOn = nil
                return .wake(reader)
            }
    }

    /// Whether a body is under way that comes no faster than it is read, as something live does.
    var comesAsItIsMade: Bool {
        fetches.values.contains { $0.hasResponse && $0.phase != .ending && !$0.isFull }
    }

    /// Whether a reader waits for bytes of this fetch right now: an error must be retried or reported.
    func isAwaited(_ id: FetchID) -> Bool { readers.values.contains { $0.waitingOn == id } }
}

/// Which fetches readers want, how much, and what becomes of those that no reader wants.
extension FetchSchedule {
    /// How much any reader wants the next byte of `fetch`.
    func interest(in fetch: Fetch, id: FetchID) -> FetchInterest {
        var highest = FetchInterest.none
        for reader in readers.values {
            highest = max(highest, interest(of: reader, in: fetch, id: id))
            if highest == .now { return .now }
        }
        return highest
    }

    func interest(of reader: Reader, in fetch: Fetch, id: FetchID) -> FetchInterest {
        let interest = FetchInterest(
            of: reader, in: fetch, isAwaited: reader.waitingOn == id, reach: reach(for: reader, isFull: fetch.isFull),
            stored: stored)
        // A part cannot be sent if the complete length is unknown, so the reader will read the whole.
        let wantsWhole = reader.rangeFallback == .keep || reader.isBounded && completeLength == nil
        let isKept = wantsWhole && rangesSupported == false && fetch.hasResponse
        return isKept ? max(interest, .later) : interest
    }

    /// How far fetches run ahead of `reader` beyond its usual lead; less if one `isFull`.
    func reach(for reader: Reader, isFull: Bool = false) -> FetchInterest.Reach {
        guard reader.demand == .playing else { return FetchInterest.Reach() }
        return switch ahead {
        case .asRead: FetchInterest.Reach()
        case .by(let bytes): FetchInterest.Reach(bytes: isFull ? bytes - bytes / Self.refillDivisor : bytes)
        case .whole: .whole
        case .toEnd, .toEndAlone: .toEnd
        }
    }

    /// Whether what follows comes with this response only, so that it goes on without readers.
    private func goesOnAlone(_ fetch: Fetch) -> Bool {
        ahead == .toEndAlone && fetch.hasResponse && fetch.demand == .playing
    }

    /// The highest class of the readers that want `fetch`; `nil` if none does.
    ///
    /// That of a reader that waits for it counts, so the fetch never gives way to a reader that waits for it. What is
    /// read ahead of a player, because the configuration says so, has a lower class.
    private func demand(for fetch: Fetch, id: FetchID) -> Demand? {
        var highest: Demand?
        for reader in readers.values where highest ?? .download <= reader.demand {
            let interest = interest(of: reader, in: fetch, id: id)
            guard interest != .none else { continue }
            let isAhead = readsAhead && reader.demand == .playing && interest != .now
            highest = max(highest ?? .download, isAhead ? Self.aheadDemand : reader.demand)
            if highest == .playing { break }
        }
        return highest
    }

    /// Gives an active fetch the class of the readers that want it.
    mutating func settleDemand(of id: FetchID) -> [Effect] {
        guard let fetch = fetches[id], fetch.phase == .active, let demand = demand(for: fetch, id: id),
            demand != fetch.demand
        else { return [] }
        fetches[id]?.demand = demand
        return [.demand(id, demand)]
    }

    /// Parked fetches that may go on because a reader has moved.
    mutating func resumable() -> [Effect] {
        fetches.flatMap { id, fetch -> [Effect] in
            guard fetch.phase == .active else { return [] }
            let interest = interest(in: fetch, id: id)
            guard interest >= .ahead else { return [] }
            return (readsAhead ? settleDemand(of: id) : []) + [.resume(id)]
        }
    }

    /// Settles the fetches that no reader wants: nearly done ones finish, others linger; if another is wanted they
    /// would only halve its rate, so they end at once.
    mutating func settleUnwanted() -> [Effect] {
        let unwanted = fetches.filter { $0.value.phase == .active && interest(in: $0.value, id: $0.key) == .none }
        guard !unwanted.isEmpty else { return [] }
        let othersWanted = fetches.contains { $0.value.phase == .active && unwanted[$0.key] == nil }
        return unwanted.flatMap { id, fetch -> [Effect] in
            if fetch.remaining <= Self.finishThreshold || goesOnAlone(fetch) {
                fetches[id]?.phase = .finishing
                fetches[id]?.demand = nil
                return [.demand(id, nil), .resume(id)]
            }
            if othersWanted, !mayBringAll(fetch) { return [cancel(id)] }
            fetches[id]?.phase = .lingering
            return [.linger(id)]
        }
    }

    /// Whether the response of `fetch` may be the one that brings what another fetch was sent for.
    ///
    /// It is if ranges do not work, which the other one's response will show.
    func mayBringAll(_ fetch: Fetch) -> Bool {
        rangesSupported == nil && fetch.hasResponse
            && fetches.values.contains { $0.phase == .active && !$0.hasResponse && fetch.covers($0.cursor) }
    }

    /// Ends a fetch that no reader wants, so that it gives way to none.
    mutating func cancel(_ id: FetchID) -> Effect {
        fetches[id]?.phase = .ending
        fetches[id]?.demand = nil
        return .cancel(id)
    }

    /// A far seek: unwanted fetches end before the new request competes with them.
    mutating func cancelUnwanted(except new: FetchID) -> [Effect] {
        fetches.compactMap { id, fetch in
            guard id != new, fetch.phase == .lingering || fetch.phase == .active else { return nil }
            guard interest(in: fetch, id: id) == .none, !goesOnAlone(fetch) else { return nil }
            return cancel(id)
        }
    }
}

/// Reading ahead of players, as far as the configuration says.
extension FetchSchedule {
    /// A fetch that was as far ahead as it may be goes on once this part of that is used up, so that a slow player does
    /// not cost a request for each piece that it takes.
    static let refillDivisor: Int64 = 4
    /// The class of what is read ahead: it gives way to players that wait.
    static let aheadDemand = Demand.preload

    /// Whether fetches run ahead of players because the configuration says so.
    var readsAhead: Bool {
        switch ahead {
        case .by, .whole: true
        case .asRead, .toEnd, .toEndAlone: false
        }
    }

    /// Begins to fetch the holes that players come to next, where no fetch brings them.
    mutating func startAhead() -> [Effect] {
        guard readsAhead, !isFrozen, !isStoreClosed, rangesSupported == true else { return [] }
        return readers.keys.compactMap { startAhead(of: $0) }
    }

    private mutating func startAhead(of reader: ReaderID) -> Effect? {
        guard let known = readers[reader], known.readsAhead, known.waitingOn == nil,
            let hole = holeAhead(of: known), !fetches.values.contains(where: { $0.covers(hole.lowerBound) })
        else { return nil }
        let next = fetches.values.map(\.cursor).filter { $0 > hole.lowerBound }.min()
        let range = hole.lowerBound..<min(hole.upperBound, next ?? .max)
        let id = FetchID(number: makeNumber())
        let fetch = Fetch(
            start: range.lowerBound, cursor: range.lowerBound, limit: range.upperBound, owner: reader,
            demand: Self.aheadDemand)
        guard interest(of: known, in: fetch, id: id) >= .ahead else { return nil }
        fetches[id] = fetch
        return .start(id, range)
    }

    /// The first hole behind what a player has, within the file or what it requested.
    private func holeAhead(of reader: Reader) -> Range<Int64>? {
        guard reader.demand == .playing, let completeLength else { return nil }
        let end = reach(for: reader).passesEnd ? completeLength : min(reader.end ?? completeLength, completeLength)
        guard reader.delivered < end else { return nil }
        return stored.holes(in: reader.delivered..<end).first
    }

    /// Fetches nothing more on behalf of `reader`, or of any, before it waits for it.
    mutating func stopReadingAhead(of reader: ReaderID? = nil) {
        for id in readers.keys where reader == nil || reader == id { readers[id]?.readsAhead = false }
    }
}
