import HTTPSemantics
import Locks

/// What a resource asks of the store when it begins.
extension ResourceCore {
    /// Whether a representation of `length` bytes is to be stored for `wanted`; tells why not.
    func admits(_ length: Int64?, _ store: Store, for wanted: ReadRequest) -> Bool {
        if store.unopened.withLock({ $0.remove(key) }) != nil {
            // Past the store, or the record that is kept would be replaced; the next read looks for the file again.
            state.withLock { $0.phase = .unloaded }
            return false
        }
        let obstacle = wanted.storesOnlyWhole ? store.obstacle(toStoring: length) : nil
        guard let reason = store.refusal(of: length) ?? obstacle?.description else { return true }
        journal.tell(.storeBypassed(key, reason: reason))
        return false
    }

    /// Which request fields select among the responses; `nil` if none do, or the index cannot be read.
    func vary(in store: Store) -> Vary? {
        do { return try store.catalogue.vary(of: key) } catch {
            journal.tell(.storeBypassed(key, reason: error.description))
            return nil
        }
    }

    /// What the catalogue knows, with its open file; `nil` if there is nothing, or nothing that can be used.
    ///
    /// An index or a file that cannot be read is told and counts as empty: it must not stop playback. Only a file that is
    /// gone makes its record go.
    func stored(in store: Store) async -> (record: GenerationRecord, file: DataFile, ledger: ChunkLedger)? {
        do {
            guard let stored = try store.catalogue.generation(for: key) else { return nil }
            guard let file = try open(stored.record, in: store) else {
                // A record without its file: forget it, so that it no longer counts.
                store.quota.release(try await store.recorder.remove(generation: stored.record.id))
                return nil
            }
            let ledger = ChunkLedger(blocks: stored.chunks)
            let ranges = ledger.ranges
            store.trim(file, to: ranges)
            store.dischargeExcess(stored.record.id)
            // What a crash cut short is counted by what is recorded of it.
            let usage = Allocation(ranges).usage
            store.quota.correct(from: stored.usage, to: usage)
            return (stored.record, file, ledger)
        } catch {
            journal.tell(.storeBypassed(key, reason: error.description))
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
