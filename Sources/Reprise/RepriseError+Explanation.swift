import Foundation
import GRDB

extension RepriseError {
    /// What happened, how to remedy it, and the cause in the system's words; for people.
    package var explanation: String {
        // The first says all of it.
        guard let cause, code != .originNotFound else { return message }
        return Self.words(of: cause).map { "\(message) (\($0))" } ?? message
    }

    /// How a message ends if something came that a log-in may help against.
    private static let logInQuestion = "is a log-in needed?"

    /// The error where something else came than was asked for, as `message` says, and a log-in may help.
    package static func logIn(_ code: Code, _ message: String) -> RepriseError {
        var error = RepriseError(code, "\(message): \(logInQuestion)")
        error.remedy = .logIn
        return error
    }

    /// What `error` says, without what only programmers read (types, numbers, SQL, paths of sources); `nil` if nothing
    /// is left.
    static func words(of error: any Error) -> String? {
        switch error {
        case let error as RepriseError: return error.message
        case let error as SystemError: return String(cString: strerror(error.code))
        case let error as DatabaseError: return error.message ?? "\(error.resultCode)"
        default: break
        }
        if let match = "\(error)".firstMatch(of: /errno:? (\d+)/), let code = Int32(match.1) {
            return String(cString: strerror(code))
        }
        // Foundation's errors have words; the description of a library's error is for programmers.
        return (error as? any LocalizedError)?.errorDescription
    }
}
