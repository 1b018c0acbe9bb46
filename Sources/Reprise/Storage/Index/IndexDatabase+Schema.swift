import Foundation
import GRDB

/// The tables of the index, and the migrations that make them.
///
/// A new format is a further migration, which keeps entries, pins and downloads. Each migration is one transaction, so
/// that a killed process leaves the index as it was before or after it.
extension IndexDatabase {
    /// Written to `user_version` and to the low half of `application_id`, so that one flipped bit makes a damaged file
    /// and not a newer format.
    ///
    /// A newer format is refused; an older one is migrated.
    static let formatVersion = 1

    /// The high half of `application_id`: "Re".
    static let mark: [UInt8] = [0x52, 0x65]
    /// The high half in indexes from before the first release, "RP", whose formats 2 to 10 are no longer read.
    static let unreleasedMark: [UInt8] = [0x52, 0x50]

    private static func applicationID(of format: Int) -> Int { Int(mark[0]) << 24 | Int(mark[1]) << 16 | format }

    /// The migrations to the current format; a new index runs all of them.
    private static func migrator(
        for vault: Vault?, reached: @escaping @Sendable (CrashPoint) -> Void
    ) -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        func register(format: Int, _ change: @escaping @Sendable (Database) throws -> Void) {
            migrator.registerMigration("format \(format)") { database in
                try change(database)
                try database.execute(
                    sql: "PRAGMA application_id = \(applicationID(of: format)); PRAGMA user_version = \(format);")
                reached(.migrating)
            }
        }
        register(format: 1) { try createTables(in: $0, vault: vault) }
        return migrator
    }

    /// Creates the tables of an empty index, and migrates an older format to the current one.
    static func migrate(
        _ writer: some DatabaseWriter, for vault: Vault?, reached: @escaping @Sendable (CrashPoint) -> Void = { _ in }
    ) throws {
        try migrator(for: vault, reached: reached).migrate(writer)
    }

    // MARK: - State

    enum State { case empty, older, current }

    /// The state of the file.
    ///
    /// Throws if it is newer, foreign or incomplete.
    static func state(of database: Database) throws -> State {
        let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        let application = try Int.fetchOne(database, sql: "PRAGMA application_id") ?? 0
        let isOurs = application == applicationID(of: version)
        guard !isOurs || version <= formatVersion else { throw isNewer(version) }
        if version == 0, application == 0 || isOurs, try !hasTables(database) { return .empty }
        guard isOurs, version >= 1 else { throw Unusable(reason: "it is not a cache's index, or damaged") }
        guard version == formatVersion else { return .older }
        for statement in probes { _ = try Row.fetchOne(database, sql: statement) }
        return .current
    }

    /// Whether the file has a table besides the list of migrations, which a killed process may have created first.
    private static func hasTables(_ database: Database) throws -> Bool {
        try Int.fetchOne(
            database, sql: "SELECT COUNT(*) FROM sqlite_master WHERE tbl_name <> 'grdb_migrations'") ?? 0 > 0
    }

    /// The error for an index that only a newer version reads.
    static func isNewer(_ format: Int) -> RepriseError {
        RepriseError(
            .storageUnavailable,
            "The cache was written by a newer Reprise (format \(format), this one reads \(formatVersion)). "
                + "Update Reprise, or choose another directory.")
    }

    /// Marks a file without a page as the index of a cache, before anything else is written to it.
    ///
    /// Its tables are only in the log until that is merged. Without the mark, a killed process would leave a file that
    /// could belong to any program.
    static func mark(_ database: Database) throws {
        guard try Int.fetchOne(database, sql: "PRAGMA page_count") == 0 else { return }
        try database.execute(sql: "PRAGMA application_id = \(applicationID(of: 0))")
    }

    /// Queries that fail unless every table and column exists.
    ///
    /// They read no row.
    private static let probes = [
        "SELECT keyHash, generation, lastUsed, retained, live, plays FROM entry LIMIT 0",
        "SELECT id, keyHash, record, salt, allocated, stored FROM generation LIMIT 0",
        "SELECT generation, block, chunks FROM chunk LIMIT 0",
        "SELECT keyHash, kind, until, target, position, paused, policy, amount, failure FROM retention LIMIT 0",
        "SELECT keyHash, holder, bytes, ranges FROM part LIMIT 0",
        "SELECT keyHash, signpost, record FROM selection LIMIT 0", "SELECT name, value FROM total LIMIT 0",
        "SELECT allocated, stored FROM usage LIMIT 0",
        "SELECT name, value FROM state LIMIT 0", "SELECT id, keyHash, tag, named, record FROM title LIMIT 0",
        "SELECT keyHash, title, listed FROM member LIMIT 0", "SELECT tag, record FROM tagLimit LIMIT 0",
        "SELECT name, lastSeen FROM splicingHost LIMIT 0",
    ]

    // MARK: - Tables

    private static func createTables(in database: Database, vault: Vault?) throws {
        try database.execute(
            sql: """
                CREATE TABLE entry (
                    keyHash TEXT PRIMARY KEY, generation INTEGER NOT NULL, lastUsed REAL NOT NULL,
                    retained INTEGER NOT NULL, live INTEGER NOT NULL DEFAULT 0, plays INTEGER NOT NULL DEFAULT 1
                ) WITHOUT ROWID;
                CREATE INDEX entryByUse ON entry (retained, live DESC, lastUsed);
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

                CREATE TABLE retention (
                    keyHash TEXT PRIMARY KEY, kind INTEGER NOT NULL, until REAL, target BLOB NOT NULL, amount TEXT,
                    position INTEGER, paused INTEGER NOT NULL DEFAULT 0, policy INTEGER NOT NULL DEFAULT 0,
                    failure BLOB) WITHOUT ROWID;
                CREATE TABLE part (
                    keyHash TEXT NOT NULL, holder TEXT NOT NULL, bytes INTEGER NOT NULL, ranges BLOB NOT NULL,
                    PRIMARY KEY (keyHash, holder)) WITHOUT ROWID;
                CREATE INDEX partByHolder ON part (holder);
                CREATE TRIGGER retentionRemoved AFTER DELETE ON retention BEGIN
                    DELETE FROM part WHERE holder = old.keyHash; END;
                CREATE TRIGGER retentionChanged AFTER UPDATE OF kind ON retention BEGIN
                    DELETE FROM part WHERE holder = new.keyHash; END;

                CREATE TABLE title (
                    id INTEGER PRIMARY KEY, keyHash TEXT NOT NULL UNIQUE, tag TEXT, named INTEGER NOT NULL,
                    record BLOB NOT NULL);
                CREATE INDEX titleByTag ON title (tag) WHERE tag IS NOT NULL;
                CREATE TABLE member (
                    keyHash TEXT NOT NULL, title INTEGER NOT NULL, listed INTEGER NOT NULL DEFAULT 1,
                    PRIMARY KEY (keyHash, title)) WITHOUT ROWID;
                CREATE INDEX memberByTitle ON member (title);
                CREATE TRIGGER memberRemoved AFTER DELETE ON entry BEGIN
                    DELETE FROM member WHERE keyHash = old.keyHash; END;
                CREATE TRIGGER titleEmptied AFTER DELETE ON member
                WHEN NOT EXISTS (SELECT 1 FROM member WHERE title = old.title) BEGIN
                    DELETE FROM title WHERE id = old.title AND named = 0; END;
                CREATE TABLE tagLimit (tag TEXT PRIMARY KEY, record BLOB NOT NULL) WITHOUT ROWID;

                CREATE TABLE splicingHost (name TEXT PRIMARY KEY, lastSeen INTEGER NOT NULL) WITHOUT ROWID;
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
                """)
        if let vault {
            try database.execute(sql: "INSERT INTO state VALUES ('check', ?)", arguments: [vault.check])
        }
    }
}
