/// Stores a fetch's bytes: reserves room, writes, publishes; and reacts to a failing disk.
extension FetchDriver {
    private var store: Store { core.store }

    /// Minimum number of bytes to evict when the disk itself is full.
    private static let roomOnFullDisk: Int64 = 16 << 20
    /// How long a generation bypasses the store after there was no room for it.
    private static let pauseWithoutRoom = Duration.seconds(10)

    /// Writes the wanted part of `chunk` that is missing.
    func store(
        _ chunk: any ByteChunk, _ range: Range<Int64>, _ writer: inout ChunkWriter
    ) async throws -> GenerationMachine.Verdict {
        let (cursor, limit, holes) = core.writable(range, for: id)
        for hole in holes {
            guard await write(hole, of: chunk, at: range.lowerBound, &writer) else { return .finished }
        }
        let upper = min(range.upperBound, limit)
        guard upper > cursor else { return core.verdict(id) }
        let verdict = core.advance(id, by: upper - cursor)
        store.reach(.published)
        return verdict
    }

    /// Writes one hole to disk; false if the store is closed now and the bytes bypass it.
    private func write(
        _ hole: Range<Int64>, of chunk: any ByteChunk, at start: Int64, _ writer: inout ChunkWriter
    ) async -> Bool {
        if let reason = store.breaker.reason { return giveUp(writer, reason, Breaker.pause) }
        await core.punches.pass(hole)
        let blocks = core.allocation.claim(hole)
        let room = blocks.reduce(0) { $0 + $1.upperBound - $1.lowerBound }
        if room > 0 {
            let isTooLarge = store.entryLimit < core.allocation.usage.allocated
            guard !isTooLarge, await engine.reserve(room, in: store) else {
                core.allocation.discharge(blocks)
                return giveUp(
                    writer, isTooLarge ? store.tooLargeReason : store.noRoomReason(for: room), Self.pauseWithoutRoom)
            }
        }
        store.reach(.reserved)
        do throws(RepriseError) {
            try await writeTwice(hole, of: chunk, at: start, &writer)
        } catch {
            store.quota.release(allocated: core.allocation.discharge(blocks))
            if !error.concernsOneFile { store.breaker.open() }
            return giveUp(writer, error.description, Breaker.pause)
        }
        store.reach(.written)
        let count = hole.upperBound - hole.lowerBound
        if core.allocation.noteStored(count) { store.quota.noteStored(count) }
        return true
    }

    /// Writes; on an error tries once more, after making room if the disk is full.
    private func writeTwice(
        _ hole: Range<Int64>, of chunk: any ByteChunk, at start: Int64, _ writer: inout ChunkWriter
    ) async throws(RepriseError) {
        do throws(RepriseError) {
            try writer.write(chunk, at: start, part: hole)
        } catch {
            if error.isLackOfRoom {
                let count = hole.upperBound - hole.lowerBound
                await engine.makeRoom(max(2 * count, Self.roomOnFullDisk), atLeast: count, in: store)
            }
            try writer.write(chunk, at: start, part: hole)
        }
    }

    /// Ends the open chunk.
    func finish(_ writer: inout ChunkWriter) {
        do throws(RepriseError) {
            try writer.finish()
        } catch {
            if !error.concernsOneFile { store.breaker.open() }
            _ = giveUp(writer, error.description, Breaker.pause)
        }
    }

    private func giveUp(_ writer: ChunkWriter, _ reason: String, _ pause: Duration) -> Bool {
        writer.abandon()
        core.closeStore(reason: reason, for: pause)
        return false
    }
}
