import GRDB

/// The connection to the index: several readers beside a writer, or a single read-only connection.
///
/// Uses concrete types instead of `any DatabaseWriter`: iOS 18.0 and macOS 15.0 contain their own copy of GRDB, and a
/// dynamic lookup of the conformance could find that one and crash.
enum IndexDatabase: Sendable {
    case pool(DatabasePool)
    case queue(DatabaseQueue)

    func read<T>(_ body: (Database) throws -> T) throws -> T {
        switch self {
        case .pool(let pool): try pool.read(body)
        case .queue(let queue): try queue.read(body)
        }
    }

    func write<T: Sendable>(_ body: @Sendable (Database) throws -> T) async throws -> T {
        switch self {
        case .pool(let pool): try await pool.write(body)
        case .queue(let queue): try await queue.write(body)
        }
    }

    func writeWithoutTransaction<T: Sendable>(
        _ body: @Sendable (Database) throws -> T
    ) async throws -> T {
        switch self {
        case .pool(let pool): try await pool.writeWithoutTransaction(body)
        case .queue(let queue): try await queue.writeWithoutTransaction(body)
        }
    }

    func close() throws {
        switch self {
        case .pool(let pool): try pool.close()
        case .queue(let queue): try queue.close()
        }
    }
}
