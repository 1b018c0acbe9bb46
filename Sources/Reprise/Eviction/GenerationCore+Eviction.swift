import ByteRanges
import Locks

/// Giving room back from a generation that is in use.
extension GenerationCore {
    /// Gives about `bytes` of extents back: first their records, then their bytes.
    ///
    /// One call at a time: the evictor sees to that.
    func shrink(by bytes: Int64) async {
        // What cannot be given back is not thrown away.
        guard !store.cannotPunch.withLock({ $0 }), let openFile = try? file.open() else { return }
        defer { withExtendedLifetime(openFile) {} }
        let victims = state.withLock { state in
            let victims = state.machine.extents(freeing: bytes, leased: file.leases.ranges)
            // Under the same lock under which leases are taken and holes found: nobody reads or writes there now.
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
        engine.journal.tell(.evicted(key, bytes: stored))
        engine.progress.changed(key)
    }
}
