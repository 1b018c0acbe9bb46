import ByteRanges
import HTTPSemantics

/// What happens to the bytes of one generation: who reads, what is on its way, who waits for what.
///
/// Pure: events in, decisions out. Its owner holds it under a lock and carries the decisions out in their order. A
/// *reader* moves a position through a range; a *fetch* owns a range of the representation and fills it from its cursor
/// on. Readers never own bytes: one that pauses holds up only a fetch that works for it alone.
struct FetchSchedule: Sendable {
    /// Largest piece, so that a stream holds at most 1 MiB and a slow reader holds up no memory.
    static let maximumPiece: Int64 = 1 << 20
    /// A canceled fetch stores what the system had received before it ends: at most this much, and at once.
    static let drainLimit: Int64 = 1 << 20
    /// An unwanted fetch that lacks less than this may finish, so that its connection stays usable.
    static let finishThreshold: Int64 = 64 << 10
    /// A wanted fetch that lacks at most this is not cut short for a reader further ahead: most of the rest is on its
    /// way already, and would come twice.
    static let mostUncut: Int64 = 256 << 10

    /// Largest piece of this generation; smaller where pieces are held in memory while a slow client takes them.
    var largestPiece = Self.maximumPiece
    /// How far fetches run ahead of readers that play.
    var ahead = Ahead.asRead
    private(set) var completeLength: Int64?
    private(set) var rangesSupported: Bool?
    private(set) var stored: ByteRangeSet
    private(set) var verified = ByteRangeSet()
    /// What readers of this process took.
    private(set) var played = ByteRangeSet()
    var readers: [ReaderID: Reader] = [:]
    var fetches: [FetchID: Fetch] = [:]
    /// Why only stored bytes are served, if it is so.
    private(set) var freeze: Freeze?
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

    /// A number for a reader or fetch that none had before.
    mutating func makeNumber() -> UInt64 {
        nextNumber += 1
        return nextNumber
    }

    // MARK: - Stored bytes

    /// Whether all of `spec` is stored.
    func isStored(_ spec: RangeSpec?) -> Bool {
        guard let completeLength, let extent = ReadExtent(spec, completeLength: completeLength), let end = extent.end
        else { return false }
        return stored.holes(in: extent.start..<end).isEmpty
    }

    /// Whether `spec` lies outside a representation of known length, as each range does of an empty one.
    func isOutside(_ spec: RangeSpec?) -> Bool {
        completeLength != nil && ReadExtent(spec, completeLength: completeLength) == nil
    }

    /// Whether the first byte of `spec` is stored.
    func hasBeginning(of spec: RangeSpec?) -> Bool {
        ReadExtent(spec, completeLength: completeLength).map { stored.contains($0.start) } ?? false
    }

    /// The first hole in `spec`, open-ended if it reaches the end of the representation; `nil` if there is no hole, or
    /// nothing of `spec` is stored.
    func hole(in spec: RangeSpec?) -> RangeSpec? {
        guard let completeLength, let extent = ReadExtent(spec, completeLength: completeLength) else { return nil }
        let range = extent.start..<(extent.end ?? completeLength)
        guard !stored.spans(in: range).isEmpty, let hole = stored.holes(in: range).first else { return nil }
        return hole.upperBound == completeLength ? .from(hole.lowerBound) : .bounded(hole)
    }

    /// A stored chunk was read and its checksum is right.
    ///
    /// A range evicted in the meantime stays a hole.
    mutating func markVerified(_ range: Range<Int64>) {
        for span in stored.spans(in: range) { verified.insert(span) }
    }

    /// Stored bytes turned out to be wrong or missing: holes again; returns how many bytes they had.
    @discardableResult
    mutating func discard(_ ranges: [Range<Int64>]) -> Int64 {
        let before = stored.byteCount
        for range in ranges {
            stored.remove(range)
            verified.remove(range)
            // What replaces them is not from the store.
            for id in readers.keys { readers[id]?.stored.remove(range) }
        }
        return before - stored.byteCount
    }

    /// These bytes are on disk now; what was not stored before is right.
    mutating func store(_ range: Range<Int64>) {
        for hole in stored.holes(in: range) { verified.insert(hole) }
        stored.insert(range)
    }

    /// Removes the bytes of `extents` from the stored ranges.
    mutating func evict(_ extents: [Range<Int64>]) {
        for extent in extents {
            stored.remove(extent)
            verified.remove(extent)
            for id in readers.keys {
                readers[id]?.stored.remove(extent)
                readers[id]?.own.remove(extent)
            }
        }
    }

    // MARK: - The whole

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

    /// A response told the length, or proved whether ranges work.
    mutating func learn(completeLength length: Int64?, rangesSupported supported: Bool?) {
        completeLength = completeLength ?? length
        rangesSupported = supported ?? rangesSupported
    }

    /// The origin sent the whole in place of a part some time ago, which proves nothing now: the next hole is requested
    /// as a range again.
    mutating func forgetRefusedRanges() { if rangesSupported == false { rangesSupported = nil } }

    /// The request of a fetch was refused because the representation ends before it, at `length`; false if what is
    /// known contradicts that.
    ///
    /// The length may be known by now: other fetches run, too.
    mutating func learnEnd(_ length: Int64?, from id: FetchID) -> Bool {
        guard let length, let fetch = fetches[id], fetch.cursor >= length, completeLength ?? length == length,
            stored.bounds?.upperBound ?? 0 <= length
        else { return false }
        learn(completeLength: length, rangesSupported: nil)
        return true
    }

    private mutating func wakeAll() -> [Effect] {
        readers.filter { $0.value.waitingOn != nil }.map { id, _ in
            readers[id]?.waitingOn = nil
            return .wake(id)
        }
    }

    private mutating func cancelAll() -> [Effect] {
        fetches.filter { $0.value.phase != .ending }.map { cancel($0.key) }
    }
}

/// Readers: who begins, what each gets next, which fetch it waits for.
extension FetchSchedule {
    mutating func addReader(
        _ start: Int64, to end: Int64?, demand: Demand = .playing, rangeFallback: RangeFallback = .wait,
        isBounded: Bool = false, request: SharedRequest? = nil
    ) -> ReaderID {
        let id = ReaderID(number: makeNumber())
        readers[id] = Reader(
            start: start, end: end, demand: demand, rangeFallback: rangeFallback, isBounded: isBounded,
            consumed: start, delivered: start, stored: stored, request: request)
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
