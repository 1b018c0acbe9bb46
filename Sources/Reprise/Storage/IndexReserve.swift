#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Room for the index on a full disk: a file that is removed when SQLite needs its blocks, and made again later.
///
/// SQLite cannot open an index for writing without room for its log. With the reserve, a cache on a full disk can be
/// opened, so that entries can be removed or evicted, and nothing goes only because it is opened.
struct IndexReserve {
    static let fileName = "index.reserve"
    /// Its size: the memory of SQLite's log takes 32 KiB, and the log of an opening and a removal less than 64 KiB.
    static let bytes = 128 << 10
    /// Least free room in which it is made.
    private static let leastFree: Int64 = 1 << 20

    private let path: String
    private let directory: String
    private let fileSystem: any FileSystem

    init(_ directory: String, fileSystem: any FileSystem) {
        self.directory = directory
        self.fileSystem = fileSystem
        path = "\(directory)/\(Self.fileName)"
    }

    /// Gives its blocks back to the disk; false if there is none.
    func release() -> Bool {
        guard isOwn, let status = try? fileSystem.status(of: path), status.allocated > 0 else { return false }
        return (try? fileSystem.remove(path)) != nil
    }

    /// Makes it unless there is a file of that name, or there is too little room.
    func make() {
        guard (try? fileSystem.status(of: path)) == nil, let free = try? fileSystem.freeBytes(at: directory),
            free >= Self.leastFree,
            let file = try? fileSystem.open(path, create: true)
        else { return }
        let count = Self.content.withUnsafeBytes { pwrite(file.descriptor, $0.baseAddress, $0.count, 0) }
        if count < Self.bytes { try? fileSystem.remove(path) }
    }

    /// Whether the file has the reserve's bytes: another program's stays, whatever its name.
    private var isOwn: Bool {
        guard let file = try? fileSystem.open(readOnly: path), (try? file.status().size) == Int64(Self.bytes) else {
            return false
        }
        var bytes = [UInt8](repeating: 0, count: Self.bytes)
        let count = bytes.withUnsafeMutableBytes { pread(file.descriptor, $0.baseAddress, $0.count, 0) }
        return count == Self.bytes && Self.content.withUnsafeBytes { $0.elementsEqual(bytes) }
    }

    /// Zeros would take no room where the file system compresses.
    private static var content: [UInt64] {
        var state: UInt64 = 1
        return (0..<bytes / 8).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state.littleEndian
        }
    }
}
