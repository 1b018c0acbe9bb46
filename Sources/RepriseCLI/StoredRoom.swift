/// How full a cache is, such as `13.0 MB of 2.00 GB stored, 31.2 GB free on the disk`.
struct StoredRoom: CustomStringConvertible {
    let storedBytes, limit: Int64
    /// Of the disk; `nil` if that is not known.
    let freeBytes: Int64?

    var description: String { "\(ByteCount(storedBytes)) of \(ByteCount(limit)) stored\(free)" }

    private var free: String { freeBytes.map { ", \(ByteCount($0)) free on the disk" } ?? "" }
}
