import ByteRanges
import HTTPSemantics
import HTTPTypes
import Locks

/// Loads, makes and removes generations.
extension LiveResource {
    /// Loads the resource's state from the index; false if the index knows nothing of it.
    func load() async -> Bool {
        guard let store = engine.store else {
            state.withLock { $0.phase = .unknown }
            return false
        }
        await engine.removals.pass(key)
        if signpost == nil, let vary = vary(in: store) {
            state.withLock { $0.phase = .varies(vary) }
            return true
        }
        guard let (record, file, ledger) = await stored(in: store) else {
            state.withLock { $0.phase = .unknown }
            return false
        }
        let generation = make(record, file, ledger, store, isConfirmed: false)
        generation.markRecorded()
        state.withLock { state in
            if !state.isDetached { state.phase = .known(generation) }
        }
        return true
    }

    /// Makes a new generation for a response that has arrived.
    func begin(_ exchange: Exchange, _ placement: BodyPlacement, _ url: ResourceURL, _ store: Store)
        throws(RepriseError) -> LiveGeneration
    {
        var fields = exchange.response.head.headerFields.storable(isShared: policy.isShared)
        if exchange.response.head.status == .partialContent { fields[.contentRange] = nil }
        let record = GenerationRecord(
            id: GenerationNumber.make(), key: key, url: url, fields: fields,
            completeLength: placement.completeLength, rangesSupported: placement.rangesSupported,
            finalHost: exchange.response.url.authority, requestTime: exchange.requestTime, responseTime: now,
            salt: store.vault == nil ? [] : Vault.makeSalt())
        let file = try store.file(record, create: true)
        return make(record, file, ChunkLedger(), store, isConfirmed: true)
    }

    private func make(
        _ record: GenerationRecord, _ file: DataFile, _ ledger: ChunkLedger, _ store: Store, isConfirmed: Bool
    ) -> LiveGeneration {
        LiveGeneration(
            record: record, file: file, ledger: ledger, engine: engine, store: store, isConfirmed: isConfirmed
        ) { [weak self] old, _ in
            self?.forget(old)
        }
    }

    /// Drops a generation that is no longer current at the origin; the next read asks the origin.
    func forget(_ generation: LiveGeneration) {
        retireLater { state in
            guard case .known(let current) = state.phase, current === generation else { return nil }
            state.phase = .unknown
            return generation
        }
    }

    /// Removes a generation that is being replaced.
    ///
    /// Its readers keep the open file and finish from stored bytes.
    func retire(_ generation: LiveGeneration, _ store: Store) async {
        generation.markRemoved(because: .replaced)
        guard store.problem == nil else { return }
        // If the index cannot be written, there is nothing to remove; a record that is written later is found without
        // its file.
        if generation.isRecorded || !store.recorder.isFailing {
            do {
                _ = try await store.recorder.remove(generation: generation.id)
            } catch {
                engine.reporter.tell(.storeBypassed(key, reason: error.description))
            }
        }
        store.quota.release(generation.allocation.close())
        store.removeFile(name: store.index.name(of: key), generation: generation.id)
        generation.emptyFileIfUnread()
    }

    /// Removes the generation that `choose` takes out of the state; it cannot be loaded again during the removal.
    private func retireLater(_ choose: (inout State) -> LiveGeneration?) {
        engine.removals.begin(key)
        guard let generation = state.withLock({ choose(&$0) }), let store = engine.store else {
            engine.removals.end(key)
            return
        }
        Task(executorPreference: DiskExecutor.shared) {
            await self.retire(generation, store)
            self.engine.removals.end(self.key)
        }
    }

    /// Makes each variant by `vary` a resource of its own.
    func becomeSignpost(_ vary: Vary) {
        retireLater { state in
            defer { state.phase = .varies(vary) }
            return state.generation
        }
    }

    /// Marks the response as stale, so that it is not used without asking the origin (RFC 9111 §4.4).
    func invalidate() {
        let generation = state.withLock { state -> LiveGeneration? in
            switch state.phase {
            case .known(let generation): return generation
            case .answered: state.phase = .unknown
            default: break
            }
            return nil
        }
        generation?.invalidate()
    }
}
