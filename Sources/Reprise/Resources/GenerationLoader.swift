import HTTPSemantics
import HTTPTypes
import Primitives

/// Makes the generations of one resource: from the index, or for a response that begins one.
struct GenerationLoader: Sendable {
    let resource: LiveResource
    let store: Store

    private var key: CacheKey { resource.key }
    private var engine: Engine { resource.engine }

    /// What the index has of the resource.
    func load() async -> LiveResource.Machine.Loaded {
        if resource.primary == nil, let vary = await recordedVary() { return .variants(vary) }
        guard let (record, file, ledger) = await recorded() else { return .nothing }
        let generation = make(record, file: file, ledger: ledger, isConfirmed: false)
        await generation.markRecorded()
        return .generation(generation)
    }

    /// Makes a new generation for a response that has arrived.
    func begin(
        _ judged: OriginAnswer, at placement: BodyPlacement, for wanted: ReadRequest,
        replacing replaced: Generation?
    ) async throws(RepriseError) -> Generation {
        let url = wanted.origin.url
        let head = judged.response.head
        var fields = head.headerFields.storable(isShared: resource.policy.isShared)
        if head.status == .partialContent || wanted.range != nil { fields[.contentRange] = nil }
        // Trust Accept-Ranges: bytes until a response proves otherwise. A missing field or `none` proves nothing.
        let declaresRanges = fields[.acceptRanges].flatMap { AcceptRanges($0)?.supportsBytes } == true ? true : nil
        let mayBeLive =
            head.status == .ok && placement.end == nil && !wanted.isForFile
            && !head.headerFields.contains(.transferEncoding) && Validators(head.headerFields).isEmpty
        let record = GenerationRecord(
            id: GenerationNumber.make(), key: key, url: url, fields: fields,
            completeLength: placement.completeLength, rangesSupported: placement.rangesSupported ?? declaresRanges,
            finalHost: judged.response.url.authority,
            finalURL: judged.response.url == url ? nil : judged.response.url, requestTime: judged.response.requestTime,
            responseTime: engine.clock.moment.date,
            salt: store.vault == nil ? [] : Vault.makeSalt(),
            mayBeLive: mayBeLive, role: wanted.role ?? replaced?.record.role?.provisional,
            formerRole: replaced?.record.role,
            claims: wanted.claims)
        let file = try await DiskQueue.shared.run { [store] () throws(RepriseError) in
            try store.file(record, create: true)
        }
        return make(
            record, file: file, ledger: ChunkLedger(), isConfirmed: true,
            evidence: replaced?.ask { $0.evidence } ?? SplicingEvidence())
    }

    private func make(
        _ record: GenerationRecord, file: DataFile, ledger: ChunkLedger, isConfirmed: Bool,
        evidence: SplicingEvidence = SplicingEvidence()
    ) -> Generation {
        let sealer = store.vault.map { vault in
            vault.sealer(name: store.index.name(of: key), generation: record.id, salt: record.salt)
        }
        return Generation(
            record: record, bytes: StoredBytes(file: file, ledger: ledger, sealer: sealer, quota: store.quota),
            engine: engine, store: store, isConfirmed: isConfirmed, evidence: evidence
        ) { [weak resource] old in
            resource?.forget(old)
        }
    }

    /// The request fields that select among the responses; `nil` if none do, or the index cannot be read.
    private func recordedVary() async -> Vary? {
        do throws(RepriseError) {
            return try await store.index.look { try $0.entries.vary(of: key) }
        } catch {
            engine.reporter.tell(.storeBypassed(key, reason: error.explanation))
            return nil
        }
    }

    /// The recorded generation with its open file; `nil` if there is none, or none that can be used.
    ///
    /// An index or file that cannot be read is reported and counts as empty, because it must not stop playback. The
    /// record is removed only if its file is gone.
    private func recorded() async -> (record: GenerationRecord, file: DataFile, ledger: ChunkLedger)? {
        do throws(RepriseError) {
            let found = try await DiskQueue.shared.run { [self] () throws(RepriseError) in
                guard let stored = try store.index.entries.generation(for: key) else {
                    return nil as (stored: RecordedGeneration, file: DataFile?, ledger: ChunkLedger)?
                }
                let (file, ledger) = (try open(stored.record), ChunkLedger(blocks: stored.chunks))
                if let file { store.trim(file, to: ledger.ranges) }
                return (stored, file, ledger)
            }
            guard let (stored, file, ledger) = found else { return nil }
            guard let file else {
                // A record without its file: remove it, so that it no longer counts.
                store.quota.release(try await store.recorder.remove(generation: stored.record.id))
                return nil
            }
            let ranges = ledger.ranges
            store.dischargeExcess(stored.record.id)
            // After a crash the usage may be wrong; correct it to what is recorded.
            let usage = Allocation(ranges).usage
            store.quota.correct(from: stored.usage, to: usage)
            return (stored.record, file, ledger)
        } catch {
            engine.reporter.tell(.storeBypassed(key, reason: error.explanation))
            return nil
        }
    }

    /// The data file of `record`; `nil` if it is gone.
    private func open(_ record: GenerationRecord) throws(RepriseError) -> DataFile? {
        do throws(RepriseError) {
            return try store.file(record, create: false)
        } catch {
            if error.isMissingFile { return nil }
            store.leftovers.noteUnopened(key)
            throw error
        }
    }
}
