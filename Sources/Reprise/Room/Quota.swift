import ByteRanges
import Primitives

/// Disk usage against the limit: room is reserved before each write, not reclaimed after it.
///
/// Counts the file system's blocks. The lock is a leaf.
final class Quota: Sendable {
    private let floor: Int64
    private let freeBytes: @Sendable () -> Int64?
    private let capacity: @Sendable () -> Int64?

    private struct State {
        var limit: Int64
        var usage: Usage
        var indexBytes: Int64 = 0
        /// The part of the index that counts against the limit.
        var chargedIndexBytes: Int64 { max(0, indexBytes - Quota.uncharged) }
        /// Bytes that may be reserved before the disk's free space is checked again.
        var allowance: Int64 = 0
    }

    private let state: Mutex<State>

    /// Part of the index that is not charged: with it, the directory exceeds the limit by less than 1 MiB, and small
    /// limits still leave room for media.
    static let uncharged: Int64 = 768 << 10
    /// Bytes of the disk that media leave to the index: its log at its maximum, and as much again.
    ///
    /// Without them bytes could be stored that cannot be recorded, and would be lost.
    static let indexRoom: Int64 = 2 * IndexDatabase.logBytes
    /// How often the disk's free space is checked, in reserved bytes.
    private static let probeInterval: Int64 = 1 << 20

    /// Creates a quota that leaves `floor` bytes of the disk free, and at least ``indexRoom``, as reported by
    /// `freeBytes`; where that is unknown, all may be used.
    ///
    /// `capacity` reports the size of the disk.
    init(
        limit: Int64, used: Usage, floor: Int64 = 0, capacity: @escaping @Sendable () -> Int64? = { nil },
        freeBytes: @escaping @Sendable () -> Int64? = { nil }
    ) {
        self.floor = max(floor, Self.indexRoom)
        (self.freeBytes, self.capacity) = (freeBytes, capacity)
        state = Mutex(State(limit: limit, usage: used))
    }

    /// Most bytes that media and index may occupy.
    var limit: Int64 { state.withLock { $0.limit } }

    /// Takes another limit; what is above it must be evicted by the caller.
    func setLimit(_ limit: Int64) { state.withLock { $0.limit = limit } }

    var usage: Usage { state.withLock { $0.usage } }

    /// Bytes that are free on the disk; `nil` if that is unknown.
    var free: Int64? { freeBytes() }

    /// Reserves `bytes` if they fit.
    func reserve(_ bytes: Int64) -> Bool {
        let needsProbe = state.withLock { $0.allowance < bytes }
        let free = needsProbe ? freeBytes().map { $0 - floor } ?? .max : nil
        return state.withLock { state in
            if let free { state.allowance = min(free, max(Self.probeInterval, bytes)) }
            let room = state.limit - state.usage.allocated - state.chargedIndexBytes
            guard bytes <= room, bytes <= state.allowance else { return false }
            state.usage.allocated += bytes
            state.allowance -= bytes
            return true
        }
    }

    /// Bytes to evict before `bytes` fit under the limit and on the disk.
    ///
    /// The index counts as empty if `countsIndex` is false.
    func shortage(_ bytes: Int64, countsIndex: Bool = true) -> Int64 {
        let onDisk = diskShortage(bytes)?.missing ?? 0
        return state.withLock { state in
            let index = countsIndex ? state.chargedIndexBytes : 0
            return max(onDisk, state.usage.allocated + index + bytes - state.limit)
        }
    }

    /// How much room the disk lacks for `bytes`, if any, because files other than this cache's fill it: evicting for
    /// them would be in vain.
    func diskShortage(_ bytes: Int64) -> (missing: Int64, free: Int64, floor: Int64)? {
        guard let free = freeBytes(), free - floor < bytes else { return nil }
        return (bytes - (free - floor), free, floor)
    }

    /// The size of the disk if it is too small for `bytes`, even with nothing else on it.
    func smallDisk(for bytes: Int64) -> (capacity: Int64, floor: Int64)? {
        guard let capacity = capacity(), capacity - floor < bytes else { return nil }
        return (capacity, floor)
    }

    /// Releases room that was reserved in vain, or whose media are counted separately.
    func release(allocated bytes: Int64) { release(Usage(allocated: bytes)) }

    /// Releases what something occupied.
    func release(_ usage: Usage) {
        state.withLock { state in
            state.usage.allocated = max(0, state.usage.allocated - usage.allocated)
            state.usage.stored = max(0, state.usage.stored - usage.stored)
            state.allowance = 0
        }
    }

    /// Counts `bytes` of media written into reserved room.
    func noteStored(_ bytes: Int64) { state.withLock { $0.usage.stored += bytes } }

    /// Corrects a usage that was wrongly counted as `counted`.
    func correct(from counted: Usage, to usage: Usage) {
        state.withLock { state in
            state.usage.allocated = max(0, state.usage.allocated + usage.allocated - counted.allocated)
            state.usage.stored = max(0, state.usage.stored + usage.stored - counted.stored)
        }
    }

    /// Updates the size of the index.
    func setIndexBytes(_ bytes: Int64) { state.withLock { $0.indexBytes = bytes } }

    var indexBytes: Int64 { state.withLock { $0.indexBytes } }
}

/// Disk usage: bytes in the file system's blocks, and bytes of media among them.
struct Usage: Sendable, Equatable {
    var allocated: Int64 = 0
    var stored: Int64 = 0

    /// Upper bound of a size (a petabyte); a damaged number must not overflow a sum.
    static let most: Int64 = 1 << 50

    static func + (one: Usage, other: Usage) -> Usage {
        Usage(allocated: one.allocated + other.allocated, stored: one.stored + other.stored)
    }
}

/// Disk usage of one generation: which blocks of its file hold something, so that each is charged once, and how many
/// bytes of media.
///
/// The lock is a leaf.
final class Allocation: Sendable {
    /// The file system's block size, in bytes: 4 KiB on ext4, XFS, Btrfs, tmpfs and APFS.
    static let blockSize: Int64 = 4096

    private struct State {
        var blocks = ByteRangeSet()
        var stored: Int64
        var isClosed = false
    }

    private let state: Mutex<State>

    /// Charges the blocks that contain `stored`.
    init(_ stored: ByteRangeSet) {
        var state = State(stored: stored.byteCount)
        for span in stored { state.blocks.insert(Self.outward(span)) }
        self.state = Mutex(state)
    }

    var usage: Usage { state.withLock { Usage(allocated: $0.blocks.byteCount, stored: $0.stored) } }

    /// Charges the blocks of `range` that are not charged yet, and returns them; returns none once closed.
    func claim(_ range: Range<Int64>) -> [Range<Int64>] {
        state.withLock { state in
            guard !state.isClosed else { return [] }
            let outward = Self.outward(range)
            let missing = state.blocks.holes(in: outward)
            state.blocks.insert(outward)
            return missing
        }
    }

    /// Discharges blocks and returns how many of their bytes were charged.
    @discardableResult
    func discharge(_ ranges: [Range<Int64>]) -> Int64 {
        state.withLock { state in
            guard !state.isClosed else { return 0 }
            let before = state.blocks.byteCount
            for range in ranges { state.blocks.remove(range) }
            return before - state.blocks.byteCount
        }
    }

    /// Adds to the number of media bytes, or subtracts from it; false once closed.
    func noteStored(_ bytes: Int64) -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            state.stored += bytes
            return true
        }
    }

    /// Closes the allocation of a removed generation; the first caller gets the usage to release.
    func close() -> Usage {
        state.withLock { state in
            guard !state.isClosed else { return Usage() }
            state.isClosed = true
            return Usage(allocated: state.blocks.byteCount, stored: state.stored)
        }
    }

    private static func outward(_ range: Range<Int64>) -> Range<Int64> {
        range.lowerBound / blockSize * blockSize..<(range.upperBound + blockSize - 1) / blockSize * blockSize
    }
}
