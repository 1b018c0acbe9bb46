import Foundation

/// Writes a fetch's bytes to the data file and records what verifies them: checksums or seals.
struct ChunkWriter {
    let core: LiveGeneration
    private let fetch: FetchSchedule.FetchID
    /// Body bytes received, wanted or not.
    var received: Int64 = 0
    /// The rest of the body is a reader's.
    var isHandedOver = false
    private var cutter = ChunkCutter()

    init(core: LiveGeneration, fetch: FetchSchedule.FetchID) {
        self.core = core
        self.fetch = fetch
    }

    /// Writes `part` of `chunk`, whose first byte lies at `start` in the representation.
    ///
    /// After an error the same call may be repeated.
    mutating func write(_ chunk: any ByteChunk, at start: Int64, part: Range<Int64>) throws(RepriseError) {
        let result: Result<[Chunk], RepriseError> = chunk.withUnsafeBytes { bytes in
            let lower = Int(part.lowerBound - start)
            let slice = UnsafeRawBufferPointer(rebasing: bytes[lower..<lower + Int(part.upperBound - part.lowerBound)])
            do throws(RepriseError) {
                if let sealer = core.sealer { return .success(try seal(slice, part, sealer)) }
                try core.file.write(slice, at: part.lowerBound)
            } catch {
                return .failure(error)
            }
            return .success(cutter.append(slice, at: part.lowerBound))
        }
        record(try result.get())
    }

    /// Ends the open chunk because the download stopped.
    mutating func finish() throws(RepriseError) {
        guard let sealer = core.sealer else { return record(cutter.finish().map { [$0] } ?? []) }
        try sealTail(sealer)
    }

    /// Discards bytes that are not written yet.
    func abandon() {
        guard let tail = core.tails[fetch] else { return }
        core.unpublish(tail.start..<tail.end)
        core.tails.set(nil, for: fetch)
    }

    private func record(_ chunks: [Chunk]) {
        guard !chunks.isEmpty else { return }
        core.ledger.add(chunks)
        core.store.recorder.note(core, bytes: chunks.reduce(0) { $0 + Int64($1.length) })
    }

    // MARK: - Sealing

    /// Appends `bytes` to the tail and seals what reaches a boundary.
    ///
    /// Chunks are recorded one by one, so that an error loses none.
    private func seal(
        _ bytes: UnsafeRawBufferPointer, _ part: Range<Int64>, _ sealer: ChunkSealer
    ) throws(RepriseError) -> [Chunk] {
        // A second attempt finds the bytes that the first one appended to the tail.
        var position = part.lowerBound
        if let end = core.tails[fetch]?.end, part.lowerBound <= end, end <= part.upperBound { position = end }
        while true {
            if let tail = core.tails[fetch], tail.end != position || tail.end % Chunk.alignment == 0 {
                try sealTail(sealer)
            }
            guard position < part.upperBound else { return [] }
            var tail = core.tails[fetch] ?? UnsealedTails.Tail(start: position)
            let boundary = (position / Chunk.alignment + 1) * Chunk.alignment
            let upper = min(boundary, part.upperBound)
            tail.bytes += UnsafeRawBufferPointer(
                rebasing: bytes[Int(position - part.lowerBound)..<Int(upper - part.lowerBound)])
            core.tails.set(tail, for: fetch)
            position = upper
        }
    }

    private func sealTail(_ sealer: ChunkSealer) throws(RepriseError) {
        guard let tail = core.tails[fetch], !tail.bytes.isEmpty else { return }
        let sealed: (ciphertext: Data, chunk: Chunk)
        do { sealed = try sealer.seal(tail.bytes[...], at: tail.start) } catch {
            throw RepriseError(.storageUnavailable, "A chunk cannot be sealed.", cause: error)
        }
        let result: Result<Void, RepriseError> = sealed.ciphertext.withUnsafeBytes { bytes in
            do throws(RepriseError) { return .success(try core.file.write(bytes, at: tail.start)) } catch {
                return .failure(error)
            }
        }
        try result.get()
        record([sealed.chunk])
        core.tails.set(nil, for: fetch)
    }
}
