public import HTTPSemantics
public import HTTPTypes
import Primitives

/// The bytes of one read, in order, pulled by one consumer; if several share the read, each piece goes to one of them.
///
/// Only bytes that the consumer requests are fetched, apart from a small lead. The sequence ends without an error only
/// after its last byte; otherwise it throws ``RepriseError`` (`validatorChanged` when the representation changed and a
/// hole remains, `closed` when the cache was closed, `originBodyTruncated`, …) or `CancellationError`. Releasing the
/// read or calling ``cancel()`` ends it; bytes that have arrived stay stored.
public final class MediaRead: AsyncSequence, Sendable {
    /// A piece: a region of a file, or bytes in memory.
    public typealias Element = MediaPiece

    /// The metadata of the representation.
    public let information: ContentInformation
    /// First byte of the read.
    public let start: Int64
    /// End of the read, exclusive; `nil` while the representation's length is unknown.
    public let end: Int64?
    /// How the read began.
    public let disposition: ReadDisposition
    /// Why the origin was asked before the first byte could be served; `nil` if it was not asked.
    public let forwarded: CacheStatus.ForwardReason?
    /// The status of the origin's answer to that request; `nil` if it was not asked or did not answer.
    public let originStatus: Int?
    /// Whether another reader's fetch brings its first byte.
    public let isCollapsed: Bool
    /// The origin's response head, if the response is passed on unchanged (content coding, `no-store`, …); the pieces
    /// are then its body, and `start` and `end` have no meaning.
    public let passedThrough: HTTPResponse?
    /// Why that response must not be stored, as far as it is known.
    let bypassReason: PassThroughReason?
    private enum Source {
        case generation(Generation, FetchSchedule.ReaderID)
        /// The bytes bypass the store; after a hole, the read goes back to the generation.
        case direct(DirectRead, Return?)
        /// Every byte was delivered, or the read failed with this error.
        case ended((any Error)?)
    }

    /// The reader that continues in the generation where a hole ends.
    private struct Return {
        let generation: Generation
        let reader: FetchSchedule.ReaderID
        let position: Int64
    }

    private struct State {
        var source: Source { didSet { notePath() } }
        var served = SourceBytes()
        var first, last: PieceSource?
        var isPastStore = false
        /// Bytes that ``MediaRead/putBack(_:)`` returned, which come before the source's next ones.
        var returned: [[UInt8]] = []
        /// What claims memory for them.
        var claim: (any AnyObject & Sendable)?
        /// Hears what was served once the read has ended.
        var onEnd: (@Sendable (SourceBytes, _ first: PieceSource?) -> Void)?
        /// Retains the cache until the read ends.
        var cache: MediaCache?

        init(source: Source) {
            self.source = source
            notePath()
        }

        private mutating func notePath() {
            if case .direct = source { isPastStore = true }
        }
    }

    private let state: Mutex<State>
    /// Admits one consumer at a time.
    private let turn = Turn()
    private let resource: LiveResource
    private let wanted: ReadRequest

    init(
        _ opened: OpenedReader, how: Confirmation?, generation: Generation, resource: LiveResource,
        wanted: ReadRequest
    ) {
        information = opened.information
        start = opened.start
        end = opened.end
        disposition = opened.disposition == .hit && how != nil ? .validated : opened.disposition
        forwarded = how?.reason
        originStatus = how?.status
        isCollapsed = opened.isCollapsed
        (passedThrough, bypassReason) = (nil, nil)
        state = Mutex(State(source: .generation(generation, opened.id)))
        (self.resource, self.wanted) = (resource, wanted)
        noteBegun()
    }

    /// Creates a read that bypasses the store, from a response that has already arrived.
    init(_ answer: OriginAnswer, resource: LiveResource, wanted: ReadRequest) throws {
        let response = answer.response
        (self.resource, self.wanted) = (resource, wanted)
        disposition = .bypass
        forwarded = .bypass
        originStatus = response.head.status.code
        isCollapsed = false
        let placement: BodyPlacement
        if case .newGeneration(let found, _) = answer.action {
            placement = found
            guard let extent = ReadExtent(wanted.range, completeLength: found.completeLength) else {
                response.body.cancel()
                throw ReadExtent.notSatisfiable(found.completeLength ?? 0)
            }
            (start, end) = (extent.start, extent.end ?? found.completeLength)
            (passedThrough, bypassReason) = (nil, nil)
        } else {
            placement = BodyPlacement(start: 0)
            (start, end) = (0, nil)
            passedThrough = response.head
            if case .passThrough(let reason) = answer.action { bypassReason = reason } else { bypassReason = nil }
        }
        information = ContentInformation(
            response: response.head, completeLength: placement.completeLength,
            rangesSupported: placement.rangesSupported, finalURL: response.url)
        let direct = DirectRead(
            response.body, at: placement, from: start, to: end, request: wanted.origin, engine: resource.engine)
        state = Mutex(State(source: .direct(direct, nil)))
        if let bypassReason, bypassReason.isOfHost, !wanted.directives.noStore {
            resource.engine.reporter.remark(
                "Some responses are passed on without being stored. \(bypassReason.words)", about: resource.key,
                at: wanted.origin.url.authority)
        }
        noteBegun()
    }

    deinit { cancel() }

    private func noteBegun() {
        guard wanted.isCounted else { return }
        resource.engine.reporter.count { tally in
            tally.noteReads(1, disposition, isCollapsed: isCollapsed)
            tally.openReads += 1
        }
    }

    /// Calls `body` when the read has ended, with the bytes that it served and the source of the first of them.
    package func whenEnded(_ body: @escaping @Sendable (SourceBytes, _ first: PieceSource?) -> Void) {
        let ended = state.withLock { state -> State? in
            guard case .ended = state.source else {
                state.onEnd = body
                return nil
            }
            return state
        }
        if let ended { body(ended.served, ended.first) }
    }

    /// Retains `cache` until the read ends.
    func keep(_ cache: MediaCache) {
        state.withLock { state in
            if case .ended = state.source { return }
            state.cache = cache
        }
    }

    /// Number of bytes delivered so far that came from `source`.
    public func servedBytes(from source: PieceSource) -> Int64 { state.withLock { $0.served[source] } }

    /// Whether the last piece delivered was on disk before the read began.
    public var lastPieceWasStored: Bool { state.withLock { $0.last == .store } }

    /// Whether the next piece must first come from the origin.
    public var mustWait: Bool {
        let (source, hasReturned) = state.withLock { ($0.source, !$0.returned.isEmpty) }
        if hasReturned { return false }
        return switch source {
        case .generation(let generation, let reader): generation.ask { $0.schedule.mustWait(reader) }
        case .direct: true
        case .ended: false
        }
    }

    /// Whether pieces bypass the store or bypassed it at some point.
    package var isPastStore: Bool { state.withLock { $0.isPastStore } }

    /// How many removals of titles came before it: what it says of a title that is removed since no longer counts.
    package var removedTitleCount: Int { wanted.asOf }

    /// Number of bytes of the read; `nil` while unknown.
    public var count: Int64? { end.map { $0 - start } }

    /// Ends the read; from then on ``next()`` and ``nextBytes()`` throw `CancellationError`, including calls that are
    /// waiting.
    ///
    /// Its fetch is kept for a moment in case the player comes back, then canceled. Does nothing after the last byte.
    public func cancel() { end(because: CancellationError()) }

    /// Ends the read, with `error` unless every byte was delivered; only the first call has an effect.
    private func end(because error: (any Error)?) {
        // The cache is released outside the lock.
        let (source, before) = state.withLock { state in
            let (source, before) = (state.source, state)
            // With returned bytes, the read has not delivered everything although its source has ended.
            let isOver = if case .ended = source { error == nil || state.returned.isEmpty } else { false }
            if !isOver { state.source = .ended(error) }
            if error != nil { (state.returned, state.claim) = ([], nil) }
            (state.cache, state.onEnd) = (nil, nil)
            return (source, before)
        }
        defer { withExtendedLifetime(before.cache) {} }
        switch source {
        case .generation(let generation, let reader): leave(generation, as: reader)
        case .direct(let direct, let back):
            direct.cancel()
            if let back { leave(back.generation, as: back.reader) }
        case .ended: return
        }
        noteEnded(before.served)
        before.onEnd?(before.served, before.first)
    }

    private func noteEnded(_ served: SourceBytes) {
        guard wanted.isCounted else { return }
        resource.engine.reporter.count { $0.openReads -= 1 }
        resource.engine.reporter.tell(
            .readEnded(resource.key, store: served.store, joined: served.joined, origin: served.origin))
    }

    /// Bytes of the file that were stored when the read began; 0 once it has ended, and if it bypasses the store.
    var storedBefore: Int64 {
        guard case .generation(let generation, let reader) = state.withLock({ $0.source }) else { return 0 }
        return generation.ask { $0.schedule.readers[reader]?.stored.byteCount ?? 0 }
    }

    private func leave(_ generation: Generation, as reader: FetchSchedule.ReaderID) {
        generation.handle { $0.removeReader(reader) }
        if wanted.isUse { generation.noteUse() }
    }

    /// The next piece; `nil` after the last byte.
    ///
    /// A call made during another one waits for its turn. Once the read has failed, every further call throws the same
    /// error.
    public func next() async throws -> MediaPiece? {
        try await turn.take()
        defer { turn.leave() }
        return try await advance()
    }

    /// Returns bytes that ``nextBytes()`` has just delivered: they are delivered again before all others.
    ///
    /// For a consumer that has to know how a body begins before it knows what to do with it. They are counted once.
    /// `claim` is retained until they have been delivered.
    package func putBack(_ bytes: [[UInt8]], holding claim: (any AnyObject & Sendable)? = nil) {
        state.withLock { state in
            if case .ended(.some) = state.source { return }
            state.returned = bytes.filter { !$0.isEmpty } + state.returned
            if let claim { state.claim = claim }
        }
    }

    /// The bytes returned with ``putBack(_:holding:)``, which the consumer receives next.
    package var returnedBytes: [UInt8]? { state.withLock { $0.returned.first } }

    /// The next piece, for the consumer whose turn it is.
    private func advance() async throws -> MediaPiece? {
        let (returned, _) = state.withLock { state -> ([UInt8]?, (any AnyObject & Sendable)?) in
            if !state.returned.isEmpty { return (state.returned.removeFirst(), nil) }
            // Released outside the lock.
            defer { state.claim = nil }
            return (nil, state.claim)
        }
        if let returned { return .memory(returned) }
        do {
            if let piece = try await step() { return piece }
            if wanted.origin.context.rangeFallback != .keep { end(because: nil) }
        } catch {
            end(because: error)
        }
        // A read that was canceled while it waited throws, whatever the wait returned: a copy that stops here is
        // incomplete.
        if case .ended(let error?) = state.withLock({ $0.source }) { throw error }
        return nil
    }

    /// The bytes of the next piece; `nil` after the last byte.
    ///
    /// Reads them from disk, off the cooperative pool; bytes that cannot be read are fetched. A call made during
    /// another one, or during ``next()``, waits for its turn. Throws as ``next()`` does.
    public func nextBytes() async throws -> [UInt8]? {
        try await turn.take()
        defer { turn.leave() }
        while let piece = try await advance() {
            guard case .stored(let region) = piece else { return try piece.bytes() }
            do {
                return try await DiskQueue.shared.run { try region.bytes() }
            } catch {
                guard takeBack(region) else {
                    end(because: error)
                    throw error
                }
            }
        }
        return nil
    }

    /// Rewinds to the beginning of the last delivered region, which could not be read.
    private func takeBack(_ region: StoredRegion) -> Bool {
        let (source, from) = state.withLock { state in
            let from = state.last ?? .store
            state.served[from] -= Int64(region.count)
            return (state.source, from)
        }
        if wanted.isCounted {
            resource.engine.reporter.countPiece(from, bytes: -region.count, of: wanted.origin.url.authority)
        }
        guard case .generation(let generation, let reader) = source else { return false }
        generation.handle { $0.schedule.rewind(reader, to: region.range.lowerBound) }
        return true
    }

    private func step() async throws -> MediaPiece? {
        while true {
            switch state.withLock({ $0.source }) {
            case .ended(let error):
                if let error { throw error }
                return nil
            case .direct(let direct, let back):
                try Task.checkCancellation()
                if let chunk = try await direct.next() {
                    note(.origin, count: chunk.count, of: wanted.origin.url.authority)
                    return .memory(chunk)
                }
                guard let back else { return nil }
                // Stored bytes follow.
                back.generation.handle { $0.schedule.rewind(back.reader, to: back.position) }
                replaceSource(by: .generation(back.generation, back.reader))
            case .generation(let generation, let reader):
                switch try await generation.next(reader) {
                case .end: return nil
                case .piece(let piece, let source):
                    note(source, count: piece.count, of: generation.url.authority)
                    return piece
                case .direct where wanted.needsStore:
                    state.withLock { $0.isPastStore = true }
                    throw RepriseError(.storageUnavailable, "The bytes cannot be stored.")
                case .direct(let from, let to):
                    let direct = try await DirectRead(of: generation, from: from, to: to, request: wanted.origin)
                    let back = to.flatMap { to in
                        to < end ?? .max ? Return(generation: generation, reader: reader, position: to) : nil
                    }
                    if !replaceSource(by: .direct(direct, back)) { direct.cancel() }
                    if back == nil { leave(generation, as: reader) }
                }
            }
        }
    }

    /// Continues with another source; false if the read has ended.
    @discardableResult
    private func replaceSource(by source: Source) -> Bool {
        state.withLock { state in
            if case .ended = state.source { return false }
            state.source = source
            return true
        }
    }

    private func note(_ source: PieceSource, count: Int, of host: String) {
        if wanted.isCounted { resource.engine.reporter.countPiece(source, bytes: count, of: host) }
        state.withLock { state in
            state.served[source] += Int64(count)
            state.first = state.first ?? source
            state.last = source
        }
    }

    /// The iterator; a read is iterated once.
    public struct Iterator: AsyncIteratorProtocol {
        let read: MediaRead

        /// The next piece.
        public func next() async throws -> MediaPiece? { try await read.next() }
    }

    /// Starts iterating.
    public func makeAsyncIterator() -> Iterator { Iterator(read: self) }
}
