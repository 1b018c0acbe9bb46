import Foundation
import GRDB

/// Opens or creates the index in a directory for writing, and sets an unusable one aside.
struct IndexOpener {
    let directory: String
    let vault: Vault?
    let fileSystem: any FileSystem
    /// Removes data files that an earlier index left.
    ///
    /// Called when a new index is created.
    let removeMedia: () -> Void
    /// Called if the disk is too full for a new index; returns true if it freed room.
    let releaseReserve: () -> Bool
    /// Whether bytes stored under another key are deleted.
    let resetsWhenKeyDiffers: Bool
    /// Called with the contents that such a reset removes, before it does.
    let willReset: (Holdings) -> Void
    /// The limit to record.
    let limit: Int64?
    let reached: @Sendable (CrashPoint) -> Void

    struct Opening {
        let database: IndexDatabase
        /// Whether the previous process did not close the cache.
        let isUnclean: Bool
        /// The limit that was set last.
        let limit: Int64?
        /// The limit that was recorded before this opening.
        let limitBefore: Int64?
        /// Why the cache starts empty although there was an index; `nil` otherwise.
        var reset: String?
    }

    private var path: String { "\(directory)/\(IndexDatabase.fileName)" }

    /// The reason for an empty cache after an interrupted reset.
    private static let brokenReset = "it was being emptied for another key, as requested, when that was broken off"

    /// Changes nothing if it throws `keyUnavailable`.
    func open() throws(RepriseError) -> Opening {
        do {
            let wasResetting = exists(IndexDatabase.resettingName)
            let dropped = try removeForeign()
            let reset = dropped ?? IndexDatabase.loss(in: directory, fileSystem: fileSystem)
            var opening: Opening
            switch try exists(IndexDatabase.suspicionName)
                ? .unusable("it was found damaged while it was in use") : attempt(reset: reset)
            {
            case .opened(let opened):
                opening = opened
                if wasResetting, dropped == nil,
                    try opened.database.access({ try IndexDatabase.holdings(in: $0).isEmpty })
                {
                    opening.reset = Self.brokenReset
                }
            case .unusable(let reason): opening = try replace(because: reason)
            }
            try IndexDatabase.removeMark(IndexDatabase.resettingName, in: directory, fileSystem: fileSystem)
            if vault != nil { try IndexDatabase.removePlainSetAside(directory, fileSystem: fileSystem) }
            return opening
        } catch let error as RepriseError {
            throw error
        } catch {
            throw IndexDatabase.unopened(path, error: error)
        }
    }

    private func exists(_ name: String) -> Bool {
        IndexDatabase.exists(name, in: directory, fileSystem: fileSystem)
    }

    /// Removes an index that was made with another key, and its media, if that is allowed; returns a description of
    /// what was removed, if anything.
    ///
    /// Checks before the index is opened for writing, because opening it changes the file.
    private func removeForeign() throws -> String? {
        guard let foreign = IndexDatabase.foreign(in: directory, vault: vault) else { return nil }
        guard resetsWhenKeyDiffers || !foreign.isRefused else { throw foreign.difference.error }
        let holdings = foreign.holdings
        if !holdings.isEmpty {
            willReset(holdings)
            _ = try fileSystem.open("\(directory)/\(IndexDatabase.resettingName)", create: true)
            reached(.resetting)
        }
        // The database first, which removes everything at once. Without its log it would be an older state.
        for suffix in IndexDatabase.fileSuffixes {
            if exists(IndexDatabase.fileName + suffix) { try fileSystem.remove(path + suffix) }
            reached(.resetting)
        }
        removeMedia()
        return holdings.isEmpty
            ? nil
            : "the key differs; as requested, \(holdings.storedBytes) bytes in \(holdings.entries) entries and "
                + "\(holdings.holds) pins or downloads were dropped"
    }

    private enum Attempt {
        case opened(Opening)
        case unusable(String)
    }

    private func attempt(reset: String?) throws -> Attempt {
        do {
            return .opened(try openFile(reset: reset))
        } catch let error as DatabaseError where error.isDamage || error.resultCode == .SQLITE_ERROR {
            return .unusable(error.message ?? "it is damaged")
        } catch let unusable as IndexDatabase.Unusable {
            return .unusable(unusable.reason)
        }
    }

    /// Sets the unusable index aside and creates a new one; throws if the index has a newer format.
    private func replace(because reason: String) throws -> Opening {
        do {
            _ = try IndexDatabase.reading(path) { try IndexDatabase.state(of: $0) }
        } catch let error as RepriseError {
            throw error
        } catch {
            // It is damaged, which is known.
        }
        let outcome = try IndexDatabase.setAside(
            directory, fileSystem: fileSystem, isSealed: vault != nil, reached: reached)
        let reset = "\(reason); \(outcome)"
        do { return try openFile(reset: reset) } catch let error as DatabaseError where error.isLackOfRoom {
            guard releaseReserve() else { throw error }
            return try openFile(reset: reset)
        }
    }

    private func openFile(reset: String?) throws -> Opening {
        makeFile()
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { [vault] database in
            try database.execute(
                sql: """
                    PRAGMA page_size = \(IndexDatabase.pageSize); PRAGMA synchronous = NORMAL;
                    PRAGMA cell_size_check = ON; PRAGMA checkpoint_fullfsync = OFF;
                    PRAGMA wal_autocheckpoint = \(IndexDatabase.logPages);
                    PRAGMA journal_size_limit = \(IndexDatabase.logBytes);
                    PRAGMA secure_delete = \(vault == nil ? "OFF" : "ON")
                    """)
            try IndexDatabase.mark(database)
        }
        let pool = try DatabasePool(path: path, configuration: configuration)
        do {
            try prepare(pool)
            let (wasClean, limitBefore, limit) = try pool.write { try begin($0) }
            let database = IndexDatabase(.pool(pool), vault: vault) { [directory, fileSystem] in
                // If it cannot be created, the next damaged query tries again.
                _ = try? fileSystem.open("\(directory)/\(IndexDatabase.suspicionName)", create: true)
            }
            return Opening(
                database: database, isUnclean: !wasClean, limit: limit, limitBefore: limitBefore, reset: reset)
        } catch {
            try? pool.close()
            throw error
        }
    }

    /// Creates the file of a new index, which SQLite would make readable for other users.
    ///
    /// The log gets the same mode.
    private func makeFile() {
        do throws(SystemError) { _ = try fileSystem.status(of: path) } catch {
            guard error.isMissingFile else { return }
            // A log that is left belongs to an index that was removed.
            for suffix in IndexDatabase.fileSuffixes.dropFirst() { try? fileSystem.remove(path + suffix) }
            // If this fails, SQLite reports why.
            _ = try? fileSystem.open(path, create: true)
        }
    }

    /// Migrates the index to the current format, if its key is that of `vault`.
    private func prepare(_ pool: DatabasePool) throws {
        let format = try pool.read { database -> IndexDatabase.State in
            let format = try IndexDatabase.state(of: database)
            // Checked again, because the index may not have been readable before.
            if format != .empty, let difference = try IndexDatabase.keyDifference(database, vault: vault) {
                throw difference.error
            }
            return format
        }
        // Data files without an index are useless, and may be plain.
        if format == .empty { removeMedia() }
        if format != .current { try IndexDatabase.migrate(pool, for: vault, reached: reached) }
    }

    // MARK: - State

    /// Pages of an index whose rows can all be read before the first hit: a few thousand entries, in some milliseconds.
    ///
    /// A longer index is checked later (``Store/reconcile(isLive:)``).
    private static let mostPagesToSum = 8192

    /// Marks the cache as open.
    private func begin(_ database: Database) throws -> (wasClean: Bool, limitBefore: Int64?, limit: Int64?) {
        let wasClean = try Int.fetchOne(database, sql: "SELECT value FROM state WHERE name = 'clean'") == 1
        try database.execute(sql: "INSERT OR REPLACE INTO state VALUES ('clean', 0)")
        if !wasClean, try Int.fetchOne(database, sql: "PRAGMA page_count") ?? .max <= Self.mostPagesToSum {
            try EntryStore.recount(in: database)
        }
        let before = try IndexDatabase.recordedLimit(in: database)
        if let limit { try IndexDatabase.record(limit, in: database) }
        return (wasClean, before, try IndexDatabase.recordedLimit(in: database))
    }
}
