import ByteRanges
import Primitives

/// Decides which parts of a generation in use are evicted first.
extension FetchSchedule {
    /// The unit of eviction: whole rows of the index, whole blocks of the file system, whole pages of memory.
    ///
    /// Punching a hole zeros a page that it covers partially, even while a socket still refers to it, and the client
    /// would get zeros. A page that is covered as a whole stays intact for the socket. Page-cache pages are as large as
    /// the system's read-ahead, up to `SystemFileSystem.largestPage`.
    static let extent: Int64 = max(ChunkLedger.blockSize, SystemFileSystem.largestPage)
    /// What a reader is about to read, from its first unconsumed byte on.
    static let readerWindow: Int64 = 2 << 20

    private enum Rank: Int {
        /// Stored, but not read by any reader of this process.
        case speculative
        /// Behind every reader.
        case played
        case rest
        /// Beginning and end of the file, where players look for its structure.
        case ends
    }

    /// Extents with at least `bytes` stored bytes, least useful first.
    ///
    /// Never one that is leased, of which a part is kept, that a reader is about to read, or that a fetch is about to
    /// write.
    func extents(freeing bytes: Int64, leased: [Range<Int64>], kept: ByteRangeSet = []) -> [Range<Int64>] {
        let needed =
            leased + Array(kept) + readers.values.map { $0.consumed..<$0.delivered + Self.readerWindow }
            + fetches.values.map { max(0, $0.cursor - 1)..<$0.cursor + Self.extent + 1 }
        let behind = readers.values.map(\.consumed).min() ?? .max
        var candidates: [(rank: Rank, extent: Range<Int64>, stored: Int64)] = []
        for extent in storedExtents where !needed.contains(where: { $0.overlaps(extent) }) {
            let stored = self.stored.spans(in: extent).reduce(0) { $0 + $1.upperBound - $1.lowerBound }
            candidates.append((rank(extent, behind: behind), extent, stored))
        }
        // Among played extents the first was played longest ago; among the others the last is needed last.
        candidates.sort { one, other in
            guard one.rank == other.rank else { return one.rank.rawValue < other.rank.rawValue }
            return one.rank == .played
                ? one.extent.lowerBound < other.extent.lowerBound : one.extent.lowerBound > other.extent.lowerBound
        }
        var freed: Int64 = 0
        return candidates.prefix { candidate in
            defer { freed += candidate.stored }
            return freed < bytes
        }.map(\.extent)
    }

    private func rank(_ extent: Range<Int64>, behind: Int64) -> Rank {
        if extent.lowerBound == 0 { return .ends }
        if let completeLength, completeLength > 0, extent.contains(completeLength - 1) { return .ends }
        if !played.intersects(extent) { return .speculative }
        return extent.upperBound <= behind ? .played : .rest
    }

    private var storedExtents: [Range<Int64>] {
        var extents: [Range<Int64>] = []
        for span in stored {
            for index in span.lowerBound / Self.extent...(span.upperBound - 1) / Self.extent {
                let extent = index * Self.extent..<(index + 1) * Self.extent
                if extents.last != extent { extents.append(extent) }
            }
        }
        return extents
    }
}

/// Evicts parts of a generation.
extension Generation {
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
