import ByteRanges
import HTTPSemantics
import Locks

/// Readers: who may begin, what each gets next, and the path on which nothing waits.
extension LiveGeneration {
    /// Whether a request for the rest of a fetch surely continues this generation.
    static func canGoOn(_ state: borrowing State, _ policy: GenerationPolicy) -> Bool {
        state.machine.rangesSupported == true && !state.machine.isFrozen && state.response.isJoinable(policy)
    }

    /// Whether all of `range` can be had without asking for a representation that might be another one, and the first
    /// byte without waiting for more than `patience` bytes before it.
    private static func canServe(
        _ state: borrowing State, _ range: Range<Int64>, policy: GenerationPolicy, patience: Int64
    ) -> Bool {
        if state.response.isJoinable(policy) { return true }
        let holes = state.machine.stored.holes(in: range)
        guard let first = holes.first?.lowerBound else { return true }
        let patience = state.machine.rangesSupported == false ? .max : patience
        return holes.allSatisfy { hole in
            state.machine.fetches.values.contains { fetch in
                fetch.phase != .ending && fetch.cursor <= hole.lowerBound && (fetch.limit ?? .max) >= hole.upperBound
                    && first - fetch.cursor <= patience
            }
        }
    }

    /// How far behind the wanted byte a running fetch may be for a reader to wait for it.
    ///
    /// Where no other response may be joined, any distance: nothing else can bring the byte.
    func patience(_ state: borrowing State) -> Int64 {
        state.response.isJoinable(generationPolicy)
            ? engine.timings.patience(for: url.authority) : .max
    }

    /// Whether a reader takes what a running response brings.
    var isBeingFilled: Bool {
        state.withLock { !$0.machine.isFrozen && !$0.machine.readers.isEmpty && !$0.machine.fetches.isEmpty }
    }

    /// Begins a read of `spec`, or returns `nil` if this generation cannot serve it and a new response must.
    func openReader(_ spec: RangeSpec?, request: OriginRequest) throws(RepriseError) -> OpenedReader? {
        let result: Result<OpenedReader?, RepriseError> = state.withLock { state in
            guard !state.machine.isFrozen else { return .success(nil) }
            reopenStore(&state)
            let length = state.machine.completeLength
            guard let extent = Self.extent(of: spec, completeLength: length) else {
                return .failure(Self.notSatisfiable(length ?? 0))
            }
            let range = extent.start..<max(extent.start, extent.end ?? length ?? .max)
            let patience = engine.timings.patience(for: url.authority)
            guard
                Self.canServe(state, range, policy: generationPolicy, patience: patience)
            else { return .success(nil) }
            let stored = state.machine.stored
            let now = elapsed
            // A hole of a stale generation is asked for: its play goes on once the answer confirms it.
            if stored.contains(extent.start) || state.response.isInPlay(at: now) {
                state.response.noteUse(at: now)
            }
            let id = state.machine.addReader(extent.start, extent.end, demand: request.demand)
            state.requests[id] = request
            let holes = length == nil && extent.end == nil ? 1 : stored.holes(in: range).count
            let anyStored = !stored.spans(in: range).isEmpty
            return .success(
                OpenedReader(
                    id: id, start: extent.start, end: extent.end ?? length, information: state.information(),
                    disposition: holes == 0 ? .hit : anyStored ? .partial : .miss,
                    isCollapsed: holes > 0 && state.machine.fetches.values.contains { $0.covers(extent.start) }))
        }
        let opened = try result.get()
        if opened != nil {
            engine.reporter.count { $0.reads += 1 }
            store.recorder.noteUse(key)
        }
        return opened
    }

    static func notSatisfiable(_ length: Int64) -> RepriseError {
        RepriseError(.rangeNotSatisfiable, "The range lies outside the \(length) bytes of the representation.")
    }

    /// `spec` in bytes; `nil` when unsatisfiable.
    ///
    /// A suffix of an unknown length is the whole (RFC 9110 §14.2: a server may ignore the range).
    static func extent(of spec: RangeSpec?, completeLength: Int64?) -> (start: Int64, end: Int64?)? {
        guard let spec else { return (0, completeLength) }
        if let completeLength {
            guard let range = spec.resolve(completeLength: completeLength) else { return nil }
            return (range.lowerBound, range.upperBound)
        }
        switch spec {
        case .bounded(let range): return (range.lowerBound, range.upperBound)
        case .from(let start): return (start, nil)
        case .suffix: return (0, nil)
        }
    }

    /// The beginning of `spec`, at most `count` bytes, if all of `spec` is stored and verified: the path on which
    /// nothing waits.
    ///
    /// `isUsable` says that it may be used whatever its age.
    func storedRegion(_ spec: RangeSpec?, atMost count: Int64, isUsable: Bool) -> StoredHit? {
        let moment = moment
        let found = state.withLock { state -> StoredHit? in
            guard sealer == nil, !state.machine.isFrozen, let length = state.machine.completeLength,
                isUsable || state.response.isUsable(at: moment),
                let extent = Self.extent(of: spec, completeLength: length), let end = extent.end, end > extent.start,
                state.machine.verified.contains(extent.start..<end),
                // To open it may wait for the disk.
                let file = file.opened
            else { return nil }
            state.response.noteUse(at: moment.elapsed)
            let first = extent.start..<extent.start + min(count, end - extent.start)
            return StoredHit(
                region: StoredRegion(range: first, of: self, file), range: extent.start..<end,
                information: state.information())
        }
        return found.flatMap { isPresent($0.region) ? $0 : nil }
    }

    /// `range`, if it is stored and verified; `file` is the open data file.
    func storedRegion(_ range: Range<Int64>, in file: any OpenFile) -> StoredRegion? {
        let now = elapsed
        let region = state.withLock { state -> StoredRegion? in
            guard !range.isEmpty, state.machine.verified.contains(range) else { return nil }
            state.response.noteUse(at: now)
            return StoredRegion(range: range, of: self, file)
        }
        return region.flatMap { isPresent($0) ? $0 : nil }
    }

    /// Whether the file reaches as far as `region` does; its bytes are a hole otherwise.
    private func isPresent(_ region: StoredRegion) -> Bool {
        if region.isPresent { return true }
        region.reportUnreadable()
        return false
    }

    /// Whether the next byte for `reader` is not on disk yet.
    func mustWait(_ reader: FetchSchedule.ReaderID) -> Bool {
        state.withLock { $0.machine.mustWait(reader) }
    }

    func removeReader(_ id: FetchSchedule.ReaderID) {
        let (effects, parked, isLast) = state.withLock { state in
            state.requests[id] = nil
            let effects = state.machine.removeReader(id)
            return (effects, state.parkedReaders.removeValue(forKey: id), state.machine.readers.isEmpty)
        }
        if isLast { dropRemainder() }
        store.recorder.noteUse(key)
        perform(effects)
        parked?.resume()
    }

    enum Step: Sendable {
        case piece(MediaPiece, PieceSource)
        case end
        case direct(from: Int64, to: Int64?)
    }

    /// The next piece for `reader`; waits until its next byte is there.
    func next(_ reader: FetchSchedule.ReaderID) async throws -> Step {
        while true {
            try Task.checkCancellation()
            let (next, effects, lease) = state.withLock { state in
                let (next, effects) = state.machine.next(reader, patience: patience(state))
                // Under the lock under which extents are evicted: between choice and lease nothing may vanish.
                guard case .piece(let range, _) = next else { return (next, effects, nil as Lease?) }
                return (next, effects, file.leases.take(range))
            }
            perform(effects)
            switch next {
            case .piece(let range, let source):
                guard let file = open() else { return bypass(reader, from: range.lowerBound) }
                guard let piece = await piece(range, file, lease, for: reader) else { continue }
                engine.reporter.countPiece(source, piece.count)
                return .piece(piece, source)
            case .verify(let range):
                guard let file = open() else { return bypass(reader, from: range.lowerBound) }
                await verify(range)
                withExtendedLifetime(file) {}
            case .wait: await park(reader)
            case .end: return .end
            case .direct(let from, let to): return .direct(from: from, to: to)
            case .fail(let error): throw error
            }
        }
    }

    /// The data file; `nil` if it cannot be opened now, in which case its stored bytes stay, or is gone.
    private func open() -> (any OpenFile)? {
        do throws(RepriseError) {
            return try file.open()
        } catch {
            engine.reporter.tell(.storeBypassed(key, reason: error.description))
            if error.isMissingFile { replace(reason: "\(file.path) is gone.") }
            return nil
        }
    }

    /// The rest of what `reader` wants comes from the origin.
    private func bypass(_ reader: FetchSchedule.ReaderID, from position: Int64) -> Step {
        state.withLock { state in
            state.machine.rewind(reader, to: position)
            return .direct(from: position, to: state.machine.end(of: reader))
        }
    }

    private func park(_ reader: FetchSchedule.ReaderID) async {
        let demand = state.withLock { $0.machine.readers[reader]?.demand } ?? .playing
        engine.precedence.readerWaits(demand, at: url.authority)
        defer { engine.precedence.readerGoesOn(demand, at: url.authority) }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mustWait = state.withLock { state in
                    guard state.machine.readers[reader]?.waitingOn != nil, !Task.isCancelled else { return false }
                    // One call at a time is the rule; a second one must not leave the first hanging.
                    state.parkedReaders.updateValue(continuation, forKey: reader)?.resume()
                    return true
                }
                if !mustWait { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.parkedReaders.removeValue(forKey: reader) }?.resume()
        }
    }
}
