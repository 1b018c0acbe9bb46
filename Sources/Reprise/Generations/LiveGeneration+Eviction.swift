import ByteRanges
import Locks

/// Evicts parts of a generation that is in use.
extension LiveGeneration {
    /// Frees about `bytes`: first their records, then their blocks.
    ///
    /// Must not be called concurrently; the evictor ensures that.
    func shrink(by bytes: Int64) async {
        // Keep stored bytes whose blocks cannot be freed.
        guard !store.cannotPunch.withLock({ $0 }), let openFile = try? file.open() else { return }
        defer { withExtendedLifetime(openFile) {} }
        let victims = state.withLock { state in
            let victims = state.machine.extents(freeing: bytes, leased: file.leases.ranges)
            // Leases are taken and holes found under the same lock, so nothing reads or writes there now.
            state.machine.evict(victims)
            punches.close(victims)
            return victims
        }
        guard !victims.isEmpty else { return }
        defer { punches.open() }
        var stored: Int64 = 0
        for victim in victims { stored += ledger.removeAll(in: victim) }
        store.recorder.note(self, bytes: 0)
        var freed: Int64 = 0
        if await store.recorder.flush() {
            store.reach(.extentUnrecorded)
            for victim in victims {
                guard file.punch(victim) else {
                    store.cannotPunch.withLock { $0 = true }
                    break
                }
                freed += allocation.discharge([victim])
                store.reach(.extentPunched)
            }
        }
        if allocation.noteStored(-stored) { store.quota.release(Usage(allocated: freed, stored: stored)) }
        engine.reporter.tell(.evicted(key, bytes: stored))
        engine.progress.changed(key)
    }
}
