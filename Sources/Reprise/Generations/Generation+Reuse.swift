import ByteRanges
import HTTPSemantics
import HTTPTypes
import Primitives

/// Queries that change nothing.
extension Generation {
    var record: GenerationRecord { ask { $0.record } }
    var storedRanges: ByteRangeSet { ask { $0.schedule.stored } }
    var isIdle: Bool { ask { $0.schedule.isIdle } && bytes.file.leases.isEmpty }
    var isFrozen: Bool { ask { $0.schedule.isFrozen } }
    /// Number of its readers, and of its fetches.
    var workload: (readers: Int, fetches: Int) { ask { ($0.schedule.readers.count, $0.schedule.fetches.count) } }

    func isSuperseded(in play: Play?) -> Bool {
        let now = elapsed
        return ask { $0.isSuperseded(at: now, in: play) }
    }

    /// Whether bytes of another response may be joined to this generation.
    var isJoinable: Bool {
        let policy = generationPolicy
        return ask { $0.response.isJoinable(policy) }
    }

    var isRecorded: Bool { ask { $0.isRecorded } }

    /// Whether a reader is served by a response that is still arriving.
    var isBeingFilled: Bool {
        ask { !$0.schedule.isFrozen && !$0.schedule.readers.isEmpty && !$0.schedule.fetches.isEmpty }
    }

    // MARK: - Recording

    /// The unrecorded changes.
    ///
    /// `nil` if the entry is removed, or while a kept generation stays recorded instead of this one.
    func takeUnrecorded() -> Index.Batch.Generation? {
        let (record, former) = ask { state in
            let isDue = !state.isRemoved && (state.former == nil || state.schedule.isStored(nil))
            return (isDue ? state.record : nil, state.former?.id)
        }
        guard let record else { return nil }
        return Index.Batch.Generation(
            record: record, usage: bytes.usage, blocks: bytes.takeUnrecorded(), replaced: former)
    }

    /// Discards a generation that the index has no record of, because the index cannot be written and others wait for
    /// it too.
    ///
    /// A file without any record is removed.
    func dropUnrecorded() {
        _ = bytes.takeUnrecorded()
        if !isRecorded { replace(reason: "The index could not be written.") }
    }
}

/// Whether a generation may be used without asking the origin, and what the origin's answer changes (RFC 9111 §4).
extension Generation {
    func reuse(for directives: CacheControl, in play: Play? = nil) -> Reuse {
        if engine.configuration.reuse.isOffline || generationPolicy == .immutable { return .serve }
        let moment = moment
        return ask { state in
            let reuse = state.response.reuse(for: directives, at: moment, in: play)
            if case .validate = reuse, state.isArriving(at: moment.elapsed) { return .serve }
            return reuse
        }
    }

    func mustAsk(about spec: RangeSpec?) -> Bool {
        if engine.configuration.reuse.isOffline || generationPolicy == .immutable { return false }
        let moment = moment
        return ask { $0.mustAsk(about: spec, at: moment) }
    }

    /// Whether it may be served although validating it failed with `error` (RFC 9111 §4.2.4, RFC 5861 §4).
    func mayServeStale(instead error: RepriseError) -> Bool {
        let moment = moment
        return ask { $0.response.mayServeStale(instead: error, at: moment) }
    }

    /// Whether a response to `request` with these fields may update the generation for other readers.
    func mayBeChanged(by fields: HTTPFields, for request: OriginRequest) -> Bool {
        let storage = engine.storage(for: request)
        return ask { $0.response.mayBeChanged(by: fields, storage: storage) }
    }

    /// Updates the stored fields from a response to `request` that confirms the generation (RFC 9111 §3.2, §4.3.4),
    /// unless the response is for that request alone.
    ///
    /// `url` is where it came from after redirects, if relative links now refer to it.
    func freshen(
        _ fields: HTTPFields, from url: ResourceURL? = nil, requestTime: Int64, by request: OriginRequest
    ) {
        let (storage, moment) = (engine.storage(for: request), moment)
        let isFreshened = handle { state in
            guard state.response.mayBeChanged(by: fields, storage: storage) else { return false }
            state.response.freshen(
                by: fields, from: url, requestTime: requestTime, at: moment, for: request.demand)
            return true
        }
        if isFreshened { store.recorder.note(self, bytes: 0) }
    }

    /// Adds the DLNA field that the origin sends only on request.
    func note(contentFeatures: String) {
        handle { $0.response.note(contentFeatures: contentFeatures) }
        store.recorder.note(self, bytes: 0)
    }

    /// Notes that the origin was asked during a play, even if it did not answer.
    func noteQuestion() {
        let now = elapsed
        handle { $0.response.noteQuestion(at: now) }
    }

    func assign(_ role: StreamRole) {
        if handle({ $0.response.assign(role) }) { store.recorder.note(self, bytes: 0) }
    }

    /// Records further titles that this file belongs to.
    func add(_ claims: [TitleClaim]) {
        if !claims.isEmpty, handle({ $0.response.add(claims) }) { store.recorder.note(self, bytes: 0) }
    }

    /// Records that this file no longer belongs to the titles of `keys`.
    func dropClaims(ofTitles keys: Set<CacheKey>) { handle { $0.response.dropClaims(ofTitles: keys) } }

    /// Marks the generation as stale because a response of the origin contradicts it but can't replace it.
    ///
    /// The stored bytes remain, and the next read revalidates.
    func expire() {
        handle { $0.response.expire() }
        store.recorder.note(self, bytes: 0)
    }

    /// Marks the generation as stale, so that it is not used without asking the origin (RFC 9111 §4.4).
    func invalidate() {
        handle { $0.response.invalidate() }
        store.recorder.note(self, bytes: 0)
    }

    func beginsInHole(_ spec: RangeSpec?) -> Bool { ask { $0.beginsInHole(spec) } }

    /// The first hole in `spec`, open-ended if it reaches the end of the representation; `nil` if there is no hole, or
    /// nothing of `spec` is stored.
    func hole(in spec: RangeSpec?) -> RangeSpec? { ask { $0.schedule.hole(in: spec) } }

    func hasBeginning(of spec: RangeSpec?) -> Bool { ask { $0.schedule.hasBeginning(of: spec) } }

    func isStored(_ spec: RangeSpec?) -> Bool { ask { $0.schedule.isStored(spec) } }

    func isOutside(_ spec: RangeSpec?) -> Bool { ask { $0.schedule.isOutside(spec) } }
}

/// How a generation takes the place of another one, and gives way to the next.
extension Generation {
    /// Notes that the index has recorded this generation, and removes the file of the one that it replaced.
    func markRecorded() async {
        let former = handle { state -> Generation? in
            state.isRecorded = true
            defer { state.former = nil }
            return state.former
        }
        await former?.discardFile()
    }

    /// Removes the data file after its record.
    ///
    /// Readers keep the open file.
    func discardFile() async {
        store.quota.release(bytes.close())
        await DiskQueue.shared.run { [self] in
            store.removeFile(name: store.index.name(of: key), generation: id)
            emptyFileIfUnread()
        }
    }

    /// Whether another generation stays recorded until this one is whole.
    var hasFormer: Bool { ask { $0.former != nil } }

    /// Leaves `former` recorded until this one is whole.
    func replaceWhenWhole(_ former: Generation) { handle { $0.former = former } }

    /// The generation to leave recorded while another one replaces this one; `nil` if there is none.
    ///
    /// Returns this generation if the user keeps it and it is whole. Returns the former one if this one is not whole
    /// yet. Live playlists are never kept.
    func former() async -> Generation? {
        let (former, mayBeKept) = ask { state in
            (state.former, state.isRecorded && state.schedule.isStored(nil) && state.record.role?.isLive != true)
        }
        if let former { return former }
        guard mayBeKept, await Replacement(generation: self).isKept else { return nil }
        return self
    }

    /// Gives up replacing a kept generation after a failed fetch, unless another fetch is running.
    ///
    /// The next read loads the kept generation.
    func giveUpReplacing() {
        let isOver = ask { $0.former != nil && $0.schedule.fetches.isEmpty && !$0.schedule.isStored(nil) }
        if isOver { onReplaced(self) }
    }

    /// Stops recording and accepts no new readers, because the entry is removed.
    func markRemoved(because reason: FetchSchedule.Freeze = .removed) {
        handle { $0.stop(because: reason, isRemoved: true) }
        // The file's name goes, so its readers could not open it again.
        if !isIdle { bytes.file.hold() }
        engine.progress.changed(key)
    }

    /// The origin has another representation: readers end at their first hole, new reads ask the origin.
    func replace(reason: String, because cause: FetchSchedule.Freeze = .replaced) {
        handle { $0.freeze(because: cause) }
        // Another process would take the stored bytes for fresh, and meet the same response at the same hole.
        invalidate()
        engine.reporter.tell(.generationReplaced(key, reason: reason))
        onReplaced(self)
    }

    /// The origin has another representation.
    ///
    /// During a play, reads of stored bytes go on, and a read that needs another byte asks the origin. Without one, it
    /// is replaced.
    func supersede(reason: String, because cause: FetchSchedule.Freeze = .replaced) {
        if !supersedeInPlay(reason: reason, because: cause) { replace(reason: reason, because: cause) }
    }

    /// Handles a response of the origin that contradicts the stored response but can't replace it.
    ///
    /// During a play, this is ``supersede(reason:because:)``. Otherwise, the stored bytes remain but become stale.
    func doubt(reason: String) { if !supersedeInPlay(reason: reason, because: .replaced) { expire() } }

    /// Returns false if no play is going on.
    private func supersedeInPlay(reason: String, because cause: FetchSchedule.Freeze) -> Bool {
        let now = elapsed
        guard handle({ $0.supersede(because: cause, at: now) }) else { return false }
        store.recorder.note(self, bytes: 0)
        engine.reporter.tell(.generationReplaced(key, reason: reason))
        return true
    }
}
