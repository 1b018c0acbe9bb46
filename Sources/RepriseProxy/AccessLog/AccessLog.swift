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
            guard backlog.weight < Self.capacity else { return (false, backlog.drop(1)) }
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
    /// Returns after `patience` in any case, because the reader of a pipe may have stopped for good.
    package func close(within patience: DispatchTimeInterval = AccessLog.patience) async {
        let isOver = Promise<Void>()
        queue.async { [self] in
            file.withLock { $0.take()?.close() }
            isOver.fulfill()
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + patience) { isOver.fulfill() }
        await isOver.value
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
            defer { backlog.entries = [] }
            return backlog.entries
        }
    }

    private func write(_ lines: inout [UInt8], weight: inout Int) {
        guard !lines.isEmpty else { return }
        let (count, failure) = file.withLock { file in
            file?.write(lines) ?? (0, LogFile.Failure(description: "The log is closed."))
        }
        let lost = lines[count...].reduce(Int64(0)) { $0 + ($1 == UInt8(ascii: "\n") ? 1 : 0) }
        let (isFirst, recovered) = backlog.withLock { backlog in
            backlog.weight -= weight
            if failure != nil { return (backlog.drop(lost), Int64?.none) }
            return (false, backlog.weight < Self.capacity / 2 ? backlog.recover() : nil)
        }
        if let failure, isFirst { tell(failure.description) }
        if let recovered {
            logger.notice("the access log is written again", metadata: ["lost": "\(recovered)"])
        }
        (lines, weight) = ([], 0)
    }

    private func tell(_ reason: String) {
        logger.warning(
            "lines of the access log are lost until it can be written again",
            metadata: ["file": "\(path)", "reason": "\(reason)"])
    }
}
