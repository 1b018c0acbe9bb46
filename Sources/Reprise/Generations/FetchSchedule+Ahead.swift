import ByteRanges

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
