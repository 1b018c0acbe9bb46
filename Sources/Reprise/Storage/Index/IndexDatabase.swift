import Dispatch
import GRDB
import Primitives

/// The connection to the index: several readers beside a writer, or a single read-only connection.
///
/// Uses concrete types instead of `any DatabaseWriter`: iOS 18.0 and macOS 15.0 contain their own copy of GRDB, and a
/// dynamic lookup of the conformance could find that one and crash.
///
/// What comes after ``close()`` gets an error here, because GRDB traps where a read begins while its pool is closed.
final class IndexDatabase: Sendable {
    enum Connection: Sendable {
        case pool(DatabasePool)
        case queue(DatabaseQueue)
    }

    private let connection: Connection
    private let isClosed = Mutex(false)
    /// Number of reads so far; each may run several statements.
    let reads = Mutex(0)
    /// Reads and writes under way; entered under the lock of ``isClosed``.
    private let uses = DispatchGroup()

    init(_ connection: Connection) { self.connection = connection }

    /// For tests: called before each read by the current task or a task that it started.
    @TaskLocal static var onRead: (@Sendable () -> Void)?

    func read<T>(_ body: (Database) throws -> T) throws -> T {
        Self.onRead?()
        try begin()
        defer { uses.leave() }
        reads.withLock { $0 += 1 }
        return switch connection {
        case .pool(let pool): try pool.read(body)
        case .queue(let queue): try queue.read(body)
        }
    }

    func write<T: Sendable>(_ body: @Sendable (Database) throws -> T) async throws -> T {
        try begin()
        defer { uses.leave() }
        return switch connection {
        case .pool(let pool): try await pool.write(body)
        case .queue(let queue): try await queue.write(body)
        }
    }

    func writeWithoutTransaction<T: Sendable>(
        _ body: @Sendable (Database) throws -> T
    ) async throws -> T {
        try begin()
        defer { uses.leave() }
        return switch connection {
        case .pool(let pool): try await pool.writeWithoutTransaction(body)
        case .queue(let queue): try await queue.writeWithoutTransaction(body)
        }
    }

    /// Closes the files when what is under way is done; may block.
    func close() throws {
        isClosed.withLock { $0 = true }
        uses.wait()
        switch connection {
        case .pool(let pool):
            // Not before the last read has ended: it would keep the log from being merged.
            let merging = Result { try pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) } }
            try pool.close()
            try merging.get()
        case .queue(let queue): try queue.close()
        }
    }

    private func begin() throws(RepriseError) {
        let isOpen = isClosed.withLock { isClosed in
            if !isClosed { uses.enter() }
            return !isClosed
        }
        guard isOpen else { throw RepriseError(.closed, "The cache was closed.") }
    }
}
