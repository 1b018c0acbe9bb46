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
        let isKept = reader.rangeFallback == .keep && rangesSupported == false && fetch.hasResponse
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

    /// A reader joins: the fetch takes its class if that is the higher one.
    mutating func raiseDemand(of id: FetchID, for reader: ReaderID) -> [Effect] {
        guard let demand = readers[reader]?.demand, let fetch = fetches[id] else { return [] }
        if let present = fetch.demand, present >= demand { return [] }
        fetches[id]?.demand = demand
        return [.demand(id)]
    }

    /// A reader of that class has left: fetches that had theirs from it take that of the readers that stay.
    mutating func lowerDemand(from demand: Demand) -> [Effect] {
        let isAhead = readsAhead && demand == .playing
        let active = fetches.filter {
            $0.value.phase == .active && ($0.value.demand == demand || isAhead && $0.value.demand == Self.aheadDemand)
        }
        return active.compactMap { id, fetch in
            var highest: Demand?
            for reader in readers.values where highest ?? .download <= reader.demand {
                guard interest(of: reader, in: fetch, id: id) != .none else { continue }
                highest = reader.demand
                if highest == demand { return nil }
            }
            guard let highest else { return nil }
            fetches[id]?.demand = highest
            return .demand(id)
        }
    }

    /// Parked fetches that may go on because a reader has moved.
    mutating func resumable() -> [Effect] {
        fetches.flatMap { id, fetch -> [Effect] in
            guard fetch.phase == .active else { return [] }
            let interest = interest(in: fetch, id: id)
            guard interest >= .ahead else { return [] }
            return settleDemand(of: id, wanted: interest) + [.resume(id)]
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
                return [.demand(id), .resume(id)]
            }
            fetches[id]?.phase = othersWanted ? .ending : .lingering
            return [othersWanted ? .cancel(id) : .linger(id)]
        }
    }

    /// A far seek: unwanted fetches end before the new request competes with them.
    mutating func cancelUnwanted(except new: FetchID) -> [Effect] {
        fetches.compactMap { id, fetch in
            guard id != new, fetch.phase == .lingering || fetch.phase == .active else { return nil }
            guard interest(in: fetch, id: id) == .none, !goesOnAlone(fetch) else { return nil }
            fetches[id]?.phase = .ending
            return .cancel(id)
        }
    }
}
