import Primitives

/// A limit for bytes that several owners hold in memory.
///
/// The lock is a leaf.
final class MemoryBudget: Sendable {
    /// Maximum number of bytes.
    let limit: Int
    private let held = Mutex(0)

    init(limit: Int) { self.limit = limit }

    /// Number of bytes held.
    var byteCount: Int { held.withLock { $0 } }

    /// Claims `count` bytes; false, with nothing claimed, if they are too many.
    func claim(_ count: Int) -> Bool {
        held.withLock { held in
            guard held + count <= limit else { return false }
            held += count
            return true
        }
    }

    /// Claims `count` bytes more for something that holds `held`; false, with nothing claimed, if it would then hold
    /// more than is left for all others.
    ///
    /// Large claims are refused while there is still room for small ones.
    func claim(_ count: Int, beside held: Int) -> Bool {
        self.held.withLock { all in
            guard held + count <= limit - all - count else { return false }
            all += count
            return true
        }
    }

    /// Gives back bytes that were claimed.
    func release(_ count: Int) { held.withLock { $0 -= count } }
}
