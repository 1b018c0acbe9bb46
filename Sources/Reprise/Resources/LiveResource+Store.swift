import HTTPSemantics
import Locks

/// What a resource needs from the store when a read begins.
extension LiveResource {
    /// Whether a representation of `length` bytes is stored for `wanted`; reports why if it isn't.
    func admits(_ length: Int64?, _ store: Store, for wanted: ReadRequest) -> Bool {
        if store.unopened.withLock({ $0.remove(key) }) != nil {
            // Bypass the store, or the record that was kept would be replaced; the next read tries the file again.
            state.withLock { $0.phase = .unloaded }
            return false
        }
        let obstacle = wanted.storesOnlyWhole ? store.obstacle(toStoring: length) : nil
        guard let reason = store.refusal(of: length) ?? obstacle?.description else { return true }
        reporter.tell(.storeBypassed(key, reason: reason))
        return false
    }

    /// The request fields that select among the responses; `nil` if none do, or the index cannot be read.
    func vary(in store: Store) -> Vary? {
        do { return try store.index.vary(of: key) } catch {
            reporter.tell(.storeBypassed(key, reason: error.description))
            return nil
        }
    }

    /// The stored generation with its open file; `nil` if there is none, or none that can be used.
    ///
    /// An index or file that cannot be read is reported and counts as empty, because it must not stop playback. The
    /// record is removed only if its file is gone.
    func stored(in store: Store) async -> (record: GenerationRecord, file: DataFile, ledger: ChunkLedger)? {
        do {
            guard let stored = try store.index.generation(for: key) else { return nil }
            guard let file = try open(stored.record, in: store) else {
                // A record without its file: remove it, so that it no longer counts.
                store.quota.release(try await store.recorder.remove(generation: stored.record.id))
                return nil
            }
            let ledger = ChunkLedger(blocks: stored.chunks)
            let ranges = ledger.ranges
            store.trim(file, to: ranges)
            store.dischargeExcess(stored.record.id)
            // After a crash the usage may be wrong; correct it to what is recorded.
            let usage = Allocation(ranges).usage
            store.quota.correct(from: stored.usage, to: usage)
            return (stored.record, file, ledger)
        } catch {
            reporter.tell(.storeBypassed(key, reason: error.description))
            return nil
        }
    }

    /// The data file of `record`; `nil` if it is gone.
    private func open(_ record: GenerationRecord, in store: Store) throws(RepriseError) -> DataFile? {
        do throws(RepriseError) {
            return try store.file(record, create: false)
        } catch {
            if error.isMissingFile { return nil }
            store.unopened.withLock { _ = $0.insert(key) }
            throw error
        }
    }
}
