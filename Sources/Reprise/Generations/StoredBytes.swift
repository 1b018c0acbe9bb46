import ByteRanges
import Foundation
import Primitives

/// The bytes of one generation on disk: the data file, the chunks that verify it, the blocks charged for it, and the
/// bytes of running fetches that are not sealed yet.
///
/// Knows neither readers nor fetches' schedules: its owner says what to write and what to free, and learns which bytes
/// turned out to be wrong. Reading and writing block, so call them on ``DiskQueue``. Its locks are leaves.
final class StoredBytes: Sendable {
    /// Why bytes that should be on disk are not.
    enum Fault: Sendable {
        /// They cannot be read.
        case unreadable(Range<Int64>)
        /// They are not what was sealed.
        case wrong(Chunk)
        /// No chunk describes the byte at this position.
        case unrecorded(Int64)
    }

    let file: DataFile
    private let ledger: ChunkLedger
    private let quota: Quota
    private let allocation: Allocation
    /// `nil` in a plain cache.
    private let sealer: ChunkSealer?
    private let tails = UnsealedTails()
    /// Keeps writers out of ranges whose blocks are being freed; bytes written during that time would be lost.
    private let punches = Barrier<Range<Int64>> { $0.overlaps($1) }

    /// Charges the blocks of what `ledger` describes; room for further ones is taken from `quota`.
    init(file: DataFile, ledger: ChunkLedger, sealer: ChunkSealer?, quota: Quota) {
        self.file = file
        self.ledger = ledger
        self.sealer = sealer
        self.quota = quota
        allocation = Allocation(ledger.ranges)
    }

    /// Whether the file contains encrypted bytes, which have to be opened before anything can use them.
    var isSealed: Bool { sealer != nil }
    /// The ranges of all chunks.
    var ranges: ByteRangeSet { ledger.ranges }
    /// Bytes of blocks that are charged.
    var allocatedBytes: Int64 { allocation.usage.allocated }

    // MARK: - Recording

    /// What the index should say: blocks that are charged, and bytes that a chunk describes.
    var usage: Usage { Usage(allocated: allocatedBytes, stored: ledger.byteCount) }
    /// Whether the index lacks changes.
    var hasUnrecorded: Bool { ledger.hasUnrecorded }
    /// The rows that changed since the last call.
    func takeUnrecorded() -> [(block: Int64, chunks: [Chunk])] { ledger.takeUnrecorded() }
    /// Marks rows to be recorded again, because a batch failed.
    func markUnrecorded(_ blocks: [Int64]) { ledger.markUnrecorded(blocks) }

    // MARK: - Room

    /// Charges the blocks of `range` that are not charged yet, and returns them; waits while they are being punched.
    func claim(_ range: Range<Int64>) async -> [Range<Int64>] {
        await punches.pass(range)
        return allocation.claim(range)
    }

    /// Withdraws a claim for which no room was reserved.
    func discharge(_ blocks: [Range<Int64>]) { allocation.discharge(blocks) }

    /// Withdraws a claim, and releases the room that was reserved for it.
    func release(_ blocks: [Range<Int64>]) { quota.release(allocated: allocation.discharge(blocks)) }

    /// `count` bytes of media more are stored.
    func noteStored(_ count: Int64) {
        if allocation.noteStored(count) { quota.noteStored(count) }
    }

    /// `count` bytes of media are no longer stored; their blocks stay charged.
    func noteLost(_ count: Int64) {
        if allocation.noteStored(-count) { quota.release(Usage(stored: count)) }
    }

    /// Charges nothing more; the first caller gets the usage to release.
    func close() -> Usage { allocation.close() }

    // MARK: - Writing

    /// Writes bytes of a plain cache at `offset`; nothing verifies them until ``add(_:)``.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(RepriseError) {
        try file.write(bytes, at: offset)
    }

    /// Adds chunks that were written, to be recorded with the next batch; returns their number of bytes.
    func add(_ chunks: [Chunk]) -> Int64 {
        guard !chunks.isEmpty else { return 0 }
        ledger.add(chunks)
        return chunks.reduce(0) { $0 + Int64($1.length) }
    }

    /// The bytes of `fetch` that are not sealed yet; readers see them, the disk does not.
    func tail(of fetch: FetchSchedule.FetchID) -> UnsealedTails.Tail? { tails[fetch] }

    /// Drops the bytes of `fetch` that are not sealed yet.
    func dropTail(of fetch: FetchSchedule.FetchID) { tails.set(nil, for: fetch) }

    /// Appends `bytes`, which are `part` of the representation, to the tail of `fetch` and seals what reaches a
    /// boundary.
    ///
    /// `sealed` grows by the bytes of each chunk that is added, so that an error loses none. After an error the same
    /// call may be repeated.
    func append(
        _ bytes: UnsafeRawBufferPointer, part: Range<Int64>, to fetch: FetchSchedule.FetchID, sealed: inout Int64
    ) throws(RepriseError) {
        // A second attempt finds the bytes that the first one appended to the tail.
        var position = part.lowerBound
        if let end = tails[fetch]?.end, part.lowerBound <= end, end <= part.upperBound { position = end }
        while true {
            if let tail = tails[fetch], tail.end != position || tail.end % Chunk.alignment == 0 {
                sealed += try sealTail(of: fetch)
            }
            guard position < part.upperBound else { return }
            var tail = tails[fetch] ?? UnsealedTails.Tail(start: position)
            let boundary = (position / Chunk.alignment + 1) * Chunk.alignment
            let upper = min(boundary, part.upperBound)
            tail.bytes += UnsafeRawBufferPointer(
                rebasing: bytes[Int(position - part.lowerBound)..<Int(upper - part.lowerBound)])
            tails.set(tail, for: fetch)
            position = upper
        }
    }

    /// Seals and writes the tail of `fetch`; returns its number of bytes.
    func sealTail(of fetch: FetchSchedule.FetchID) throws(RepriseError) -> Int64 {
        guard let sealer, let tail = tails[fetch], !tail.bytes.isEmpty else { return 0 }
        let sealed: (ciphertext: Data, chunk: Chunk)
        do { sealed = try sealer.seal(tail.bytes[...], at: tail.start) } catch {
            throw RepriseError(.storageUnavailable, "A chunk cannot be sealed.", cause: error)
        }
        let result: Result<Void, RepriseError> = sealed.ciphertext.withUnsafeBytes { bytes in
            do throws(RepriseError) { return .success(try file.write(bytes, at: tail.start)) } catch {
                return .failure(error)
            }
        }
        try result.get()
        let count = add([sealed.chunk])
        // Readers look here first: the bytes must be found in the ledger before they leave.
        tails.set(nil, for: fetch)
        return count
    }

    // MARK: - Reading

    /// The chunks of `range` whose bytes are not the ones that were written; `isRight` is called with the others.
    func verify(_ range: Range<Int64>, isRight: (Range<Int64>) -> Void) -> [Chunk] {
        var wrong: [Chunk] = []
        for chunk in ledger.chunks(overlapping: range) {
            let bytes = try? file.read(at: chunk.start, count: Int(chunk.length))
            if let bytes, bytes.count == Int(chunk.length),
                bytes.withUnsafeBytes({ XXHash64.checksum(of: $0) }) == chunk.checksum
            {
                isRight(chunk.range)
            } else {
                wrong.append(chunk)
            }
        }
        return wrong
    }

    /// Decrypts the chunks in `range` up to the first that cannot be opened, and says why that one cannot.
    func open(_ range: Range<Int64>) -> (bytes: [UInt8], fault: Fault?) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Int(range.upperBound - range.lowerBound))
        var position = range.lowerBound
        while position < range.upperBound {
            // Look in the tail first: bytes that left it are already in the ledger.
            if let tail = tails.bytes(from: position, to: range.upperBound) {
                bytes += tail
            } else if let chunk = ledger.chunks(overlapping: position..<position + 1).first {
                guard let sealed = try? file.read(at: chunk.start, count: Int(chunk.length)) else {
                    return (bytes, .unreadable(chunk.range))
                }
                guard let plain = sealer?.open(sealed, of: chunk) else { return (bytes, .wrong(chunk)) }
                let lower = Int(position - chunk.start)
                let upper = Int(min(range.upperBound, chunk.range.upperBound) - chunk.start)
                bytes += plain[plain.startIndex + lower..<plain.startIndex + upper]
            } else {
                return (bytes, .unrecorded(position))
            }
            position = range.lowerBound + Int64(bytes.count)
        }
        return (bytes, nil)
    }

    // MARK: - Freeing

    /// The chunks that share a byte with `range`, in order.
    func chunks(overlapping range: Range<Int64>) -> [Chunk] { ledger.chunks(overlapping: range) }

    /// Whether `chunk` is recorded as it is.
    func has(_ chunk: Chunk) -> Bool { chunks(overlapping: chunk.range).contains(chunk) }

    /// Removes chunks that turned out to be wrong; their blocks stay charged.
    func discard(_ wrong: [Chunk]) {
        ledger.discard(wrong)
        for chunk in wrong { noteLost(Int64(chunk.length)) }
    }

    /// Blocks writing in `extents`, which are about to be punched, until ``endPunching(_:)``.
    ///
    /// Bytes written while blocks are being punched would be lost.
    func beginPunching(_ extents: [Range<Int64>]) { for extent in extents { punches.close(extent) } }

    /// Allows writing in `extents` again.
    func endPunching(_ extents: [Range<Int64>]) { for extent in extents { punches.open(extent) } }

    /// Removes every chunk in `extents`, which begin and end at block boundaries of the ledger; returns their number of
    /// bytes.
    func remove(_ extents: [Range<Int64>]) -> Int64 { extents.reduce(0) { $0 + ledger.removeAll(in: $1) } }

    /// Frees the blocks of an extent whose chunks are no longer recorded; returns how many bytes were charged for it,
    /// or `nil` if the system cannot free them.
    func punch(_ extent: Range<Int64>) -> Int64? { file.punch(extent) ? allocation.discharge([extent]) : nil }

    /// Releases what eviction freed: blocks, and bytes of media.
    func noteEvicted(_ freed: Usage) {
        if allocation.noteStored(-freed.stored) { quota.release(freed) }
    }
}
