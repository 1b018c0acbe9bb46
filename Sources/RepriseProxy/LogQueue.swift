import Dispatch
import Primitives
import Logging

/// Writes log lines on a queue of its own, because a terminal or pipe that is not being read must not stop an event
/// loop.
///
/// Lines are dropped if too many are waiting, and their number is logged later.
final class LogQueue: Sendable {
    private struct Backlog {
        var waiting = 0
        var dropped = 0
    }

    /// Maximum number of waiting lines.
    private static let capacity = 4096
    /// Maximum length of a logged value, in characters.
    ///
    /// Clients can send URLs of any length.
    private static let longestValue = 1024
    /// Maximum wait of ``drain()``.
    private static let patience = DispatchTimeInterval.seconds(1)

    private let logger: Logger
    private let queue = DispatchQueue(label: "reprise.log", qos: .utility)
    private let backlog = Mutex(Backlog())

    init(_ logger: Logger) { self.logger = logger }

    func log(_ level: Logger.Level, _ message: Logger.Message, metadata: Logger.Metadata) {
        let isAdmitted = backlog.withLock { backlog in
            guard backlog.waiting < Self.capacity else {
                backlog.dropped += 1
                return false
            }
            backlog.waiting += 1
            return true
        }
        guard isAdmitted else { return }
        let metadata = metadata.mapValues { value -> Logger.MetadataValue in
            let text = "\(value)"
            return text.utf8.count > Self.longestValue ? "\(text.prefix(Self.longestValue))…" : value
        }
        queue.async { [self] in
            logger.log(level: level, message, metadata: metadata)
            let dropped = backlog.withLock { backlog in
                backlog.waiting -= 1
                defer { backlog.dropped = 0 }
                return backlog.dropped
            }
            if dropped > 0 { logger.warning("log lines were dropped", metadata: ["count": "\(dropped)"]) }
        }
    }

    /// Returns when all lines so far are written, or after a second, because the reader may have stopped for good.
    func drain() async {
        let isOver = Promise<Void>()
        queue.async { isOver.fulfill() }
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.patience) { isOver.fulfill() }
        await isOver.value
    }
}
