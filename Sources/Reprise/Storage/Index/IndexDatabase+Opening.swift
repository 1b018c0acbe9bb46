import Foundation
import GRDB

extension IndexDatabase {
    static let fileName = "catalogue.sqlite"
    /// The suffixes of the database and of SQLite's own files beside it.
    static let fileSuffixes = ["", "-wal", "-shm"]
    /// Marks an index that was found damaged while in use; the next opening sets it aside.
    static let suspicionName = "index.suspect"
    /// Marks a cache that is being emptied for another key, so that the next opening reports an interrupted reset.
    static let resettingName = "index.resetting"
    /// Page size in bytes, a quarter of SQLite's default.
    ///
    /// A new entry changes a page of each tree, two of them at random positions. Each page is written twice, to the log
    /// and to the file.
    static let pageSize = 1024
    /// Pages after which the log is merged: half a megabyte, so that the index of a small cache stays small.
    static let logPages = 512
    /// Maximum size of the log, apart from one transaction.
    static let logBytes = Int64(logPages * pageSize)

    // MARK: - Reading

    /// Opens the index in `directory` for reading, even while another process writes it; `nil` if there is none.
    static func open(readOnly directory: String, vault: Vault?) throws(RepriseError) -> IndexDatabase? {
        let path = directory + "/" + fileName
        try DirectoryClaim.check(directory, fileSystem: SystemFileSystem())
        guard !isUnreleased(directory, fileSystem: SystemFileSystem()) else {
            throw RepriseError(
                .storageUnavailable,
                "The cache in \(directory) was made by a version of Reprise that was never released, and cannot be read. "
                    + "The next command that writes moves it to a folder of its own, and the cache starts empty.")
        }
        do throws(SystemError) {
            _ = try SystemFileSystem().status(of: path)
        } catch {
            guard !error.isMissingFile else { return nil }
            throw RepriseError(.storageUnavailable, "The cache in \(directory) cannot be read.", cause: error)
        }
        do {
            let (queue, (format, other)) = try reading(path) { database -> (State, Foreign?) in
                let format = try state(of: database)
                return (format, format == .empty ? nil : try foreign(database, vault: vault))
            }
            // A process was killed before it created the tables.
            if format == .empty { return nil }
            if let other, other.isRefused { throw other.difference.error }
            return IndexDatabase(
                .queue(format == .older ? try migratedCopy(of: queue, vault: vault) : queue), vault: vault)
        } catch let error as RepriseError {
            throw error
        } catch {
            throw unopened(path, error: error)
        }
    }

    /// A migrated copy of an older index in memory, because the file must not change.
    private static func migratedCopy(of queue: DatabaseQueue, vault: Vault?) throws -> DatabaseQueue {
        let copy = try DatabaseQueue()
        try queue.backup(to: copy)
        try migrate(copy, for: vault)
        return copy
    }

    /// Opens the file at `path` for reading and runs `body` on it.
    ///
    /// SQLite needs to create files beside it. If it cannot, because the medium is read-only or the disk is full, the
    /// file is opened as immutable: nothing else can write there either.
    static func reading<T>(_ path: String, _ body: (Database) throws -> T) throws -> (queue: DatabaseQueue, result: T) {
        func open(_ path: String) throws -> (DatabaseQueue, T) {
            var configuration = Configuration()
            configuration.readonly = true
            configuration.busyMode = .timeout(5)
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            return (queue, try queue.read(body))
        }
        do {
            return try open(path)
        } catch let error as DatabaseError where error.forbidsWriting || error.isLackOfRoom {
            return try open(URL(fileURLWithPath: path).absoluteString + "?immutable=1")
        }
    }

    /// The reason why the cache starts empty if there are data files without an index; `nil` otherwise.
    ///
    /// An interrupted reset lost nothing, because it was to remove the media.
    static func loss(in directory: String, fileSystem: any FileSystem) -> String? {
        guard !exists(resettingName, in: directory, fileSystem: fileSystem) else { return nil }
        let size = (try? fileSystem.status(of: directory + "/" + fileName))?.size
        guard size ?? 0 == 0, DirectoryClaim.hasDataFiles(directory, fileSystem: fileSystem) else { return nil }
        return size == nil ? "it is gone, and the media without it are useless" : "it is empty"
    }

    static func exists(_ name: String, in directory: String, fileSystem: any FileSystem) -> Bool {
        (try? fileSystem.status(of: "\(directory)/\(name)")) != nil
    }

    static func unopened(_ path: String, error: any Error) -> RepriseError {
        let damage = (error as? DatabaseError).flatMap { $0.isDamage ? $0.message ?? "it is damaged" : nil }
        if let reason = (error as? Unusable)?.reason ?? damage {
            return RepriseError(
                .storageUnavailable,
                "\(path) cannot be used: \(reason). The next command that writes sets it aside, and the cache starts empty."
            )
        }
        return RepriseError(
            .storageUnavailable,
            "The index \(path) cannot be opened. Nothing was changed: see whether the disk is full, and who may read it.",
            cause: error)
    }

    /// An index that is not ours, or damaged.
    struct Unusable: Error { let reason: String }

    // MARK: - State

    static func record(_ limit: Int64?, in database: Database) throws {
        if let limit {
            try database.execute(sql: "INSERT OR REPLACE INTO state VALUES ('limit', ?)", arguments: [limit])
        } else {
            try database.execute(sql: "DELETE FROM state WHERE name = 'limit'")
        }
    }

    /// Records the limit that was chosen last; `nil` for none.
    func record(limit: Int64?) async throws(RepriseError) { try await write { try Self.record(limit, in: $0) } }

    /// The limit that was chosen last; `nil` if none was.
    func recordedLimit() throws(RepriseError) -> Int64? { try read { try Self.recordedLimit(in: $0) } }

    static func recordedLimit(in database: Database) throws -> Int64? {
        let row = try Row.fetchOne(database, sql: "SELECT value FROM state WHERE name = 'limit'")
        let limit: Int64? = row?.value("value")
        return limit.flatMap { $0 > 0 ? $0 : nil }
    }

    /// Marks the cache as closed.
    func endSession() async throws(RepriseError) {
        try await write { try $0.execute(sql: "INSERT OR REPLACE INTO state VALUES ('clean', 1)") }
    }
}
