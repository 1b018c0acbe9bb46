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
    private static let logPages = 512
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

    // MARK: - Writing

    struct Opening {
        let database: IndexDatabase
        let session: Session
        /// Why the cache starts empty although there was an index; `nil` otherwise.
        var reset: String?
    }

    /// The state recorded in an index when it is opened.
    struct Session {
        /// Whether the process that had the cache before did not close it.
        let isUnclean: Bool
        /// The limit that was set last.
        let limit: Int64?
        /// The limit that was recorded before this opening.
        let limitBefore: Int64?
    }

    struct Options {
        /// Removes data files that an earlier index left.
        ///
        /// Called when a new index is created.
        var removeMedia: () -> Void = {}
        /// Called if the disk is too full for a new index; returns true if it freed room.
        var releaseReserve: () -> Bool = { false }
        /// Whether bytes stored under another key are deleted.
        var resetsWhenKeyDiffers = false
        /// Called with the contents that such a reset removes, before it does.
        var willReset: (Holdings) -> Void = { _ in }
        /// The limit to record.
        var limit: Int64?
    }

    /// Opens or creates the index in `directory`.
    ///
    /// An unusable one is set aside.
    ///
    /// Changes nothing if it throws `keyUnavailable`.
    static func open(
        directory: String, vault: Vault?, fileSystem: any FileSystem, options: Options = Options(),
        reached: @escaping @Sendable (CrashPoint) -> Void = { _ in }
    ) throws(RepriseError) -> Opening {
        let path = directory + "/" + fileName
        let onDamage: @Sendable () -> Void = {
            // If it cannot be created, the next damaged query tries again.
            _ = try? fileSystem.open("\(directory)/\(suspicionName)", create: true)
        }
        do {
            let wasResetting = exists(resettingName, in: directory, fileSystem: fileSystem)
            let dropped = try removeForeign(
                directory, vault: vault, fileSystem: fileSystem, options: options, reached: reached)
            let reset = dropped ?? loss(in: directory, fileSystem: fileSystem)
            var opening: Opening
            switch try exists(suspicionName, in: directory, fileSystem: fileSystem)
                ? .unusable("it was found damaged while it was in use")
                : attempt(
                    path, vault: vault, fileSystem: fileSystem, onDamage: onDamage, options: options, reset: reset,
                    reached: reached)
            {
            case .opened(let opened):
                opening = opened
                if wasResetting, dropped == nil, try opened.database.holdsNothing() { opening.reset = brokenReset }
            case .unusable(let reason):
                try checkUnusable(path)
                let outcome = try setAside(
                    directory, fileSystem: fileSystem, isSealed: vault != nil, reached: reached)
                func openNew() throws -> Opening {
                    try open(
                        path, vault: vault, fileSystem: fileSystem, onDamage: onDamage, options: options,
                        reset: "\(reason); \(outcome)", reached: reached)
                }
                do { opening = try openNew() } catch let error as DatabaseError where error.isLackOfRoom {
                    guard options.releaseReserve() else { throw error }
                    opening = try openNew()
                }
            }
            try removeMark(resettingName, in: directory, fileSystem: fileSystem)
            if vault != nil { try removePlainSetAside(directory, fileSystem: fileSystem) }
            return opening
        } catch let error as RepriseError {
            throw error
        } catch {
            throw unopened(path, error: error)
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

    /// The reason for an empty cache after an interrupted reset.
    private static let brokenReset = "it was being emptied for another key, as requested, when that was broken off"

    private func holdsNothing() throws -> Bool { try access { try Self.holdings(in: $0).isEmpty } }

    static func exists(_ name: String, in directory: String, fileSystem: any FileSystem) -> Bool {
        (try? fileSystem.status(of: "\(directory)/\(name)")) != nil
    }

    private static func unopened(_ path: String, error: any Error) -> RepriseError {
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

    private enum Attempt {
        case opened(Opening)
        case unusable(String)
    }

    /// Removes an index that was made with another key, and its media, if that is allowed; returns a description of
    /// what was removed, if anything.
    ///
    /// Checks before the index is opened for writing, because opening it changes the file.
    private static func removeForeign(
        _ directory: String, vault: Vault?, fileSystem: any FileSystem, options: Options,
        reached: (CrashPoint) -> Void
    ) throws -> String? {
        guard let foreign = Self.foreign(in: directory, vault: vault) else { return nil }
        guard options.resetsWhenKeyDiffers || !foreign.isRefused else { throw foreign.difference.error }
        let holdings = foreign.holdings
        if !holdings.isEmpty {
            options.willReset(holdings)
            _ = try fileSystem.open("\(directory)/\(resettingName)", create: true)
            reached(.resetting)
        }
        // The database first, which removes everything at once. Without its log it would be an older state.
        for suffix in fileSuffixes {
            let path = "\(directory)/\(fileName)\(suffix)"
            if (try? fileSystem.status(of: path)) != nil { try fileSystem.remove(path) }
            reached(.resetting)
        }
        options.removeMedia()
        return holdings.isEmpty
            ? nil
            : "the key differs; as requested, \(holdings.storedBytes) bytes in \(holdings.entries) entries and "
                + "\(holdings.holds) pins or downloads were dropped"
    }

    private static func attempt(
        _ path: String, vault: Vault?, fileSystem: any FileSystem, onDamage: @escaping @Sendable () -> Void,
        options: Options, reset: String?, reached: @escaping @Sendable (CrashPoint) -> Void
    ) throws -> Attempt {
        do {
            return .opened(
                try open(
                    path, vault: vault, fileSystem: fileSystem, onDamage: onDamage, options: options, reset: reset,
                    reached: reached))
        } catch let error as DatabaseError where error.isDamage || error.resultCode == .SQLITE_ERROR {
            return .unusable(error.message ?? "it is damaged")
        } catch let unusable as Unusable {
            return .unusable(unusable.reason)
        }
    }

    /// Throws if the unusable index has a newer format.
    private static func checkUnusable(_ path: String) throws(RepriseError) {
        do {
            _ = try reading(path) { try state(of: $0) }
        } catch let error as RepriseError {
            throw error
        } catch {
            // It is damaged, which is known.
        }
    }

    /// An index that is not ours, or damaged.
    struct Unusable: Error { let reason: String }

    private static func open(
        _ path: String, vault: Vault?, fileSystem: any FileSystem, onDamage: @escaping @Sendable () -> Void,
        options: Options, reset: String?, reached: @escaping @Sendable (CrashPoint) -> Void
    ) throws -> Opening {
        makeFile(path, fileSystem: fileSystem)
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { database in
            try database.execute(
                sql: """
                    PRAGMA page_size = \(pageSize); PRAGMA synchronous = NORMAL; PRAGMA cell_size_check = ON;
                    PRAGMA checkpoint_fullfsync = OFF;
                    PRAGMA wal_autocheckpoint = \(logPages); PRAGMA journal_size_limit = \(logBytes);
                    PRAGMA secure_delete = \(vault == nil ? "OFF" : "ON")
                    """)
            try mark(database)
        }
        let pool = try DatabasePool(path: path, configuration: configuration)
        do {
            try prepare(pool, vault: vault, options: options, reached: reached)
            let session = try pool.write { try begin($0, options: options) }
            return Opening(
                database: IndexDatabase(.pool(pool), vault: vault, onDamage: onDamage), session: session, reset: reset)
        } catch {
            try? pool.close()
            throw error
        }
    }

    /// Creates the file of a new index, which SQLite would make readable for other users.
    ///
    /// The log gets the same mode.
    private static func makeFile(_ path: String, fileSystem: any FileSystem) {
        do throws(SystemError) { _ = try fileSystem.status(of: path) } catch {
            guard error.isMissingFile else { return }
            // A log that is left belongs to an index that was removed.
            for suffix in fileSuffixes.dropFirst() { try? fileSystem.remove(path + suffix) }
            // If this fails, SQLite reports why.
            _ = try? fileSystem.open(path, create: true)
        }
    }

    /// Brings the index to the current format, if its key is that of `vault`.
    private static func prepare(
        _ pool: DatabasePool, vault: Vault?, options: Options, reached: @escaping @Sendable (CrashPoint) -> Void
    ) throws {
        let format = try pool.read { database -> State in
            let format = try state(of: database)
            // Checked again, because the index may not have been readable before.
            if format != .empty, let difference = try keyDifference(database, vault: vault) { throw difference.error }
            return format
        }
        // Data files without an index are useless, and may be plain.
        if format == .empty { options.removeMedia() }
        if format != .current { try migrate(pool, for: vault, reached: reached) }
    }

    // MARK: - Sessions

    /// Marks the cache as open.
    private static func begin(_ database: Database, options: Options) throws -> Session {
        let wasClean = try Int.fetchOne(database, sql: "SELECT value FROM state WHERE name = 'clean'") == 1
        try database.execute(sql: "INSERT OR REPLACE INTO state VALUES ('clean', 0)")
        if !wasClean, try isShort(database) { try EntryStore.recount(in: database) }
        let before = try recordedLimit(in: database)
        if let limit = options.limit { try record(limit, in: database) }
        return Session(isUnclean: !wasClean, limit: try recordedLimit(in: database), limitBefore: before)
    }

    /// Whether all rows can be read before the first hit.
    ///
    /// A longer index is checked later (``Store/reconcile(isLive:)``).
    private static func isShort(_ database: Database) throws -> Bool {
        try Int.fetchOne(database, sql: "PRAGMA page_count") ?? .max <= mostPagesToSum
    }

    /// A few thousand entries, which take some milliseconds.
    private static let mostPagesToSum = 8192

    private static func record(_ limit: Int64?, in database: Database) throws {
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

    private static func recordedLimit(in database: Database) throws -> Int64? {
        let row = try Row.fetchOne(database, sql: "SELECT value FROM state WHERE name = 'limit'")
        let limit: Int64? = row?.value("value")
        return limit.flatMap { $0 > 0 ? $0 : nil }
    }

    /// Marks the cache as closed.
    func endSession() async throws(RepriseError) {
        try await write { try $0.execute(sql: "INSERT OR REPLACE INTO state VALUES ('clean', 1)") }
    }
}
