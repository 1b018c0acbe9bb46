import ByteRanges

/// Readers: who begins, what each gets next, which fetch it waits for.
extension FetchSchedule {
    mutating func addReader(
        _ start: Int64, to end: Int64?, demand: Demand = .playing, rangeFallback: RangeFallback = .wait,
        isBounded: Bool = false
    ) -> ReaderID {
        let id = ReaderID(number: makeNumber())
        readers[id] = Reader(
            start: start, end: end, demand: demand, rangeFallback: rangeFallback, isBounded: isBounded,
            consumed: start, delivered: start, stored: stored)
        return id
    }

    /// `reader` has consumed what it was given and wants more.
    ///
    /// `joinDistance` is how far behind the wanted byte a running fetch may be for the reader to wait for it.
    mutating func next(_ id: ReaderID, joinDistance: Int64) -> (Next, [Effect]) {
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
            return (isBeyond ? .fail(ReadExtent.notSatisfiable(completeLength ?? 0)) : .end, resumable())
        }
        let prefix = stored.storedPrefix(from: position)
        if !prefix.isEmpty { return (piece(id, prefix: prefix, end: reader.end), resumable()) }
        if let freeze { return (.fail(freeze.error(at: position)), []) }
        if reader.rangeFallback == .fail, rangesSupported == false { return (.fail(.rangesUnsupported), resumable()) }
        if isStoreClosed || reader.bypassesHole {
            readers[id]?.bypassesHole = false
            return (.direct(from: position, to: endOfHole(at: position, for: reader)), resumable())
        }
        let effects = wait(id, at: position, joinDistance: joinDistance)
        return (.wait, effects + resumable())
    }

    /// Where what the reader wants ends; `nil` while that is not known.
    func end(of id: ReaderID) -> Int64? { readers[id].flatMap(end) }

    /// Where a fetch that begins for the reader ends; `nil` for the end of the representation.
    private func endOfFetch(for id: ReaderID) -> Int64? {
        guard let reader = readers[id] else { return nil }
        return reach(for: reader).passesEnd ? completeLength : end(of: reader)
    }

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

    private mutating func piece(_ id: ReaderID, prefix: Range<Int64>, end: Int64?) -> Next {
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
    private mutating func wait(_ id: ReaderID, at position: Int64, joinDistance: Int64) -> [Effect] {
        let candidates = fetches.filter { $0.value.covers(position) }
        if let (fetchID, fetch) = candidates.max(by: { $0.value.cursor < $1.value.cursor }),
            isWorthWaiting(for: fetch, at: position, joinDistance: joinDistance)
        {
            readers[id]?.waitingOn = fetchID
            readers[id]?.readsAhead = true
            guard fetch.phase != .ending else { return [] }
            fetches[fetchID]?.phase = .active
            return settleDemand(of: fetchID)
        }
        var effects: [Effect] = []
        let fetchID = FetchID(number: makeNumber())
        var start = position
        var upper: Int64?
        if rangesSupported == false {
            start = 0
        } else {
            let wanted = position..<max(endOfFetch(for: id) ?? .max, position + 1)
            upper = stored.spans(in: wanted).first?.lowerBound ?? wanted.upperBound
            for fetch in fetches.values where fetch.cursor > position { upper = min(upper ?? .max, fetch.cursor) }
        }
        effects.append(.start(fetchID, start..<(upper ?? .max)))
        if upper == .max { upper = nil }
        fetches[fetchID] = Fetch(
            start: start, cursor: start, limit: upper, owner: id, demand: readers[id]?.demand)
        readers[id]?.waitingOn = fetchID
        readers[id]?.readsAhead = true
        // If it is unknown whether ranges work, the response may be the whole, which others are bringing already.
        if rangesSupported == true { effects += cancelUnwanted(except: fetchID) }
        return effects
    }

    /// The turn of a fetch to send its request has come: it takes over what follows its next byte from the fetches
    /// before it, if ranges are known to work.
    ///
    /// False if the request is not needed: while it waited for its turn, another response has brought that byte, or has
    /// come near. Its readers look again when the fetch ends. A request that is never sent takes over nothing.
    mutating func claim(_ id: FetchID, joinDistance: Int64) -> Bool {
        guard let fetch = fetches[id], rangesSupported != false else { return true }
        let position = fetch.cursor
        guard !stored.contains(position) else { return false }
        let others = fetches.filter { $0.key != id && $0.value.covers(position) }
        let isComing = others.values.contains { other in
            other.hasResponse && other.phase != .ending
                && isWorthWaiting(for: other, at: position, joinDistance: joinDistance)
        }
        guard !isComing else { return false }
        if rangesSupported == true { cutOthers(at: position, except: id) }
        return true
    }

    /// The response of a fetch is a part: it takes over what follows its next byte from the fetches before it.
    ///
    /// With `isFirstProof`, it was unknown until now whether ranges work, and the fetches that no reader wants end.
    mutating func takeOver(_ id: FetchID, isFirstProof: Bool) -> [Effect] {
        guard let fetch = fetches[id], fetch.phase != .ending else { return [] }
        cutOthers(at: fetch.cursor, except: id)
        return isFirstProof ? cancelUnwanted(except: id) : []
    }

    private mutating func cutOthers(at position: Int64, except id: FetchID) {
        for (other, fetch) in fetches where other != id && fetch.covers(position) { fetches[other]?.limit = position }
    }

    /// What was canceled before its response came brings nothing more.
    private func isWorthWaiting(for fetch: Fetch, at position: Int64, joinDistance: Int64) -> Bool {
        if fetch.phase == .ending, !fetch.hasResponse { return false }
        if rangesSupported == false || fetch.phase == .active && fetch.remaining <= Self.mostUncut { return true }
        return position - fetch.cursor <= (fetch.phase == .ending ? Self.drainLimit : joinDistance)
    }

    /// Whether all of `range` is stored or on its way, and the first byte that is not stored comes without waiting for
    /// more than `joinDistance` bytes before it.
    func willHave(_ range: Range<Int64>, joinDistance: Int64) -> Bool {
        let holes = stored.holes(in: range)
        guard let first = holes.first?.lowerBound else { return true }
        let joinDistance = rangesSupported == false ? .max : joinDistance
        return holes.allSatisfy { hole in
            fetches.values.contains { fetch in
                fetch.phase != .ending && fetch.cursor <= hole.lowerBound && (fetch.limit ?? .max) >= hole.upperBound
                    && first - fetch.cursor <= joinDistance
            }
        }
    }

    mutating func removeReader(_ id: ReaderID) -> [Effect] {
        guard readers.removeValue(forKey: id) != nil else { return [] }
        return settleUnwanted() + fetches.keys.flatMap { settleDemand(of: $0) }
    }

    /// Whether the next byte for the reader is a hole.
    func mustWait(_ id: ReaderID) -> Bool {
        guard let reader = readers[id], reader.delivered < end(of: reader) ?? .max else { return false }
        return !stored.contains(reader.delivered)
    }

    /// The reader was given less than it was promised: it goes on at `position`.
    mutating func rewind(_ id: ReaderID, to position: Int64) { readers[id]?.delivered = position }
}

extension RepriseError {
    fileprivate static var rangesUnsupported: RepriseError {
        RepriseError(.rangesUnsupported, "The origin sends the whole file in place of a part of it.")
    }
}
