import ByteRanges
import Primitives

/// Evicts parts of a generation.
extension LiveGeneration {
    /// Frees about `count` bytes, none of those `kept`: first their records, then their blocks.
    ///
    /// Must not be called concurrently; the evictor ensures that.
    func shrink(by count: Int64, because reason: EvictionReason, keeping kept: ByteRangeSet? = nil) async {
        // Keep stored bytes whose blocks cannot be freed.
        guard store.canPunch,
            let openFile = try? await DiskQueue.shared.run({ [bytes] () throws(RepriseError) in try bytes.file.open() })
        else { return }
        defer { withExtendedLifetime(openFile) {} }
        let victims = takeExtents(freeing: count, kept: kept ?? [])
        guard !victims.isEmpty else { return }
        defer { bytes.endPunching(victims) }
        var freed = Usage(stored: bytes.remove(victims))
        store.recorder.note(self, bytes: 0)
        if await store.recorder.flush() {
            store.reach(.extentUnrecorded)
            for victim in victims {
                guard let charged = await DiskQueue.shared.run({ [bytes] in bytes.punch(victim) }) else {
                    store.noteCannotPunch()
                    break
                }
                freed.allocated += charged
                store.reach(.extentPunched)
            }
        }
        bytes.noteEvicted(freed)
        // The blocks were still charged when the record was written.
        if freed.allocated > 0 { store.recorder.note(self, bytes: 0) }
        engine.reporter.count { $0.noteEvicted(freed.stored, because: reason) }
        engine.reporter.tell(.evicted(key, bytes: freed.stored))
        engine.noteGone([key], byEviction: true)
        engine.progress.changed(key)
    }
}
