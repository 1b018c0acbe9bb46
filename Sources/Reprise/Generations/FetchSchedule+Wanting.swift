import ByteRanges

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
