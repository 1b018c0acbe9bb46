import HTTPSemantics

/// Stores a fetch's bytes: reserves room, writes, publishes; and reacts to a failing disk.
extension FetchRun {
    private var store: Store { generation.store }
    private var bytes: StoredBytes { generation.bytes }

    /// Minimum number of bytes to evict when the disk itself is full.
    private static let roomOnFullDisk: Int64 = 16 << 20
    /// How long a generation bypasses the store after there was no room for it.
    private static let pauseWithoutRoom = Duration.seconds(10)

    /// Writes the wanted part of `arrival` that is missing.
    func store(_ arrival: Arrival, with writer: inout ChunkWriter) async throws -> FetchSchedule.Verdict {
        let writable = generation.ask { $0.schedule.writable(arrival.range, for: id) }
        for hole in writable.holes {
            guard await write(hole, of: arrival, with: &writer) else { return .finished }
        }
        let upper = min(arrival.range.upperBound, writable.limit)
        guard upper > writable.cursor else { return verdict(after: nil) }
        // Finish the chunk first: a reader that sees the last byte may query the index immediately.
        if upper == min(writable.limit, arrival.source.placement?.end ?? .max) {
            guard await finish(&writer, with: arrival) else { return .finished }
        }
        let verdict = verdict(after: upper - writable.cursor)
        engine.progress.changed(generation.key)
        store.reach(.published)
        return verdict
    }

    /// Writes one hole to disk; false if the store is closed now and the bytes bypass it.
    private func write(_ hole: Range<Int64>, of arrival: Arrival, with writer: inout ChunkWriter) async -> Bool {
        if let reason = store.breaker.reason {
            // This file has no fault of its own, so the breaker alone decides when to try again.
            return giveUp(&writer, reason: reason, pause: .zero, at: arrival)
        }
        let blocks = await bytes.claim(hole)
        let room = blocks.reduce(0) { $0 + $1.upperBound - $1.lowerBound }
        if room > 0 {
            let isTooLarge = store.entryLimit < bytes.allocatedBytes
            guard !isTooLarge, await engine.reserve(room, in: store) else {
                bytes.discharge(blocks)
                let reason =
                    if isTooLarge { store.tooLargeReason } else {
                        await DiskQueue.shared.run { [store] in store.noRoomReason(for: room) }
                    }
                return giveUp(&writer, reason: reason, because: .room, pause: Self.pauseWithoutRoom, at: arrival)
            }
        }
        store.reach(.reserved)
        do throws(RepriseError) {
            try await writeTwice(hole, of: arrival.chunk, at: arrival.range.lowerBound, with: &writer)
        } catch {
            bytes.release(blocks)
            return giveUp(&writer, because: error, at: arrival)
        }
        store.reach(.written)
        bytes.noteStored(hole.upperBound - hole.lowerBound)
        return true
    }

    /// Writes; on an error tries once more, after making room if the disk is full.
    private func writeTwice(
        _ hole: Range<Int64>, of chunk: any ByteChunk, at start: Int64, with writer: inout ChunkWriter
    ) async throws(RepriseError) {
        defer { noteCompleted(&writer) }
        do throws(RepriseError) {
            try await onDisk(&writer) { writer throws(RepriseError) in
                try writer.write(chunk, at: start, part: hole)
            }
        } catch {
            if error.isLackOfRoom {
                let count = hole.upperBound - hole.lowerBound
                await engine.makeRoom(max(2 * count, Self.roomOnFullDisk), atLeast: count, in: store)
            }
            try await onDisk(&writer) { writer throws(RepriseError) in
                try writer.write(chunk, at: start, part: hole)
            }
        }
    }

    /// Runs `work` on a thread that may block; its changes to `writer` stay even if it throws.
    private func onDisk(
        _ writer: inout ChunkWriter, _ work: @escaping @Sendable (inout ChunkWriter) throws(RepriseError) -> Void
    ) async throws(RepriseError) {
        let error: RepriseError?
        (writer, error) = await DiskQueue.shared.run { [writer] in
            var writer = writer
            do throws(RepriseError) { try work(&writer) } catch { return (writer, error) }
            return (writer, nil)
        }
        if let error { throw error }
    }

    /// Ends the open chunk; false if it cannot be written, and the bytes bypass the store.
    @discardableResult
    func finish(_ writer: inout ChunkWriter, with arrival: Arrival? = nil) async -> Bool {
        defer { noteCompleted(&writer) }
        do throws(RepriseError) {
            try await onDisk(&writer) { writer throws(RepriseError) in try writer.finish() }
            return true
        } catch {
            return giveUp(&writer, because: error, at: arrival)
        }
    }

    /// Queues completed chunks for the index.
    private func noteCompleted(_ writer: inout ChunkWriter) {
        let count = writer.takeCompleted()
        if count > 0 { store.recorder.note(generation, bytes: count) }
    }

    private func giveUp(_ writer: inout ChunkWriter, because error: RepriseError, at arrival: Arrival?) -> Bool {
        let concernsOneFile = error.concernsOneFile
        if !concernsOneFile { store.breaker.open(because: error) }
        return giveUp(
            &writer, reason: error.explanation, because: error.isLackOfRoom ? .room : .disk,
            pause: concernsOneFile ? Breaker.pause : .zero, at: arrival)
    }

    private func giveUp(
        _ writer: inout ChunkWriter, reason: String, because kind: BypassReason = .disk, pause: Duration,
        at arrival: Arrival? = nil
    ) -> Bool {
        // Hand over the response before readers are told to send their own requests.
        if let arrival { writer.isHandedOver = handOver(arrival, toWaiting: kind == .room) }
        if let unwritten = writer.unwritten { generation.unpublish(unwritten) }
        writer.abandon()
        generation.closeStore(reason: reason, because: kind, for: pause)
        return false
    }

    /// Hands the rest of the response over to a reader; false if readers have to send their own requests.
    ///
    /// If another response could continue the generation, only to a waiting player, and only with `toWaiting`.
    private func handOver(_ arrival: Arrival, toWaiting: Bool) -> Bool {
        var (taken, start) = ([arrival.chunk], arrival.range.lowerBound)
        if let tail = bytes.tail(of: id), tail.start < start, start <= tail.end {
            taken.insert(Array(tail.bytes.prefix(Int(start - tail.start))), at: 0)
            start = tail.start
        }
        var rest = arrival.source
        rest.response.body = ResumedBody(taken, before: rest.response.body)
        rest.action = .fill(BodyPlacement(start: start, end: rest.placement?.end))
        guard
            generation.handle({ [rest] in
                $0.handOver(rest, of: id, toWaiting: toWaiting, policy: generation.generationPolicy)
            })
        else { return false }
        // The reader counts them.
        countFetched(-taken.reduce(0) { $0 + $1.count })
        return true
    }
}

/// Writes one fetch's bytes to the data file, with what verifies them: checksums or seals.
struct ChunkWriter: Sendable {
    private let bytes: StoredBytes
    private let fetch: FetchSchedule.FetchID
    /// Body bytes received, wanted or not.
    var received: Int64 = 0
    /// The rest of the body is a reader's.
    var isHandedOver = false
    private var cutter = ChunkCutter()
    /// Bytes of complete chunks since the last ``takeCompleted()``.
    private var completed: Int64 = 0

    init(into bytes: StoredBytes, for fetch: FetchSchedule.FetchID) {
        self.bytes = bytes
        self.fetch = fetch
    }

    /// Writes `part` of `chunk`, whose first byte lies at `start` in the representation.
    ///
    /// After an error the same call may be repeated.
    mutating func write(_ chunk: any ByteChunk, at start: Int64, part: Range<Int64>) throws(RepriseError) {
        let result: Result<Void, RepriseError> = chunk.withUnsafeBytes { buffer in
            let lower = Int(part.lowerBound - start)
            let slice = UnsafeRawBufferPointer(rebasing: buffer[lower..<lower + Int(part.upperBound - part.lowerBound)])
            do throws(RepriseError) {
                if bytes.isSealed {
                    try bytes.append(slice, part: part, to: fetch, sealed: &completed)
                } else {
                    try bytes.write(slice, at: part.lowerBound)
                    completed += bytes.add(cutter.append(slice, at: part.lowerBound))
                }
            } catch {
                return .failure(error)
            }
            return .success(())
        }
        try result.get()
    }

    /// Ends the open chunk because the download stopped.
    mutating func finish() throws(RepriseError) {
        if bytes.isSealed {
            completed += try bytes.sealTail(of: fetch)
        } else if let chunk = cutter.finish() {
            completed += bytes.add([chunk])
        }
    }

    /// How many bytes of chunks were completed since the last call; the index lacks them.
    mutating func takeCompleted() -> Int64 {
        defer { completed = 0 }
        return completed
    }

    /// The bytes that readers see although they are not written yet.
    var unwritten: Range<Int64>? { bytes.tail(of: fetch).map { $0.start..<$0.end } }

    /// Drops bytes that are not written yet, after readers can no longer expect them.
    func abandon() { bytes.dropTail(of: fetch) }
}
