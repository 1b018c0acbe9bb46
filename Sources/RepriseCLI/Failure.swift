import ArgumentParser
import Foundation
import Reprise

/// Codes from `sysexits.h` that scripts can tell apart.
enum Failure {
    /// Why a subcommand failed, and what it exits with.
    struct Reason: Error {
        let code: ExitCode
        /// The error's name in JSON.
        let name: String
        /// What happened and how to remedy it, for people.
        let message: String
        /// The status of the origin's response, if the origin has refused.
        var status: Int?

        /// Not all of something is in the cache that was to be.
        static func notStored(_ message: String) -> Reason {
            Reason(code: ExitCode(74), name: notStoredName, message: message)
        }

        private static let notStoredName = "notStored"

        /// Whether it is ``notStored(_:)``.
        var saysNotStored: Bool { name == Self.notStoredName }
    }

    /// What is known of `error`; `nil` for one that is not this command's, such as a wrong option.
    static func reason(_ error: any Error) -> Reason? {
        switch error {
        case let reason as Reason: reason
        case let error as RepriseError:
            Reason(
                code: code(error), name: error.code.description,
                message: error.explanation + (error.code == .storageLocked ? sharingAdvice : ""),
                status: error.statusCode)
        case let failure as OutputFile.Failure: reason(failure)
        default: nil
        }
    }

    private static let sharingAdvice =
        " Wait longer with REPRISE_WAIT=1h, or let commands share the cache through a server: reprise serve"

    private static func reason(_ failure: OutputFile.Failure) -> Reason {
        switch failure.reason {
        case .exists:
            Reason(code: ExitCode(73), name: "outputExists", message: "\(failure.message) Replace it with --force.")
        case .cannotCreate: Reason(code: ExitCode(73), name: "outputUnavailable", message: failure.message)
        case .cannotWrite, .readerIsGone:
            Reason(code: ExitCode(74), name: "outputFailed", message: failure.message)
        }
    }

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
    static func report(_ reason: Reason) { Terminal.error("reprise: \(reason.message)") }

    /// Says what was noticed about a host.
    static func report(_ remark: HostRemark) { Terminal.error("reprise: \(remark.host.printable): \(remark.reason)") }

    /// Says which of several URLs it was, where the message does not.
    static func report(_ reason: Reason, of url: String, amongOthers: Bool) {
        let name = URLText.name(of: url)
        guard amongOthers, !reason.message.contains(name) else { return report(reason) }
        Terminal.error("reprise: \(name): \(reason.message)")
    }

    /// Runs `body`; an error of this command's becomes a line on standard error and an exit code.
    ///
    /// Where nothing reads its output any more, the process ends as by SIGPIPE.
    static func reporting<T>(_ body: () async throws -> T) async throws -> T {
        do { return try await body() } catch {
            if let failure = error as? OutputFile.Failure, failure.reason == .readerIsGone {
                StopSignals.end(by: SIGPIPE)
            }
            guard let reason = reason(error) else { throw error }
            report(reason)
            throw reason.code
        }
    }
}
