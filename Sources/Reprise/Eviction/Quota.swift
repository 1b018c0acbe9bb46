import Locks

/// Bytes on disk against the limit: a reservation before each write, not a janitor after it.
///
/// The lock is a leaf.
final class Quota: Sendable {
    let limit: Int64
    private let used: Mutex<Int64>

    init(limit: Int64, used: Int64) {
        self.limit = limit
        self.used = Mutex(used)
    }

    var usedBytes: Int64 { used.withLock { $0 } }

    /// Takes `bytes` if they fit.
    func reserve(_ bytes: Int64) -> Bool {
        used.withLock { used in
            guard bytes <= limit - used else { return false }
            used += bytes
            return true
        }
    }

    /// Gives `bytes` back.
    func release(_ bytes: Int64) { used.withLock { $0 = max(0, $0 - bytes) } }
}
