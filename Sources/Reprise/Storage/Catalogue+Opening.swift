import Foundation
import GRDB

extension Catalogue {
    static let fileName = "catalogue.sqlite"
    /// SQLite's own files beside the database.
    static let fileSuffixes = ["", "-wal", "-shm"]
    /// Marks an index that was found damaged while in use; the next opening sets it aside.
    static let suspicionName = "catalogue.suspect"
    /// "RP" and the format version.
    private static let applicationID = 0x5250_0000 + formatVersion
    /// Page size in bytes, a quarter of SQLite's default.
    ///
    /// A new entry touches a page of each tree, two of them at random positions, and each page is written twice: to the
    /// log and to the file.
    private static let pageSize = 1024
    /// Pages of the log after which it is merged: half a megabyte, so that the index stays small beside a small cache.
    private static let logPages = 512
    /// Maximum size of the log, apart from one transaction.
    static let logBytes = Int64(logPages * pageSize)

    // MARK: - Reading

    /// Opens the index in `directory` for reading only, even while another process writes it; `nil` if there is none.
    static func open(readOnly directory: String, vault: Vault?) throws(RepriseError) -> Catalogue? {
        let path = directory + "/" + fileName
        do throws(SystemError) {
            _ = try SystemFileSystem().status(of: path)
        } catch {
            guard !error.isMissingFile else { return nil }
            throw RepriseError(.storageUnavailable, "The cache in \(directory) cannot be read.", cause: error)
        }
        do {
            let (queue, other) = try reading(path) { database in
                guard try state(of: database) == .current else { throw damaged }
                return try foreign(database, vault)
            }
            if let other, other.isRefused { throw other.difference.error }
            return Catalogue(.queue(queue), vault: vault) {}
        } catch let error as RepriseError {
            throw error
        } catch {
            throw RepriseError(.storageUnavailable, "Cannot open the index in \(directory).", cause: error)
        }
    }

    /// Opens the file at `path` for reading and runs `body` on it.
    ///
    /// SQLite needs to create files beside it. If it cannot, as on a read-only medium, the file is opened as immutable,
    /// because nothing else can write there either.
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
        } catch let error as DatabaseError where error.forbidsWriting {
            return try open(URL(fileURLWithPath: path).absoluteString + "?immutable=1")
        }
    }

    // MARK: - Writing

    /// The result of an opening.
    struct Opening {
        let catalogue: Catalogue
        let session: Session
        /// Why the cache starts empty although there was an index; `nil` otherwise.
        let reset: String?
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

    /// What an opening may do, and what it reports.
    struct Options {
        /// Called when a new index is created beside data files that must not remain under another key; removes them.
        var removeMedia: () -> Void = {}
        /// Whether bytes stored under another key are deleted.
        var resetsWhenKeyDiffers = false
        /// Called with what such a reset drops, before anything of it goes.
        var willReset: (Holdings) -> Void = { _ in }
        /// The limit to record.
        var limit: Int64?
    }

    /// Opens or creates the index in `directory`; an unusable one is set aside.
    ///
    /// Changes nothing if it throws `keyUnavailable`.
    static func open(
        directory: String, vault: Vault?, fileSystem: any FileSystem, options: Options = Options(),
        reached: (CrashPoint) -> Void = { _ in }
    ) throws(RepriseError) -> Opening {
        let path = directory + "/" + fileName
        let suspicion = directory + "/" + suspicionName
        let onDamage: @Sendable () -> Void = {
            // Only its existence matters; if it cannot be created, the next damaged query tries again.
            _ = try? fileSystem.open(suspicion, create: true)
        }
        do {
            let opening: Opening
            let reset = try removeForeign(directory, vault, fileSystem, options, reached)
            let isSuspect = (try? fileSystem.status(of: suspicion)) != nil
            switch try isSuspect
                ? .unusable("it was found damaged while it was in use")
                : attempt(path, vault, fileSystem, onDamage, options, reset: reset)
            {
            case .opened(let opened): opening = opened
            case .unusable(let reason):
                try checkUnusable(path)
                try setAside(directory, fileSystem, reached)
                opening = try open(path, vault, fileSystem, onDamage, options, reset: reason)
            }
            // It may be plain; like plain media, it must not remain in an encrypted cache.
            if vault != nil { removeSetAside(directory, fileSystem) }
            return opening
        } catch let error as RepriseError {
            throw error
        } catch {
            throw RepriseError(.storageUnavailable, "Cannot open the index in \(directory).", cause: error)
        }
    }

    private enum Attempt {
        case opened(Opening)
        case unusable(String)
    }

    /// Removes an index that was made with another key, if that is allowed, with its media; returns what was removed,
    /// if anything.
    ///
    /// Checks before anything is opened for writing, because opening alone changes the file.
    private static func removeForeign(
        _ directory: String, _ vault: Vault?, _ fileSystem: any FileSystem, _ options: Options,
        _ reached: (CrashPoint) -> Void
    ) throws -> String? {
        guard let foreign = Self.foreign(in: directory, vault) else { return nil }
        guard options.resetsWhenKeyDiffers || !foreign.isRefused else { throw foreign.difference.error }
        let holdings = foreign.holdings
        if !holdings.isEmpty { options.willReset(holdings) }
        // The database first: with it everything goes at once. Without its log it would lose what was recorded last.
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
        _ path: String, _ vault: Vault?, _ fileSystem: any FileSystem, _ onDamage: @escaping @Sendable () -> Void,
        _ options: Options, reset: String?
    ) throws -> Attempt {
        do {
            return .opened(try open(path, vault, fileSystem, onDamage, options, reset: reset))
        } catch let error as DatabaseError where error.isDamage || error.resultCode == .SQLITE_ERROR {
            return .unusable(error.message ?? "it is damaged")
        } catch let unusable as Unusable {
            return .unusable(unusable.reason)
        }
    }

    /// Throws if only a newer version may replace the unusable index.
    private static func checkUnusable(_ path: String) throws(RepriseError) {
        do {
            _ = try reading(path) { try state(of: $0) }
        } catch let error as RepriseError {
            throw error
        } catch {
            // Damaged, as found before.
        }
    }

    /// An index that is not ours, too old, or damaged.
    struct Unusable: Error { let reason: String }

    private static let damaged = RepriseError(
        .storageUnavailable, "The index is damaged or of another format. It is set aside when the cache is opened.")

    /// Moves the index aside for inspection, replacing the previous one.
    private static func setAside(
        _ directory: String, _ fileSystem: any FileSystem, _ reached: (CrashPoint) -> Void
    ) throws {
        for suffix in fileSuffixes.reversed() {
            let destination = "\(directory)/catalogue.damaged\(suffix)"
            // A log left from an earlier index must not be mistaken for this one's.
            try? fileSystem.remove(destination)
            let path = "\(directory)/\(fileName)\(suffix)"
            if (try? fileSystem.status(of: path)) != nil { try fileSystem.rename(path, to: destination) }
            reached(.settingAside)
        }
        try? fileSystem.remove(directory + "/" + suspicionName)
    }

    /// Removes the index that ``setAside(_:_:_:)`` kept, because it may contain URLs in plain.
    static func removeSetAside(_ directory: String, _ fileSystem: any FileSystem) {
        for suffix in fileSuffixes { try? fileSystem.remove("\(directory)/catalogue.damaged\(suffix)") }
    }

    private static func open(
        _ path: String, _ vault: Vault?, _ fileSystem: any FileSystem, _ onDamage: @escaping @Sendable () -> Void,
        _ options: Options, reset: String?
    ) throws -> Opening {
        makeFile(path, fileSystem)
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
        }
        let pool = try DatabasePool(path: path, configuration: configuration)
        do {
            let session = try pool.write { try prepare($0, vault, options) }
            return Opening(
                catalogue: Catalogue(.pool(pool), vault: vault, onDamage: onDamage), session: session, reset: reset)
        } catch {
            try? pool.close()
            throw error
        }
    }

    /// Makes the file of a new index: SQLite would let other users read it, and its log takes the file's mode.
    private static func makeFile(_ path: String, _ fileSystem: any FileSystem) {
        do throws(SystemError) { _ = try fileSystem.status(of: path) } catch {
            guard error.isMissingFile else { return }
            // What is left of the log of an index that went belongs to no other one.
            for suffix in fileSuffixes.dropFirst() { try? fileSystem.remove(path + suffix) }
            // Where it cannot be made, SQLite says why.
            _ = try? fileSystem.open(path, create: true)
        }
    }

    private static func prepare(
        _ database: Database, _ vault: Vault?, _ options: Options
    ) throws -> Session {
        if try state(of: database) == .empty {
            // Data files without an index may be plain and are useless.
            if vault != nil { options.removeMedia() }
            try create(database, vault)
        }
        // The index could not be read before.
        if let difference = try keyDifference(database, vault) { throw difference.error }
        return try begin(database, options)
    }

    // MARK: - Formats

    private enum State { case empty, current }

    /// The state of the file; throws when it is newer, older, foreign or incomplete.
    private static func state(of database: Database) throws -> State {
        let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        let application = try Int.fetchOne(database, sql: "PRAGMA application_id") ?? 0
        let isOurs = application >> 16 == applicationID >> 16 && application & 0xFFFF == version
        guard !isOurs || version <= formatVersion else {
            throw RepriseError(
                .storageUnavailable,
                "The cache was written by a newer Reprise (format \(version), this one reads \(formatVersion)). "
                    + "Update Reprise, or choose another directory.")
        }
        if version == 0, application == 0,
            try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM sqlite_master") == 0
        {
            return .empty
        }
        guard isOurs, version == formatVersion else {
            throw Unusable(reason: version == 1 ? "its format is too old" : "it is not a cache's index, or damaged")
        }
        for statement in probes { _ = try Row.fetchOne(database, sql: statement) }
        return .current
    }

    /// Queries that fail unless every table and column exists; no row is read.
    private static let probes = [
        "SELECT keyHash, generation, lastUsed, held FROM entry LIMIT 0",
        "SELECT id, keyHash, record, salt, allocated, stored FROM generation LIMIT 0",
        "SELECT generation, block, chunks FROM chunk LIMIT 0", "SELECT keyHash, kind, until, target FROM hold LIMIT 0",
        "SELECT keyHash, signpost, record FROM selection LIMIT 0", "SELECT name, value FROM total LIMIT 0",
        "SELECT allocated, stored FROM usage LIMIT 0",
        "SELECT name, value FROM state LIMIT 0",
    ]

    private static func create(_ database: Database, _ vault: Vault?) throws {
        try database.execute(
            sql: """
                CREATE TABLE entry (
                    keyHash TEXT PRIMARY KEY, generation INTEGER NOT NULL, lastUsed REAL NOT NULL,
                    held INTEGER NOT NULL) WITHOUT ROWID;
                CREATE INDEX entryByUse ON entry (held, lastUsed);
                CREATE TABLE generation (
                    id INTEGER PRIMARY KEY, keyHash TEXT NOT NULL, record BLOB NOT NULL, salt BLOB NOT NULL,
                    allocated INTEGER NOT NULL, stored INTEGER NOT NULL);
                CREATE INDEX generationByKey ON generation (keyHash);
                CREATE TABLE chunk (
                    generation INTEGER NOT NULL, block INTEGER NOT NULL, chunks BLOB NOT NULL,
                    PRIMARY KEY (generation, block)) WITHOUT ROWID;
                CREATE TABLE selection (
                    keyHash TEXT PRIMARY KEY, signpost TEXT NOT NULL, record BLOB NOT NULL) WITHOUT ROWID;
                CREATE INDEX selectionBySignpost ON selection (signpost);
                CREATE TABLE hold (
                    keyHash TEXT PRIMARY KEY, kind INTEGER NOT NULL, until REAL, target BLOB NOT NULL) WITHOUT ROWID;
                CREATE TABLE total (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
                CREATE TABLE state (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
                CREATE TABLE usage (allocated INTEGER NOT NULL, stored INTEGER NOT NULL);
                INSERT INTO usage VALUES (0, 0);
                CREATE TRIGGER generationAdded AFTER INSERT ON generation BEGIN
                    UPDATE usage SET allocated = allocated + new.allocated, stored = stored + new.stored; END;
                CREATE TRIGGER generationChanged AFTER UPDATE OF allocated, stored ON generation BEGIN
                    UPDATE usage SET allocated = allocated + new.allocated - old.allocated,
                                     stored = stored + new.stored - old.stored; END;
                CREATE TRIGGER generationRemoved AFTER DELETE ON generation BEGIN
                    UPDATE usage SET allocated = allocated - old.allocated, stored = stored - old.stored; END;
                INSERT INTO state VALUES ('clean', 1);
                INSERT INTO state VALUES ('sealed', \(vault == nil ? 0 : 1));
                PRAGMA application_id = \(applicationID);
                PRAGMA user_version = \(formatVersion);
                """)
        if let vault {
            try database.execute(sql: "INSERT INTO state VALUES ('check', ?)", arguments: [vault.check])
        }
    }

    // MARK: - Sessions

    /// Marks the cache as open; returns its recorded state.
    private static func begin(_ database: Database, _ options: Options) throws -> Session {
        let wasClean = try Int.fetchOne(database, sql: "SELECT value FROM state WHERE name = 'clean'") == 1
        try database.execute(sql: "INSERT OR REPLACE INTO state VALUES ('clean', 0)")
        if !wasClean { try recount(in: database) }
        let before = try recordedLimit(in: database)
        if let limit = options.limit { try record(limit, in: database) }
        return Session(isUnclean: !wasClean, limit: try recordedLimit(in: database), limitBefore: before)
    }

    private static func record(_ limit: Int64?, in database: Database) throws {
        if let limit {
            try database.execute(sql: "INSERT OR REPLACE INTO state VALUES ('limit', ?)", arguments: [limit])
        } else {
            try database.execute(sql: "DELETE FROM state WHERE name = 'limit'")
        }
    }

    /// Records `limit` as the one that was chosen last; that none was if it is `nil`.
    func record(limit: Int64?) async throws(RepriseError) { try await write { try Self.record(limit, in: $0) } }

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
