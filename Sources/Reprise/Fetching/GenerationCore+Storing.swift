import ByteRanges
import Foundation
import HTTPTypes
import Locks

/// Between a generation and its disk: proof of what is read, and what to do when the disk fails.
extension GenerationCore {
    /// The bytes of `range`, which is stored and proved, as a region of the file, or opened and in memory.
    ///
    /// `nil` if they turned out wrong or are gone: a hole now, and the reader is to ask again.
    func piece(
        _ range: Range<Int64>, _ file: any OpenFile, _ lease: Lease?, for reader: GenerationMachine.ReaderID
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

    /// Opens the chunks in `range` up to the first that does not pass, which becomes a hole.
    private func open(_ range: Range<Int64>, _ sealer: ChunkSealer) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Int(range.upperBound - range.lowerBound))
        var position = range.lowerBound
        while position < range.upperBound {
            // The tail first: what leaves it is in the ledger by then.
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
                // Stored by name only: no record stands behind it.
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
            // Each opening proves the bytes anew.
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

    /// These chunks are wrong: holes from now on.
    func discard(_ wrong: [Chunk]) {
        guard !wrong.isEmpty else { return }
        ledger.discard(wrong)
        state.withLock { state in wrong.forEach { state.machine.discard($0.range) } }
        for chunk in wrong {
            uncount(Int64(chunk.length))
            engine.journal.tell(.verificationFailed(key, range: chunk.range))
        }
        store.recorder.note(self, bytes: 0)
        engine.progress.changed(key)
    }

    /// A sealed chunk does not open: a hole.
    ///
    /// If what is written in its place does not open either, the disk loses bytes.
    private func refuse(_ chunk: Chunk) {
        let isAgain = state.withLock { state in
            defer { state.refusedChunk = chunk.start }
            return state.refusedChunk == chunk.start
        }
        guard isAgain else { return discard([chunk]) }
        discard([chunk])
        leaveDiskAlone("\(file.path) does not keep what is written.")
    }

    func rewind(_ reader: GenerationMachine.ReaderID, to position: Int64) {
        state.withLock { $0.machine.rewind(reader, to: position) }
    }

    /// The disk does not give these bytes: a hole.
    ///
    /// What is fetched in their place is written to the same disk. If that does not give it either, nothing more is
    /// written for a while.
    func markUnreadable(_ range: Range<Int64>) {
        let now = engine.configuration.clock.elapsed()
        let isFirst = state.withLock { state in
            defer { state.unreadable = now }
            return state.unreadable.map { now - $0 >= Breaker.pause } ?? true
        }
        discard(ledger.chunks(overlapping: range))
        unpublish(range)
        if !isFirst { leaveDiskAlone("Cannot read \(file.path).") }
    }

    /// Bytes that readers were told of cannot be written after all.
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

    // MARK: - A store that gives out

    /// The disk fails: nothing is written for a while, here or elsewhere in the cache.
    private func leaveDiskAlone(_ reason: String) {
        store.breaker.open()
        closeStore(reason: reason, for: Breaker.pause)
    }

    /// Nothing more can be stored here; readers stream past the store.
    ///
    /// New readers try the store again after `pause`, if it is not `nil`.
    func closeStore(reason: String, for pause: Duration? = nil) {
        let now = engine.configuration.clock.elapsed()
        perform(
            state.withLock { state in
                state.closedUntil = pause.map { now + $0 }
                return state.machine.closeStore()
            })
        engine.journal.tell(.storeBypassed(key, reason: reason))
    }

    /// Tries a store again that gave out some time ago.
    func reopenStore(_ state: inout State) {
        guard state.machine.isStoreClosed, let until = state.closedUntil, store.breaker.reason == nil,
            engine.configuration.clock.elapsed() >= until
        else { return }
        state.machine.reopenStore()
    }

    /// The entry is gone: room too, also if somebody holds the descriptor who is not reading.
    func emptyFileIfUnread() {
        // Frozen by now: no new lease, no new reader.
        guard isIdle else { return }
        file.empty()
    }
}

/// Bytes that were opened.
private struct OpenedBytes: ByteChunk {
    let bytes: [UInt8]

    var count: Int { bytes.count }

    func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try bytes.withUnsafeBytes(body)
    }
}

// MARK: - An origin that gives out

extension GenerationCore {
    /// Why a fetch need not be tried with `request`: the origin refused the same just now.
    func recentRefusal(of request: OriginRequest) -> RepriseError? {
        let now = engine.configuration.clock.elapsed()
        return state.withLock { state in
            guard let refused = state.refused, now < refused.until, refused.request.asksTheSame(as: request) else {
                return nil
            }
            return refused.error
        }
    }

    /// A fetch failed for good: for a while the same answers the same requests, so that a player that asks again at once
    /// does not hammer the origin.
    func noteRefusal(_ error: RepriseError, of request: OriginRequest) {
        guard error.code == .originRefused, let status = error.refusal?.head.status.code else { return }
        let policy = engine.configuration.reuse
        let now = engine.configuration.clock.elapsed()
        state.withLock { state in
            state.failures = Backoff.isFailure(status) ? state.failures + 1 : 0
            guard let pause = Backoff.pause(after: status, failures: state.failures, of: url, policy) else { return }
            state.refused = (error, request, now + pause)
        }
    }

    /// The origin answered a fetch with what was wanted.
    func noteSuccess() { state.withLock { $0.failures = 0 } }
}
