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
