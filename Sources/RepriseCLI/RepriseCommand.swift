import ArgumentParser
import Reprise

/// The `reprise` command.
@main
struct RepriseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reprise",
        abstract: "A media cache: plays remote audio and video while keeping every byte that passes.",
        discussion: """
            Play something; what was played is on disk afterwards and is not fetched again:

              reprise https://example.com/film.mp4

            Start the proxy and point any player at it:

              reprise serve --port 8090
              mpv http://127.0.0.1:8090/https/example.com/film.mp4

            Exit codes: 0 done; 1 something else failed; 64 wrong usage; 66 nothing stored under that URL; \
            69 the origin did not deliver; 73 the output file exists or cannot be created; 74 the disk failed, the \
            output cannot be written, or a file cannot be stored as a whole; 75 the cache is in use by another \
            process; 78 the key of an encrypted cache is missing, malformed or another one; 126 a program cannot be \
            started; 127 it is not installed. Ended by a signal: 128 and its number, such as 130 after Ctrl-C.

            Settings: an option --NAME whose help names a variable REPRISE_NAME can also be given as that variable, or as \
            a line NAME = VALUE of the file that --config or REPRISE_CONFIG names. The first of them counts. What is in \
            force: reprise config. The options that commands share: reprise help settings.
            """,
        version: Build.version,
        groupedSubcommands: [
            CommandGroup(name: "Play", subcommands: [Play.self]),
            CommandGroup(
                name: "Keep",
                subcommands: [
                    DownloadCommand.self, DownloadsCommand.self, Fetch.self, Pin.self, Unpin.self, Export.self,
                ]),
            CommandGroup(name: "Look", subcommands: [List.self, Show.self, Stats.self]),
            CommandGroup(name: "Serve", subcommands: [Serve.self, Health.self, LogLevelSubcommand.self]),
            CommandGroup(
                name: "Maintain",
                subcommands: [
                    TitleCommand.self, Limit.self, Remove.self, Prune.self, Verify.self, ConfigCommand.self,
                ]),
        ])

    /// Puts `play` before arguments that begin with a URL.
    static func naming(_ arguments: [String]) -> [String] {
        arguments.first.map { $0.contains("://") && !$0.hasPrefix("-") } == true ? ["play"] + arguments : arguments
    }

    /// Throws if the first of `arguments` is not a subcommand; the error suggests a similar one.
    static func checkSubcommand(_ arguments: [String]) throws(ValidationError) {
        guard let name = arguments.first, !name.hasPrefix("-"), name != "help" else { return }
        let commands = configuration.subcommands.map { ($0._commandName, $0.configuration.aliases) }
        if commands.contains(where: { $0 == name || $1.contains(name) }) { return }
        guard let meant = otherNames[name.lowercased()] ?? NearestName.to(name, among: commands.map(\.0)) else {
            throw ValidationError("There is no subcommand '\(name.printable)'.")
        }
        throw ValidationError("There is no subcommand '\(name.printable)'. Did you mean 'reprise \(meant)'?")
    }

    /// Names that other programs use.
    private static let otherNames = [
        "add": "download", "cat": "export", "clean": "prune", "clear": "remove --all", "delete": "remove",
        "df": "stats",
        "gc": "prune", "keep": "download", "open": "play", "proxy": "serve", "purge": "remove --all",
        "release": "unpin",
        "rename": "title", "save": "download", "search": "list", "server": "serve", "settings": "config",
        "start": "serve", "status": "stats", "usage": "stats", "version": "--version", "watch": "play",
    ]

    static func main() async {
        StandardStreams.fill()
        do {
            let arguments = Self.naming(Array(CommandLine.arguments.dropFirst()))
            if arguments == SettingsHelp.arguments { throw CleanExit.message(SettingsHelp.helpMessage()) }
            try checkSubcommand(arguments)
            var command = try parseAsRoot(arguments)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            if let reason = error as? Failure.Reason {
                Failure.report(reason)
                exit(withError: reason.code)
            }
            guard exitCode(for: error).isSuccess else { exit(withError: error) }
            // Help and version are results: that they cannot be written is an error.
            let text = fullMessage(for: error)
            do {
                if !text.isEmpty { try await Failure.reporting { @Sendable in try Terminal.print(text) } }
            } catch {
                exit(withError: error)
            }
        }
    }
}
