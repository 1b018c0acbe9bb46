import ByteRanges
import Primitives

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
