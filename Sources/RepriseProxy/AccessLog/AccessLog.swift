package import Dispatch
package import Logging
import Primitives
package import Reprise

/// The access log of a server: a line for each answer at the port.
///
/// Lines are written on a queue of their own. If they cannot be written as fast as they come, or at all, serving goes
/// on: lines are dropped and counted, and the server's own log says so once.
package final class AccessLog: Sendable {
    private struct Backlog {
        var entries: [AccessLogEntry] = []
        /// Lines that were taken from ``entries`` and are not written yet.
        var underWay: Int64 = 0
        /// Whether the log has given up what it had not written.
        var isAbandoned = false
        /// Bytes that wait or are being written, roughly.
        var weight = 0
        var isScheduled = false
        /// Lines that were never written.
        var dropped: Int64 = 0
        /// Whether lines get lost.
        var isLosing = false
        /// What ``dropped`` was when the problem began.
        var droppedBefore: Int64 = 0

        /// Counts lost lines; returns whether they are the first ones of their problem.
        mutating func drop(_ count: Int64) -> Bool {
            let isFirst = !isLosing
            if isFirst { (isLosing, droppedBefore) = (true, dropped) }
            dropped += count
            return isFirst
        }

        /// Gives up what is not written; returns the number of lines.
        mutating func abandon() -> Int64 {
            let lost = Int64(entries.count) + underWay
            (entries, underWay, weight, isAbandoned) = ([], 0, 0, true)
            if lost > 0 { _ = drop(lost) }
            return lost
        }

        /// Notes that lines are written; returns how many were lost, if any were.
        mutating func recover() -> Int64? {
            guard isLosing else { return nil }
            isLosing = false
            return dropped - droppedBefore
        }
    }

    /// Most bytes that wait.
    private static let capacity = 8 << 20
    /// Bytes that are written at once.
    private static let batch = 256 << 10
    /// Longest wait of ``close(within:)``.
    package static let patience = DispatchTimeInterval.seconds(5)

    private let path: String
    private let format: AccessLogFormat
    private let logger: Logger
    private let queue = DispatchQueue(label: "reprise.access-log", qos: .utility)
    private let backlog = Mutex(Backlog())
    /// Used on the queue only; `nil` once it is closed.
    private let file: Mutex<LogFile?>

    /// Opens the file at `path` for appending, or makes it; `-` stands for standard output.
    ///
    /// What goes wrong later is told to `logger`.
    ///
    /// Throws `invalidArgument` if it cannot be opened.
    package init(path: String, format: AccessLogFormat, logger: Logger) throws(RepriseError) {
        (self.path, self.format, self.logger) = (path, format, logger)
        do { file = Mutex(try LogFile(path)) } catch {
            throw RepriseError(
                .invalidArgument,
                "The access log \(path) cannot be opened: \(error). Name a file in a folder that this user may write.")
        }
    }

    /// Number of lines that were never written.
    var droppedLines: Int64 { backlog.withLock { $0.dropped } }

    /// Writes the line of `entry` soon; never waits.
    func add(_ entry: AccessLogEntry) {
        let reason = "Lines come faster than they can be written."
        let (mustSchedule, isFirst) = backlog.withLock { backlog in
            guard !backlog.isAbandoned, backlog.weight < Self.capacity else { return (false, backlog.drop(1)) }
            backlog.entries.append(entry)
            backlog.weight += entry.weight
            defer { backlog.isScheduled = true }
            return (!backlog.isScheduled, false)
        }
        // Its own queue may be waiting for a reader.
        if isFirst { DispatchQueue.global().async { [self] in tell(reason) } }
        if mustSchedule { queue.async { [self] in writeAll() } }
    }

    /// Opens the file again by its name, for a program that has moved it away; lines until then are in the old one.
    ///
    /// Goes on with the old one if that fails.
    package func reopen() {
        guard path != "-" else { return }
        queue.async { [self] in
            do {
                let new = try LogFile(path)
                file.withLock { file in
                    guard let old = file else { return new.close() }
                    old.close()
                    file = new
                }
            } catch {
                logger.warning(
                    "the access log cannot be opened again: lines go to the old file",
                    metadata: ["file": "\(path)", "error": "\(error)"])
            }
        }
    }

    /// Writes what waits, and closes the file.
    ///
    /// Returns after `patience` in any case, because the reader of a pipe may have stopped for good. What is not
    /// written by then is lost, which is counted and told.
    package func close(within patience: DispatchTimeInterval = AccessLog.patience) async {
        let isWritten = Promise<Bool>()
        queue.async { [self] in
            file.withLock { $0.take()?.close() }
            isWritten.fulfill(true)
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + patience) { isWritten.fulfill(false) }
        if await isWritten.value { return }
        let lost = backlog.withLock { $0.abandon() }
        guard lost > 0 else { return }
        logger.warning(
            "the access log is closed before all its lines could be written",
            metadata: ["file": "\(path)", "lost": "\(lost)"])
    }

    // MARK: - On the queue

    private func writeAll() {
        while let entries = takeEntries() {
            var (lines, weight) = ([UInt8](), 0)
            for entry in entries {
                lines += entry.line(as: format).utf8
                weight += entry.weight
                if lines.count < Self.batch { continue }
                write(&lines, weight: &weight)
            }
            write(&lines, weight: &weight)
        }
    }

    private func takeEntries() -> [AccessLogEntry]? {
        backlog.withLock { backlog in
            backlog.isScheduled = !backlog.entries.isEmpty
            guard backlog.isScheduled else { return nil }
            backlog.underWay = Int64(backlog.entries.count)
            defer { backlog.entries = [] }
            return backlog.entries
        }
    }

    private func write(_ lines: inout [UInt8], weight: inout Int) {
        defer { (lines, weight) = ([], 0) }
        guard !lines.isEmpty, !backlog.withLock(\.isAbandoned) else { return }
        let (count, failure) = file.withLock { file in
            file?.write(lines) ?? (0, LogFile.Failure(description: "The log is closed."))
        }
        let lost = Self.lineCount(lines[count...])
        let (isFirst, recovered) = backlog.withLock { backlog -> (Bool, Int64?) in
            // These lines count as lost already.
            if backlog.isAbandoned { return (false, nil) }
            backlog.weight -= weight
            backlog.underWay -= lost + Self.lineCount(lines[..<count])
            if failure != nil { return (backlog.drop(lost), nil) }
            return (false, backlog.weight < Self.capacity / 2 ? backlog.recover() : nil)
        }
        if let failure, isFirst { tell(failure.description) }
        if let recovered {
            logger.notice("the access log is written again", metadata: ["lost": "\(recovered)"])
        }
    }

    private static func lineCount(_ bytes: ArraySlice<UInt8>) -> Int64 {
        bytes.reduce(0) { $0 + ($1 == UInt8(ascii: "\n") ? 1 : 0) }
    }

    private func tell(_ reason: String) {
        logger.warning(
            "lines of the access log are lost until it can be written again",
            metadata: ["file": "\(path)", "reason": "\(reason)"])
    }
}
