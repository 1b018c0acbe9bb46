import Foundation

/// Properties of an index that its bytes show even if SQLite cannot read it.
///
/// Decides whether a file may be replaced or removed, and therefore does not open it with SQLite, which would create
/// files beside it.
struct IndexTraces {
    /// Whether there is a file with at least one byte.
    private(set) var exists = false
    /// Whether the file begins like a SQLite database.
    private(set) var isDatabase = false
    /// Whether the first page is that of an index from before the first release.
    private(set) var isUnreleased = false
    /// Whether the first page is that of an index.
    private var hasFirstPage = false
    /// The format on the first page; `nil` if its two copies differ.
    private(set) var format: Int?
    /// Whether the declaration of a table is found.
    private var hasTables = false
    /// Whether the index says that it is encrypted, and nowhere that it is not.
    private(set) var isSealed = false

    /// Whether the file is the index of a cache, sound or damaged.
    var isIndex: Bool { hasFirstPage || isUnreleased || hasTables }

    /// SQLite's first page: magic, then `user_version` and `application_id`, big-endian.
    private static let header = 100
    private static let magic = Array("SQLite format 3\0".utf8)

    /// Reads the first page of the index at `path`, and the whole file and its log if that page is not an index's.
    ///
    /// With `isThorough`, always reads all of it.
    init(_ path: String, fileSystem: any FileSystem, isThorough: Bool = false) throws(SystemError) {
        let main = try Self.open(path, fileSystem: fileSystem)
        let header =
            try main.map { file throws(SystemError) in
                try Self.bytes(of: file, at: 0, count: Self.header)
            } ?? []
        exists = !header.isEmpty
        isDatabase = header.starts(with: Self.magic)
        let mark = isDatabase && header.count == Self.header ? Array(header[68..<70]) : []
        isUnreleased = mark == IndexDatabase.unreleasedMark
        hasFirstPage = mark == IndexDatabase.mark
        if hasFirstPage {
            let version = header[60..<64].reduce(0) { $0 << 8 | Int($1) }
            format = version == Int(header[70]) << 8 | Int(header[71]) ? version : nil
        }
        guard isThorough || exists && !hasFirstPage && !isUnreleased else { return }
        var saysPlain = false
        // The last changes are only in the log.
        for file in [main, try Self.open(path + "-wal", fileSystem: fileSystem)] {
            guard let file else { continue }
            let found = try Self.find([Self.declaration, Self.sealedRow, Self.plainRow], in: file)
            hasTables = hasTables || found[0]
            isSealed = isSealed || found[1]
            saysPlain = saysPlain || found[2]
        }
        isSealed = isSealed && !saysPlain
    }

    /// A part of the declaration of the table `generation`, the same in every format.
    private static let declaration = Array("keyHash TEXT NOT NULL, record BLOB NOT NULL, salt BLOB NOT NULL".utf8)
    /// The row `sealed` of `state` as SQLite stores it: length of the row's header, a text of six bytes, the number 1
    /// or 0.
    private static let sealedRow = [3, 25, 9] + Array("sealed".utf8)
    private static let plainRow = [3, 25, 8] + Array("sealed".utf8)

    private static func open(_ path: String, fileSystem: any FileSystem) throws(SystemError) -> (any OpenFile)? {
        do throws(SystemError) {
            return try fileSystem.open(readOnly: path)
        } catch {
            guard error.isMissingFile else { throw error }
            return nil
        }
    }

    private static func bytes(of file: any OpenFile, at offset: Int64, count: Int) throws(SystemError) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: count)
        var failure: SystemError?
        var length = 0
        buffer.withUnsafeMutableBytes { buffer in
            do throws(SystemError) {
                while length < count {
                    let read = try file.read(
                        into: UnsafeMutableRawBufferPointer(rebasing: buffer[length...]), at: offset + Int64(length))
                    guard read > 0 else { break }
                    length += read
                }
            } catch { failure = error }
        }
        if let failure { throw failure }
        return Array(buffer.prefix(length))
    }

    /// For each of `patterns`, whether it occurs in `file`.
    private static func find(_ patterns: [[UInt8]], in file: any OpenFile) throws(SystemError) -> [Bool] {
        let step = 1 << 20
        let overlap = (patterns.map(\.count).max() ?? 1) - 1
        var found = patterns.map { _ in false }
        var offset: Int64 = 0
        while true {
            let part = Data(try bytes(of: file, at: offset, count: step + overlap))
            for (number, pattern) in patterns.enumerated() where !found[number] {
                found[number] = part.range(of: Data(pattern)) != nil
            }
            guard part.count > step else { return found }
            offset += Int64(step)
        }
    }
}
