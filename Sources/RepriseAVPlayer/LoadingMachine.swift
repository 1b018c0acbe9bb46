/// The state of the loading requests of one asset.
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
/// Rules that hold whatever AVFoundation does: content information comes before the first byte and before the end. A
/// request ends once. After a cancellation nothing is delivered. The bytes delivered are exactly the next ones, never
/// beyond the extent. A request succeeds only when all of its extent was delivered. Unknown requests are ignored.
struct LoadingMachine: Sendable {
    /// Identifies a loading request: one of AVFoundation's objects, not a URL or a range, which several requests may
    /// share.
    ///
    /// Not the object's address, which may be reused.
    struct ID: Hashable, Sendable { let number: UInt64 }

    /// What the owner has to do, in this order.
    enum Action: Sendable, Equatable {
        /// Find out what the resource is; no other task is doing so.
        case findInformation
        /// Fill in the content information.
        case inform(ID)
        /// Start to deliver these bytes; the range is not empty.
        case serve(ID, Range<Int64>)
        /// Everything was delivered.
        case finish(ID)
        /// Report to the player that loading failed.
        case fail(ID)
        /// Stop working for the request; the player has dropped it.
        case stop(ID)
    }

    private enum Phase: Sendable, Equatable {
        /// The length is not known yet.
        case waiting
        /// These bytes remain to be delivered.
        case serving(Range<Int64>)
    }

    private struct Entry: Sendable {
        let extent: LoadingExtent?
        let wantsInformation: Bool
        var phase: Phase
    }

    /// Maximum size of one delivery, in bytes: AVFoundation keeps each for as long as it likes.
    static let maximumPiece = 1 << 20

    private var entries: [ID: Entry] = [:]
    private var nextNumber: UInt64 = 0
    private(set) var completeLength: Int64?
    private var isFinding = false

    /// Number of requests that have not ended.
    var outstanding: Int { entries.count }

    /// Whether `id` is still active.
    func isLive(_ id: ID) -> Bool { entries[id] != nil }

    /// Receives a request.
    mutating func receive(extent: LoadingExtent?, wantsInformation: Bool) -> (ID, [Action]) {
        nextNumber += 1
        let id = ID(number: nextNumber)
        entries[id] = Entry(extent: extent, wantsInformation: wantsInformation, phase: .waiting)
        if let completeLength { return (id, begin(id, completeLength: completeLength)) }
        guard !isFinding else { return (id, []) }
        isFinding = true
        return (id, [.findInformation])
    }

    /// Notes the length, which stays the same for the lifetime of the asset.
    mutating func informed(completeLength: Int64) -> [Action] {
        isFinding = false
        self.completeLength = self.completeLength ?? completeLength
        return waiting.flatMap { begin($0, completeLength: completeLength) }
    }

    /// Fails the requests that wait for the length; the next request tries again.
    mutating func informationFailed() -> [Action] {
        isFinding = false
        return waiting.flatMap { failed($0) }
    }

    /// The requests that wait for the length, in order of arrival.
    private var waiting: [ID] {
        entries.keys.filter { entries[$0]?.phase == .waiting }.sorted { $0.number < $1.number }
    }

    private mutating func begin(_ id: ID, completeLength: Int64) -> [Action] {
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

    /// The next byte to deliver to a request; `nil` if it is not being served.
    func position(of id: ID) -> Int64? {
        guard case .serving(let rest) = entries[id]?.phase else { return nil }
        return rest.lowerBound
    }

    /// How many of `count` bytes at `offset` may be delivered to the player now; 0 if the request has ended or wants
    /// other bytes.
    func deliverable(_ id: ID, at offset: Int64, count: Int) -> Int {
        guard case .serving(let rest) = entries[id]?.phase, rest.lowerBound == offset else { return 0 }
        return Int(min(Int64(min(count, Self.maximumPiece)), rest.upperBound - offset))
    }

    /// Notes that `count` bytes were delivered.
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

    /// Fails a request whose bytes are unavailable.
    mutating func failed(_ id: ID) -> [Action] { entries.removeValue(forKey: id) == nil ? [] : [.fail(id)] }

    /// Cancels a request on behalf of the player; unknown ones are ignored.
    mutating func cancel(_ id: ID) -> [Action] { entries.removeValue(forKey: id) == nil ? [] : [.stop(id)] }

    /// Fails all requests; the player may ask again.
    mutating func failAll() -> [Action] { entries.keys.sorted { $0.number < $1.number }.flatMap { failed($0) } }

    /// Drops all requests because the asset is gone.
    mutating func release() -> [Action] {
        defer { entries = [:] }
        return entries.keys.map { .stop($0) }
    }
}
