import ArgumentParser
import Foundation
import Reprise

/// Codes from `sysexits.h` that scripts can tell apart.
enum Failure {
    /// The exit code for `error`.
    static func code(_ error: RepriseError) -> ExitCode {
        switch error.code {
        case .invalidURL, .invalidArgument: ExitCode(64)
        case .notStored: ExitCode(66)
        case .storageUnavailable, .storageFull: ExitCode(74)
        case .storageLocked: ExitCode(75)
        case .keyUnavailable: ExitCode(78)
        case let code where code.description.hasPrefix("origin"): ExitCode(69)
        case .validatorChanged, .rangeNotSatisfiable, .networkUnavailable: ExitCode(69)
        default: ExitCode(1)
        }
    }

    /// Says what went wrong on standard error.
    static func report(_ error: RepriseError) {
        let cause = error.cause.map { " (\($0))" } ?? ""
        Terminal.error("reprise: \(error.message)\(cause)")
    }

    /// Runs `body`; a ``RepriseError`` becomes a line on standard error and an exit code.
    static func reporting<T>(_ body: () async throws -> T) async throws -> T {
        do { return try await body() } catch let error as RepriseError {
            report(error)
            throw code(error)
        }
    }
}
