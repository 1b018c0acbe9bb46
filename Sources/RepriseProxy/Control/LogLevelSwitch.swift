package import Logging
import Primitives

/// The level of a program's log, which may change while it runs: every logger of ``SwitchedLogHandler`` looks here.
///
/// Its lock is a leaf.
package final class LogLevelSwitch: Sendable {
    private let current: Mutex<Logger.Level>

    /// Begins with `level`.
    package init(_ level: Logger.Level) { current = Mutex(level) }

    /// The least level that is logged.
    package var level: Logger.Level {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }
}

/// Passes on what a switch lets through, whatever level the logger was given before.
package struct SwitchedLogHandler: LogHandler {
    private let levels: LogLevelSwitch
    private var handler: any LogHandler

    /// Writes by `handler` what `levels` lets through.
    package init(_ handler: any LogHandler, levels: LogLevelSwitch) {
        (self.handler, self.levels) = (handler, levels)
        // The switch decides, not the handler.
        self.handler.logLevel = .trace
    }

    package var logLevel: Logger.Level {
        get { levels.level }
        set { levels.level = newValue }
    }

    package var metadata: Logger.Metadata {
        get { handler.metadata }
        set { handler.metadata = newValue }
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { handler[metadataKey: key] }
        set { handler[metadataKey: key] = newValue }
    }

    package func log(event: LogEvent) { handler.log(event: event) }
}
