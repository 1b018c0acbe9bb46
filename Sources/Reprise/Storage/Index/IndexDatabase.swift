import Dispatch
import Foundation
import GRDB
import Primitives

/// The connection to the index: several readers beside a writer, or a single read-only connection.
///
/// SQLite in WAL mode. Every call may block. The stores keep their tables in it; reads that memory can answer never get
/// here.
///
/// The connections are concrete types instead of `any DatabaseWriter`: iOS 18.0 and macOS 15.0 contain their own copy
/// of GRDB, and a dynamic lookup of the conformance could find that one and crash.
final class IndexDatabase: Sendable {
    enum Connection: Sendable {
        case pool(DatabasePool)
        case queue(DatabaseQueue)
    }

    private struct Counts {
        var reads = 0
        var transactions = 0
        /// Free pages in the file after the last transaction.
        var freePages: Int64 = 0
    }

    let codec: RecordCodec
    private let connection: Connection
    /// Called when a query finds the file damaged.
    private let onDamage: @Sendable () -> Void
    private let isClosed = Mutex(false)
    /// Running reads and writes; entered under the lock of ``isClosed``.
    private let uses = DispatchGroup()
    private let counts = Mutex(Counts())

    init(_ connection: Connection, vault: Vault? = nil, onDamage: @escaping @Sendable () -> Void = {}) {
        (self.connection, self.onDamage) = (connection, onDamage)
        codec = RecordCodec(vault: vault)
        // If the number cannot be read, all pages count as used.
        let freePages = (try? access(Self.freePages)) ?? 0
        counts.withLock { $0.freePages = freePages }
    }

    /// Reads so far; each may run several statements.
    var readCount: Int { counts.withLock { $0.reads } }
    /// Transactions that were written since the opening.
    var transactionCount: Int { counts.withLock { $0.transactions } }
    /// Size of the free pages in bytes.
    ///
    /// SQLite reuses them before the file grows.
    var freeBytes: Int64 { counts.withLock { $0.freePages } * Int64(Self.pageSize) }

    private static func freePages(in database: Database) throws -> Int64 {
        try Int64.fetchOne(database.cachedStatement(sql: "PRAGMA freelist_count")) ?? 0
    }

    /// The name of `key` in file names and rows.
    func name(of key: CacheKey) -> String { codec.vault?.name(of: key) ?? key.hash }

    // MARK: - Access

    /// For tests: called before each read by the current task or a task that it started.
    @TaskLocal static var onRead: (@Sendable () -> Void)?

    func read<T>(_ body: (Database) throws -> T) throws(RepriseError) -> T {
        do { return try access(body) } catch { throw failure(error, "The index cannot be read.") }
    }

    /// Reads without turning errors into ``RepriseError``.
    func access<T>(_ body: (Database) throws -> T) throws -> T {
        Self.onRead?()
        try begin()
        defer { uses.leave() }
        counts.withLock { $0.reads += 1 }
        return switch connection {
        case .pool(let pool): try pool.read(body)
        case .queue(let queue): try queue.read(body)
        }
    }

    /// Runs `body` in one transaction, even in a canceled task: the end of a piece of work must be recorded.
    func write<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws(RepriseError) -> T {
        do {
            let (result, freePages) = try await DiskQueue.shared.counting {
                // GRDB interrupts the statements of a canceled task.
                try await Task(priority: .userInitiated) {
                    try await self.transact { database in (try body(database), try Self.freePages(in: database)) }
                }.value
            }
            counts.withLock { counts in
                counts.freePages = freePages
                counts.transactions += 1
            }
            return result
        } catch {
            throw failure(error, "The index cannot be written.")
        }
    }

    private func transact<T: Sendable>(_ body: @Sendable (Database) throws -> T) async throws -> T {
        try begin()
        defer { uses.leave() }
        return switch connection {
        case .pool(let pool): try await pool.write(body)
        case .queue(let queue): try await queue.write(body)
        }
    }

    /// Refuses what comes after ``close()``: GRDB traps when a read begins while its pool is being closed.
    private func begin() throws(RepriseError) {
        let isOpen = isClosed.withLock { isClosed in
            if !isClosed { uses.enter() }
            return !isClosed
        }
        guard isOpen else { throw RepriseError(.closed, "The cache was closed.") }
    }

    /// Waits for running reads and writes, merges the log into the file and closes both.
    func close() throws(RepriseError) {
        isClosed.withLock { $0 = true }
        uses.wait()
        do {
            switch connection {
            case .pool(let pool):
                // After the last read, which would keep the log from being merged.
                let merging = Result { try pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) } }
                try pool.close()
                try merging.get()
            case .queue(let queue): try queue.close()
            }
        } catch {
            throw failure(error, "The index cannot be closed.")
        }
    }

    // MARK: - Errors

    func failure(_ error: any Error, _ message: String) -> RepriseError {
        if let error = error as? RepriseError { return error }
        if let error = error as? DatabaseError, error.isDamage { onDamage() }
        let isFull = (error as? DatabaseError)?.isLackOfRoom == true
        return RepriseError(isFull ? .storageFull : .storageUnavailable, message, cause: error)
    }
}

extension RepriseError {
    /// Whether the file does not exist.
    ///
    /// After any other error it may exist and be inaccessible only now.
    var isMissingFile: Bool { (cause as? SystemError)?.isMissingFile == true }

    /// Whether the disk works and only this file is inaccessible or cannot grow.
    var concernsOneFile: Bool { (cause as? SystemError)?.concernsOneFile == true }

    /// Whether the medium or its owner forbids writing.
    var forbidsWriting: Bool {
        (cause as? SystemError)?.forbidsWriting == true || (cause as? DatabaseError)?.forbidsWriting == true
    }

    /// Whether the disk is full, so that eviction helps.
    var isLackOfRoom: Bool {
        (cause as? SystemError)?.isLackOfRoom == true || (cause as? DatabaseError)?.isLackOfRoom == true
    }
}

extension DatabaseError {
    /// Whether the file is not a valid database.
    var isDamage: Bool { [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(resultCode) }

    var isLackOfRoom: Bool { resultCode == .SQLITE_FULL || extendedResultCode == .SQLITE_IOERR_SHMSIZE }

    /// Whether the medium or its owner forbids writing: to the file, or of files beside it.
    var forbidsWriting: Bool { [.SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_PERM].contains(resultCode) }
}

// MARK: - Rows

/// A row as a value.
///
/// A row that lacks a column, or has a value of another type in it, counts as missing.
///
/// Not GRDB's `FetchableRecord`, because a query must go on after a row that is damaged.
protocol IndexRow {
    /// `nil` if the row cannot be used.
    init?(_ row: Row)
}

extension IndexRow {
    /// The usable rows of a query.
    static func all(
        _ database: Database, sql: String, arguments: StatementArguments = StatementArguments()
    ) throws -> [Self] {
        try compactMap(database, sql: sql, arguments: arguments) { $0 }
    }

    /// Transforms the usable rows of a query one by one.
    static func compactMap<T>(
        _ database: Database, sql: String, arguments: StatementArguments = StatementArguments(),
        _ transform: (Self) throws -> T?
    ) throws -> [T] {
        let rows = try Row.fetchCursor(database, sql: sql, arguments: arguments)
        var values: [T] = []
        while let row = try rows.next() {
            if let value = try Self(row).flatMap(transform) { values.append(value) }
        }
        return values
    }

    /// The first row of a query, if it is usable.
    static func first(
        _ database: Database, sql: String, arguments: StatementArguments = StatementArguments()
    ) throws -> Self? {
        try Row.fetchOne(database, sql: sql, arguments: arguments).flatMap { Self($0) }
    }
}

extension Row {
    /// The column's value, or `nil` if it is missing or of another type.
    func value<T: DatabaseValueConvertible>(_ column: String) -> T? {
        (self[column] as DatabaseValue?).flatMap { T.fromDatabaseValue($0) }
    }
}
