import ArgumentParser
import Reprise
import RepriseProxy

/// `reprise log-level`.
struct LogLevelSubcommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log-level",
        abstract: "Change how much the running server logs.",
        discussion: """
            It holds at once, until the server ends or it is changed again. Without a level, the command says which one holds.

            Examples:
              reprise log-level debug
              reprise log-level notice
              reprise log-level
            """)

    @Argument(help: "trace, debug, info, notice, warning or error.")
    var level: String?
    @OptionGroup var cache: CacheOptions

    func validate() throws {
        do { _ = try level.map { name throws(RepriseError) in try LogLevelCommand.level(named: name) } } catch {
            throw ValidationError(error.message)
        }
    }

    func run() async throws {
        try await Failure.reporting {
            guard let server = try await cache.server() else {
                throw Failure.Reason(
                    code: ExitCode(69), name: "notRunning",
                    message: "No server uses the cache in \(try cache.directory). Start one with: reprise serve")
            }
            let outcome = try await server.perform(LogLevelCommand(level: level))
            let before = outcome.former == outcome.level ? "" : ", before: \(outcome.former)"
            try Terminal.print("Log level: \(outcome.level)\(before)")
        }
    }
}
