package import Logging
package import Reprise

/// Changes how much a running server logs, or asks how much: `POST /-/api/log-level`.
///
/// It concerns the server and not its cache, so that it is no operation.
package struct LogLevelCommand: ControlCommand {
    package typealias Progress = NoProgress

    package static let name = "log-level"

    /// The name of the level from now on; `nil` to leave it as it is.
    package let level: String?

    /// What holds from now on.
    package struct Outcome: Codable, Sendable {
        /// The name of the level.
        package let level: String
        /// The name of the level before.
        package let former: String
    }

    /// Creates it.
    package init(level: String?) { self.level = level }

    /// The levels that may be chosen, from much to little.
    package static let levels: [Logger.Level] = [.trace, .debug, .info, .notice, .warning, .error]

    /// The level of that name; throws ``RepriseError`` with code `invalidArgument` if there is none.
    package static func level(named name: String) throws(RepriseError) -> Logger.Level {
        guard let level = levels.first(where: { $0.rawValue == name }) else {
            let names = levels.map(\.rawValue)
            throw RepriseError(
                .invalidArgument,
                "The level must be \(names.dropLast().joined(separator: ", ")) or \(names.last ?? "").")
        }
        return level
    }
}
