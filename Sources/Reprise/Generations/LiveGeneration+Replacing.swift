import Primitives

/// How a generation takes the place of another one, and gives way to the next.
extension LiveGeneration {
    /// Notes that the index has recorded this generation, and removes the file of the one that it replaced.
    func markRecorded() async {
        let former = state.withLock { state -> LiveGeneration? in
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
    func replaceWhenWhole(_ former: LiveGeneration) { state.withLock { $0.former = former } }

    /// The generation to leave recorded while another one replaces this one; `nil` if there is none.
    ///
    /// Returns this generation if the user keeps it and it is whole. Returns the former one if this one is not whole
    /// yet. Live playlists are never kept.
    func former() async -> LiveGeneration? {
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
        updateAndLeave { state, effects, outbox in
            state.isRemoved = true
            effects = state.schedule.freeze(because: reason)
            Self.dropRemainder(of: &state, leaving: &outbox)
        }
        // The file's name goes, so its readers could not open it again.
        if !isIdle { bytes.file.hold() }
        engine.progress.changed(key)
    }

    /// The origin has another representation: readers end at their first hole, new reads ask the origin.
    func replace(reason: String, because cause: FetchSchedule.Freeze = .replaced) {
        update { state, effects in effects = state.schedule.freeze(because: cause) }
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
        let isSuperseded = update { state, effects in
            guard let decided = state.supersede(because: cause, at: now) else { return false }
            effects = decided
            return true
        }
        guard isSuperseded else { return false }
        store.recorder.note(self, bytes: 0)
        engine.reporter.tell(.generationReplaced(key, reason: reason))
        return true
    }
}
