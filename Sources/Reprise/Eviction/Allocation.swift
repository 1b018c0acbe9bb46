import ByteRanges
import Locks

/// What one generation occupies: which blocks of its file hold something, so that each is charged once, and how many bytes
/// of media.
///
/// The lock is a leaf.
final class Allocation: Sendable {
    /// The file system's unit, in bytes: 4 KiB on ext4, XFS, Btrfs, tmpfs and APFS.
    static let blockSize: Int64 = 4096

    private struct State {
        var blocks = ByteRangeSet()
        var stored: Int64
        var isClosed = false
    }

    private let state: Mutex<State>

    /// The blocks that hold `stored`.
    init(_ stored: ByteRangeSet) {
        var state = State(stored: stored.byteCount)
        for span in stored { state.blocks.insert(Self.outward(span)) }
        self.state = Mutex(state)
    }

    var usage: Usage { state.withLock { Usage(allocated: $0.blocks.byteCount, stored: $0.stored) } }

    /// Charges the blocks of `range` that are not charged yet; returns them, none once closed.
    func claim(_ range: Range<Int64>) -> [Range<Int64>] {
        state.withLock { state in
            guard !state.isClosed else { return [] }
            let outward = Self.outward(range)
            let missing = state.blocks.holes(in: outward)
            state.blocks.insert(outward)
            return missing
        }
    }

    /// Gives up blocks; returns how many bytes of them were charged.
    @discardableResult
    func discharge(_ ranges: [Range<Int64>]) -> Int64 {
        state.withLock { state in
            guard !state.isClosed else { return 0 }
            let before = state.blocks.byteCount
            for range in ranges { state.blocks.remove(range) }
            return before - state.blocks.byteCount
        }
    }

    /// So many bytes of media more, or less; false once closed.
    func noteStored(_ bytes: Int64) -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            state.stored += bytes
            return true
        }
    }

    /// The generation is removed: what it occupied is given back by whoever removes it, once.
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
