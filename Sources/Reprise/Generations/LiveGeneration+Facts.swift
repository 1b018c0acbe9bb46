import ByteRanges
import HTTPSemantics

/// What others ask a generation; nothing here changes it.
extension LiveGeneration {
    var record: GenerationRecord { ask { $0.record } }
    var storedRanges: ByteRangeSet { ask { $0.schedule.stored } }
    var isIdle: Bool { ask { $0.schedule.isIdle } && bytes.file.leases.isEmpty }
    var isFrozen: Bool { ask { $0.schedule.isFrozen } }
    /// Number of its readers, and of its fetches.
    var workload: (readers: Int, fetches: Int) { ask { ($0.schedule.readers.count, $0.schedule.fetches.count) } }
    /// What else the origin sent during its play.
    var evidence: SplicingEvidence { ask { $0.evidence } }

    /// Whether the origin has another representation, and stored bytes are served for the rest of `play`.
    func isSuperseded(in play: Play?) -> Bool {
        let now = elapsed
        return ask { $0.isSuperseded(at: now, in: play) }
    }

    /// Whether bytes of another response may be joined to this generation.
    var isJoinable: Bool {
        let policy = generationPolicy
        return ask { $0.response.isJoinable(policy) }
    }

    /// Whether the index has a record of it.
    var isRecorded: Bool { ask { $0.isRecorded } }

    /// Whether a reader takes what a running response brings.
    var isBeingFilled: Bool {
        ask { !$0.schedule.isFrozen && !$0.schedule.readers.isEmpty && !$0.schedule.fetches.isEmpty }
    }

    /// Whether the next byte for `reader` is not on disk yet.
    func mustWait(_ reader: ReaderID) -> Bool { ask { $0.schedule.mustWait(reader) } }

    // MARK: - Fetches

    /// The rest of a fetch's range, or `nil` when it is canceled or has nothing left to bring.
    func rest(of id: FetchID) -> Range<Int64>? { ask { $0.rest(of: id) } }

    /// The next byte that the fetch is to bring; `nil` when it is over.
    func position(of id: FetchID) -> Int64? { ask { $0.schedule.fetches[id]?.cursor } }

    /// What the origin was asked last.
    func askedRequest(of id: FetchID) -> OriginRequest? { ask { $0.running.request(of: id) } }

    func isCancelled(_ id: FetchID) -> Bool { ask { $0.running.isCancelled(id) } }

    /// The parts of `range` that the fetch should write: inside its limit, not stored yet.
    func writable(_ range: Range<Int64>, for id: FetchID) -> FetchSchedule.Writable {
        ask { $0.schedule.writable(range, for: id) }
    }

    /// The origin's refusal of the same request a short time ago; a new fetch need not be tried.
    func recentRefusal(of request: OriginRequest) -> RepriseError? {
        let now = elapsed
        return ask { $0.origin.recentRefusal(of: request, at: now) }
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
