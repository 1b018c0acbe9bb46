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
    var stored: ByteRangeSet
    var verified = ByteRangeSet()
    /// What readers of this process took.
    var played = ByteRangeSet()
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
