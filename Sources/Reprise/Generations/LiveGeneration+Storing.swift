import ByteRanges
import Foundation
import HTTPTypes
import Locks

/// Verifies stored bytes before they are delivered, and reacts to a failing disk.
extension LiveGeneration {
    /// The bytes of `range`, which is stored and verified, as a region of the file or decrypted in memory.
    ///
    /// `nil` if the bytes turned out to be wrong or missing. They are a hole then, and the reader has to ask again.
    func piece(
        _ range: Range<Int64>, _ file: any OpenFile, _ lease: Lease?, for reader: FetchSchedule.ReaderID
    ) async -> MediaPiece? {
        guard let sealer else {
            let region = StoredRegion(range: range, of: self, file, lease: lease)
            if region.isPresent { return .stored(region) }
            region.reportUnreadable()
            rewind(reader, to: range.lowerBound)
            return nil
        }
        let bytes = await withTaskExecutorPreference(DiskExecutor.shared) { open(range, sealer) }
        withExtendedLifetime((lease, file)) {}
        let reached = range.lowerBound + Int64(bytes.count)
        if reached < range.upperBound { rewind(reader, to: reached) }
        return bytes.isEmpty ? nil : .memory(OpenedBytes(bytes: bytes))
    }

    /// Decrypts the chunks in `range` up to the first that fails to open, which becomes a hole.
    private func open(_ range: Range<Int64>, _ sealer: ChunkSealer) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Int(range.upperBound - range.lowerBound))
        var position = range.lowerBound
        while position < range.upperBound {
            // Look in the tail first: bytes that left it are already in the ledger.
            if let tail = tails.bytes(from: position, to: range.upperBound) {
                bytes += tail
            } else if let chunk = ledger.chunks(overlapping: position..<position + 1).first {
                guard let sealed = try? file.read(at: chunk.start, count: Int(chunk.length)) else {
                    markUnreadable(chunk.range)
                    return bytes
                }
                guard let plain = sealer.open(sealed, chunk) else {
                    refuse(chunk)
                    return bytes
                }
                let lower = Int(position - chunk.start)
                let upper = Int(min(range.upperBound, chunk.range.upperBound) - chunk.start)
                bytes += plain[plain.startIndex + lower..<plain.startIndex + upper]
            } else {
                // Marked as stored without a record.
                state.withLock { $0.machine.discard(position..<position + 1) }
                return bytes
            }
            position = range.lowerBound + Int64(bytes.count)
        }
        return bytes
    }

    /// Checks the stored chunks in `range` against their checksums, off the cooperative pool; wrong ones become holes.
    func verify(_ range: Range<Int64>) async {
        guard sealer == nil else {
            // Decrypting verifies the bytes each time.
            return state.withLock { $0.machine.markVerified(range) }
        }
        await withTaskExecutorPreference(DiskExecutor.shared) {
            var wrong: [Chunk] = []
            for chunk in ledger.chunks(overlapping: range) {
                let bytes = try? file.read(at: chunk.start, count: Int(chunk.length))
                let isRight = bytes.map { bytes in
                    bytes.count == Int(chunk.length)
                        && bytes.withUnsafeBytes { XXHash64.checksum(of: $0) } == chunk.checksum
                }
                if isRight == true {
                    state.withLock { $0.machine.markVerified(chunk.range) }
                } else {
                    wrong.append(chunk)
                }
            }
            discard(wrong)
        }
    }

    /// Turns these wrong chunks into holes.
    func discard(_ wrong: [Chunk]) {
        guard !wrong.isEmpty else { return }
        ledger.discard(wrong)
        state.withLock { state in wrong.forEach { state.machine.discard($0.range) } }
        for chunk in wrong {
            uncount(Int64(chunk.length))
            engine.reporter.tell(.verificationFailed(key, range: chunk.range))
        }
        store.recorder.note(self, bytes: 0)
        engine.progress.changed(key)
    }

    /// Turns a sealed chunk that does not open into a hole.
    ///
    /// If its replacement doesn't open either, the disk is losing bytes.
    private func refuse(_ chunk: Chunk) {
        let isAgain = state.withLock { $0.disk.chunkFailed(at: chunk.start) }
        discard([chunk])
        if isAgain { leaveDiskAlone("\(file.path) does not keep what is written.") }
    }

    func rewind(_ reader: FetchSchedule.ReaderID, to position: Int64) {
        state.withLock { $0.machine.rewind(reader, to: position) }
    }

    /// Turns bytes that cannot be read from disk into a hole.
    ///
    /// Replacement bytes are written to the same disk. If they cannot be read either, nothing more is written for a
    /// while.
    func markUnreadable(_ range: Range<Int64>) {
        let now = elapsed
        let isAgain = state.withLock { $0.disk.readFailed(at: now) }
        discard(ledger.chunks(overlapping: range))
        unpublish(range)
        if isAgain { leaveDiskAlone("Cannot read \(file.path).") }
    }

    /// Withdraws bytes that readers were promised but that cannot be written.
    func unpublish(_ range: Range<Int64>) {
        guard !range.isEmpty else { return }
        let stored = state.withLock { state in
            let bytes = state.machine.stored.spans(in: range).reduce(0) { $0 + $1.upperBound - $1.lowerBound }
            state.machine.discard(range)
            return bytes
        }
        uncount(stored)
        engine.progress.changed(key)
    }

    private func uncount(_ bytes: Int64) {
        if allocation.noteStored(-bytes) { store.quota.release(Usage(stored: bytes)) }
    }

    // MARK: - A failing store

    /// Writes nothing for a while, here or elsewhere in the cache, because the disk fails.
    private func leaveDiskAlone(_ reason: String) {
        store.breaker.open()
        closeStore(reason: reason, for: Breaker.pause)
    }

    /// Stops storing; readers bypass the store.
    ///
    /// New readers try the store again after `pause`, unless it is `nil`.
    func closeStore(reason: String, for pause: Duration? = nil) {
        let now = elapsed
        perform(
            state.withLock { state in
                state.disk.storeClosed(for: pause, at: now)
                return state.machine.closeStore()
            })
        engine.reporter.tell(.storeBypassed(key, reason: reason))
    }

    /// Reopens a store that failed some time ago.
    func reopenStore(_ state: inout State) {
        guard state.machine.isStoreClosed, store.breaker.reason == nil, state.disk.mayTryAgain(at: elapsed)
        else { return }
        state.machine.reopenStore()
    }

    /// Frees the blocks of a removed entry, even if its descriptor is still held without being read.
    func emptyFileIfUnread() {
        // Frozen by now, so no new lease or reader can appear.
        guard isIdle else { return }
        file.empty()
    }
}

/// Decrypted bytes.
private struct OpenedBytes: ByteChunk {
    let bytes: [UInt8]

    var count: Int { bytes.count }

    func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try bytes.withUnsafeBytes(body)
    }
}

// MARK: - A failing origin

extension LiveGeneration {
    /// The origin's refusal of the same request a short time ago; a new fetch need not be tried.
    func recentRefusal(of request: OriginRequest) -> RepriseError? {
        let now = elapsed
        return state.withLock { $0.origin.recentRefusal(of: request, at: now) }
    }

    /// Remembers a fetch that failed for good.
    func noteRefusal(_ error: RepriseError, of request: OriginRequest) {
        let now = elapsed
        state.withLock { $0.origin.fetchFailed(error, sending: request, at: now) }
    }

    /// Resets the failure count: the origin answered a fetch as expected.
    func noteSuccess() { state.withLock { $0.origin.fetchSucceeded() } }
}
