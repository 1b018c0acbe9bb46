import Foundation
import GRDB

extension RepriseError {
    /// What happened, how to remedy it, and the cause in the system's words; for people.
    package var explanation: String {
        // The first says all of it.
        guard let cause, code != .originNotFound else { return message }
        return "\(message) (\(Self.words(of: cause)))"
    }

    /// What `error` says, without what only programmers read: types, numbers and SQL.
    static func words(of error: any Error) -> String {
        switch error {
        case let error as RepriseError: return error.message
        case let error as SystemError: return String(cString: strerror(error.code))
        case let error as DatabaseError: return error.message ?? "\(error.resultCode)"
        default: break
        }
        let text = "\(error)"
        guard let match = text.firstMatch(of: /errno:? (\d+)/), let code = Int32(match.1) else { return text }
        return String(cString: strerror(code))
    }
}
