import Primitives

/// The ranges of a data file that are being read; their blocks must not be freed.
///
/// Leases are taken under the lock of their generation, where eviction checks them too, and end when the last reference
/// is released. The lock here is a leaf.
final class LeaseTable: Sendable {
    private struct State {
        var next: UInt64 = 0
        var ranges: [UInt64: Range<Int64>] = [:]
    }

    private let state = Mutex(State())

    /// Leases `range` until the returned object is released.
    func take(_ range: Range<Int64>) -> Lease {
        let number = state.withLock { state in
            state.next += 1
            state.ranges[state.next] = range
            return state.next
        }
        return Lease(table: self, number: number)
    }

    fileprivate func end(_ number: UInt64) { state.withLock { _ = $0.ranges.removeValue(forKey: number) } }

    var isEmpty: Bool { state.withLock { $0.ranges.isEmpty } }

    /// Every leased range.
    var ranges: [Range<Int64>] { state.withLock { Array($0.ranges.values) } }
}

/// Protects a range of a data file while it exists.
final class Lease: Sendable {
    private let table: LeaseTable
    private let number: UInt64

    fileprivate init(table: LeaseTable, number: UInt64) {
        self.table = table
        self.number = number
    }

    deinit { table.end(number) }
}
