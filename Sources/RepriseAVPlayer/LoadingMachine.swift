/// What happens to the loading requests of one asset.
///
/// Pure: events in, actions out.
///
/// ```
///                     ┌── length unknown ──► waiting ──┐ informed
///   receive ──────────┤                                ▼
///                     └── length known ───► serving ──────► finished
///                                              │  deliver (≤ 1 MiB, in order)
///   cancel, failed, released: forgotten, from every state; whatever comes later is ignored
/// ```
/// Rules that hold whatever AVFoundation does: content information before the first byte and before the end; a request
/// ends once; after a cancellation nothing is given; the bytes given are exactly the next ones, never past the extent;
/// success only when all of the extent was given; a request that is not known is ignored.
struct LoadingMachine: Sendable {
    /// Names a loading request: one object of AVFoundation's, not a URL or a range, of which there may be several alike.
    ///
    /// Not the object's address, which a later one may have again.
    struct ID: Hashable, Sendable { let number: UInt64 }

    /// What the owner has to do, in this order.
    enum Action: Sendable, Equatable {
        /// Find out what the resource is; nobody else is doing so.
        case findInformation
        /// Fill in the content information.
        case inform(ID)
        /// Begin to give these bytes, which are not none.
        case serve(ID, Range<Int64>)
        /// Everything was given.
        case finish(ID)
        /// Tell the player that loading failed.
        case fail(ID)
        /// Stop working for the request; the player has forgotten it.
        case stop(ID)
    }

    private enum Phase: Sendable, Equatable {
        /// The length is not known yet.
        case waiting
        /// These bytes are still to be given.
        case serving(Range<Int64>)
    }

    private struct Entry: Sendable {
        let extent: LoadingExtent?
        let wantsInformation: Bool
        var phase: Phase
    }

    /// Largest piece given at once, in bytes: AVFoundation keeps every one for as long as it likes.
    static let maximumPiece = 1 << 20

    private var entries: [ID: Entry] = [:]
    private var nextNumber: UInt64 = 0
    private(set) var completeLength: Int64?
    private var isFinding = false

    /// Requests that have not ended.
    var outstanding: Int { entries.count }

    /// Whether `id` still wants something.
    func isLive(_ id: ID) -> Bool { entries[id] != nil }

    /// AVFoundation asks.
    mutating func receive(extent: LoadingExtent?, wantsInformation: Bool) -> (ID, [Action]) {
        nextNumber += 1
        let id = ID(number: nextNumber)
        entries[id] = Entry(extent: extent, wantsInformation: wantsInformation, phase: .waiting)
        if let completeLength { return (id, begin(id, completeLength)) }
        guard !isFinding else { return (id, []) }
        isFinding = true
        return (id, [.findInformation])
    }

    /// The length is known; it stays what it is for as long as the asset lives.
    mutating func informed(completeLength: Int64) -> [Action] {
        isFinding = false
        self.completeLength = self.completeLength ?? completeLength
        return waiting.flatMap { begin($0, completeLength) }
    }

    /// The length could not be found: whoever waits for it fails, the next request tries again.
    mutating func informationFailed() -> [Action] {
        isFinding = false
        return waiting.flatMap { failed($0) }
    }

    /// Who waits for the length, in order of arrival.
    private var waiting: [ID] {
        entries.keys.filter { entries[$0]?.phase == .waiting }.sorted { $0.number < $1.number }
    }

    private mutating func begin(_ id: ID, _ completeLength: Int64) -> [Action] {
        guard var entry = entries[id] else { return [] }
        let information: [Action] = entry.wantsInformation ? [.inform(id)] : []
        guard let range = entry.extent?.clipped(to: completeLength), !range.isEmpty else {
            entries[id] = nil
            return information + [.finish(id)]
        }
        entry.phase = .serving(range)
        entries[id] = entry
        return information + [.serve(id, range)]
    }

    /// The next byte that a request is to be given; `nil` if it is not being served.
    func position(of id: ID) -> Int64? {
        guard case .serving(let rest) = entries[id]?.phase else { return nil }
        return rest.lowerBound
    }

    /// How many of `count` bytes at `offset` may be given to the player now: 0 if it has gone or wants other bytes.
    func deliverable(_ id: ID, at offset: Int64, count: Int) -> Int {
        guard case .serving(let rest) = entries[id]?.phase, rest.lowerBound == offset else { return 0 }
        return Int(min(Int64(min(count, Self.maximumPiece)), rest.upperBound - offset))
    }

    /// `count` bytes were given.
    mutating func delivered(_ id: ID, count: Int) -> [Action] {
        guard case .serving(let rest) = entries[id]?.phase else { return [] }
        let next = rest.lowerBound + Int64(count)
        guard next < rest.upperBound else {
            entries[id] = nil
            return [.finish(id)]
        }
        entries[id]?.phase = .serving(next..<rest.upperBound)
        return []
    }

    /// Its bytes cannot be had.
    mutating func failed(_ id: ID) -> [Action] { entries.removeValue(forKey: id) == nil ? [] : [.fail(id)] }

    /// The player gave it up; unknown ones are ignored.
    mutating func cancel(_ id: ID) -> [Action] { entries.removeValue(forKey: id) == nil ? [] : [.stop(id)] }

    /// Loading is to stop now; the player is told, and may ask again.
    mutating func failAll() -> [Action] { entries.keys.sorted { $0.number < $1.number }.flatMap { failed($0) } }

    /// The asset is gone, and with it everybody who could be answered.
    mutating func release() -> [Action] {
        defer { entries = [:] }
        return entries.keys.map { .stop($0) }
    }
}
