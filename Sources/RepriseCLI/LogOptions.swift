import ArgumentParser
import Logging
import RepriseProxy

/// How much `serve` and `play` log.
struct LogOptions: ParsableArguments {
    @Option(help: Setting.logLevel.help("How much is logged, to standard error.", valueName: "level"))
    var logLevel: LogLevel?

    /// A logger to standard error, whose level `levels` changes while the program runs.
    static func logger(levels: LogLevelSwitch) -> Logger {
        Logger(label: "reprise") { _ in SwitchedLogHandler(LineLogHandler(), levels: levels) }
    }

    /// The level in force; `level` if there is none.
    func level(from settings: Settings, otherwise level: LogLevel = .notice) throws -> Logger.Level {
        try (settings.value(.logLevel, given: logLevel) ?? level).level
    }
}

/// How much is logged.
enum LogLevel: String, ExpressibleByArgument, CaseIterable {
    case trace, debug, info, notice, warning, error

    var level: Logger.Level { Logger.Level(rawValue: rawValue) ?? .notice }
}
