import Primitives

extension MediaCache {
    /// Reads all stored bytes and compares them with their checksums or tags; bytes that don't match become holes.
    ///
    /// Downloads that were done fetch again what they have lost. Other holes are fetched when they are read.
    /// `progress` is called with the bytes read so far and the total. Takes as long as the disk needs. Throws
    /// ``RepriseError`` when the index cannot be read or written, or `CancellationError`; nothing is half done then.
    public func verify(
        _ progress: @escaping @Sendable (_ read: Int64, _ total: Int64) -> Void = { _, _ in }
    ) async throws -> VerificationReport {
        guard let store = engine.store else { return VerificationReport() }
        let entries = try await entries()
        let total = entries.reduce(0) { $0 + $1.storedBytes }
        var tally = VerificationTally(total: total, progress: progress)
        do {
            try await verify(entries, in: store, tally: &tally)
        } catch {
            // What is a hole by now is not found once more.
            await fetchAgain(tally.titles, in: store)
            throw error
        }
        await fetchAgain(tally.titles, in: store)
        return tally.report
    }

    private func verify(_ entries: [CacheEntry], in store: Store, tally: inout VerificationTally) async throws {
        for entry in entries {
            try Task.checkCancellation()
            try await verify(entry, in: store, tally: &tally)
        }
        noteLost(in: store, beside: entries, tally: &tally)
        try Task.checkCancellation()
        await store.recorder.flush()
        try await removeDamagedRecords(store, tally: &tally)
        let (before, after) = try await store.index.entries.recount()
        store.quota.correct(from: before, to: after)
    }

    private func fetchAgain(_ titles: Set<CacheKey>, in store: Store) async {
        guard !titles.isEmpty else { return }
        await store.recorder.flush()
        await downloads.fetchAgain(titles)
    }

    /// Reports the files that the cleanup after opening found missing.
    private func noteLost(in store: Store, beside entries: [CacheEntry], tally: inout VerificationTally) {
        for (key, titles) in store.leftovers.takeLost() {
            tally.titles.formUnion(titles.union([key]))
            guard !tally.report.missing.contains(key) else { continue }
            tally.report.missing.append(key)
            if !entries.contains(where: { $0.key == key }) { tally.report.entries += 1 }
        }
    }

    /// Removes unusable generations.
    private func removeDamagedRecords(_ store: Store, tally: inout VerificationTally) async throws {
        for generation in try await store.index.look({ try $0.entries.unusableGenerations() }) {
            try Task.checkCancellation()
            // A read may just have started or replaced it.
            if let key = generation.key, engine.liveResource(key) != nil { continue }
            tally.titles.formUnion(
                try await store.index.look { try $0.titles.keys(withFileNamed: generation.name) })
            store.quota.release(try await store.recorder.remove(generation: generation.id))
            await DiskQueue.shared.run { _ = store.removeFile(name: generation.name, generation: generation.id) }
            tally.report.damagedRecords += 1
        }
    }

    private func verify(_ entry: CacheEntry, in store: Store, tally: inout VerificationTally) async throws {
        tally.report.entries += 1
        guard let stored = try await store.index.look({ try $0.entries.generation(for: entry.key) }) else {
            return
        }
        let file: DataFile
        do throws(RepriseError) {
            file = try await DiskQueue.shared.run { () throws(RepriseError) in
                try store.file(stored.record, create: false)
            }
        } catch {
            guard error.isMissingFile else {
                tally.report.unreadable.append(entry.key)
                return
            }
            tally.report.missing.append(entry.key)
            tally.titles.formUnion(
                try await store.index.look { try $0.titles.keys(withFiles: [entry.key]) }.union([entry.key]))
            if !isLive(entry) { store.quota.release(try await store.recorder.remove(generation: stored.record.id)) }
            return
        }
        let proof = ChunkProof(stored.record, in: store.index)
        var wrong: [Chunk] = []
        for chunk in stored.chunks.values.joined().sorted(by: { $0.start < $1.start }) {
            try Task.checkCancellation()
            let isSound = await DiskQueue.scans.run {
                proof.bytes(of: chunk, in: file) != nil
            }
            if !isSound { wrong.append(chunk) }
            tally.note(chunk, isSound: isSound)
        }
        // What was removed, replaced or evicted in the meantime is no damage.
        guard !wrong.isEmpty, let now = try await store.index.look({ try $0.entries.generation(for: entry.key) }),
            now.record.id == stored.record.id
        else { return }
        wrong = wrong.filter(Set(now.chunks.values.joined()).contains)
        tally.report.damaged += wrong.map { .init(key: entry.key, range: $0.range) }
        guard !wrong.isEmpty else { return }
        tally.titles.formUnion(
            try await store.index.look { try $0.titles.keys(withFiles: [entry.key]) }.union([entry.key]))
        if let live = engine.liveResource(entry.key)?.liveGeneration {
            if live.id == now.record.id { live.discard(wrong.filter(live.bytes.has)) }
            return
        }
        let ledger = ChunkLedger(blocks: now.chunks)
        ledger.discard(wrong)
        let usage = Usage(allocated: now.usage.allocated, stored: ledger.byteCount)
        try await store.recorder.write(
            Index.Batch.Generation(record: now.record, usage: usage, blocks: ledger.takeUnrecorded()))
        store.quota.correct(from: now.usage, to: usage)
        for chunk in wrong { engine.reporter.tell(.verificationFailed(entry.key, range: chunk.range)) }
    }

    private func isLive(_ entry: CacheEntry) -> Bool { engine.liveResource(entry.key)?.liveGeneration != nil }
}

/// The report so far, and the progress.
private struct VerificationTally: Sendable {
    var report = VerificationReport()
    /// The keys of files that have lost bytes, and of the titles that have such files.
    var titles: Set<CacheKey> = []
    private var read: Int64 = 0
    private let total: Int64
    private let progress: @Sendable (Int64, Int64) -> Void

    init(total: Int64, progress: @escaping @Sendable (Int64, Int64) -> Void) {
        self.total = total
        self.progress = progress
    }

    mutating func note(_ chunk: Chunk, isSound: Bool) {
        if isSound { report.soundBytes += chunk.count }
        read += chunk.count
        progress(read, total)
    }
}

/// The result of ``MediaCache/verify(_:)``.
public struct VerificationReport: Sendable {
    /// Stored bytes that did not match their checksum or tag.
    public struct DamagedRange: Sendable, Hashable {
        /// The key of the entry.
        public let key: CacheKey
        /// The bytes, half-open.
        public let range: Range<Int64>
    }

    /// Entries checked.
    public var entries = 0
    /// Bytes of media that were read and matched.
    public var soundBytes: Int64 = 0
    /// Stored ranges that did not match; they are holes now and will be fetched again.
    public var damaged: [DamagedRange] = []
    /// Entries whose file is gone; they are removed from the index.
    public var missing: [CacheKey] = []
    /// Entries whose file could not be opened this time; they are left as they are.
    public var unreadable: [CacheKey] = []
    /// Records that could not be read or belong to no entry; they are removed with their files.
    public var damagedRecords = 0

    /// Whether nothing was damaged, missing or unreadable.
    public var isSound: Bool { damaged.isEmpty && missing.isEmpty && unreadable.isEmpty && damagedRecords == 0 }
}
