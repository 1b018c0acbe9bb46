import Dispatch
import Foundation
import Logging
import Primitives
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// The file of an access log: rotation, full disks, readers that do not read.
@Suite(.limit(minutes: 2)) struct AccessLogTests {
    private static func entry(_ number: Int, url: String = "/") -> AccessLogEntry {
        AccessLogEntry(
            request: LoggedRequest(malformedFrom: "client-\(number)", at: 0), status: 200, bytes: Int64(number),
            served: SourceBytes(), firstByte: nil, duration: .zero, tokenName: nil, cacheStatus: nil)
    }

    /// The numbers of the lines in the file at `path`; throws if one is no JSON.
    private static func numbers(_ path: String) throws -> [Int] {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(text.isEmpty || text.hasSuffix("\n"))
        return try text.split(separator: "\n").map { line in
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return try #require(object?["bytes"] as? Int)
        }
    }

    private static func mode(_ path: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    @Test func linesAreAppendedInOrder() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let path = directory.path + "/access.log"
        for round in 0..<2 {
            let log = try AccessLog(path: path, format: .json, logger: Logger(label: "test"))
            for number in 0..<1000 { log.add(Self.entry(round * 1000 + number)) }
            await log.close(within: .seconds(300))
        }
        #expect(try Self.numbers(path) == Array(0..<2000))
        #expect(try Self.mode(path) == 0o600)
    }

    @Test("a file that is moved away and opened again, twenty times: no line is lost, none twice") func rotation()
        async throws
    {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let path = directory.path + "/access.log"
        let log = try AccessLog(path: path, format: .json, logger: Logger(label: "test"))
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<4 {
                group.addTask {
                    for number in 0..<2500 {
                        log.add(Self.entry(task * 2500 + number))
                        if number % 100 == 0 { await Task.yield() }
                    }
                }
            }
            for round in 0..<20 {
                // Fails as long as the file of the round before has not been made.
                await eventually { rename(path, path + ".\(round)") == 0 }
                log.reopen()
            }
        }
        await log.close(within: .seconds(300))
        let files = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        #expect(files.count >= 20)
        let lines = try files.flatMap { try Self.numbers(directory.path + "/" + $0) }
        #expect(lines.sorted() == Array(0..<10_000))
        #expect(log.droppedLines == 0)
    }

    @Test func aFileThatCannotBeOpenedAgainIsWrittenFurther() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let folder = directory.path + "/logs"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let (logger, lines) = RecordedLog.logger()
        let log = try AccessLog(path: folder + "/access.log", format: .json, logger: logger)
        log.add(Self.entry(1))
        try FileManager.default.moveItem(atPath: folder, toPath: directory.path + "/moved")
        log.reopen()
        log.add(Self.entry(2))
        await log.close(within: .seconds(300))
        #expect(try Self.numbers(directory.path + "/moved/access.log") == [1, 2])
        #expect(lines.all.filter { $0.contains("cannot be opened again") }.count == 1)
    }

    @Test func whatComesAfterItsEndIsDropped() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let log = try AccessLog(path: directory.path + "/a", format: .json, logger: Logger(label: "test"))
        await log.close(within: .seconds(300))
        log.add(Self.entry(1))
        log.reopen()
        await log.close(within: .seconds(300))
        #expect(log.droppedLines == 1)
        #expect(try Self.numbers(directory.path + "/a").isEmpty)
    }

    @Test func aFileThatCannotBeMadeIsNamed() throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let path = directory.path + "/no/folder/a"
        let error = #expect(throws: RepriseError.self) {
            try AccessLog(path: path, format: .json, logger: Logger(label: "test"))
        }
        #expect(error?.message.contains(path) == true)
    }

    #if os(Linux)
        @Test("a full disk is told once, and lines are counted") func fullDisk() async throws {
            let (logger, lines) = RecordedLog.logger()
            let log = try AccessLog(path: "/dev/full", format: .json, logger: logger)
            for number in 0..<500 {
                log.add(Self.entry(number))
                if number % 50 == 0 { await eventually { log.droppedLines > number / 2 } }
            }
            await eventually { log.droppedLines == 500 }
            await log.close(within: .seconds(300))
            #expect(lines.all.filter { $0.contains("are lost") }.count == 1)
        }
    #endif

    @Test("a pipe that no program reads is refused, and is not waited for") func unreadPipe() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let path = directory.path + "/pipe"
        try #require(mkfifo(path, 0o600) == 0)
        let error = #expect(throws: RepriseError.self) {
            try AccessLog(path: path, format: .json, logger: Logger(label: "test"))
        }
        #expect(error?.message.contains("start its reader first") == true)
        // Opened again, a log whose reader is gone goes on with what it has.
        let reader = open(path, O_RDONLY | O_NONBLOCK)
        let (logger, lines) = RecordedLog.logger()
        let log = try AccessLog(path: path, format: .json, logger: logger)
        close(reader)
        log.reopen()
        await log.close(within: .seconds(300))
        #expect(lines.all.filter { $0.contains("cannot be opened again") }.count == 1)
    }

    @Test("lines that are not written when the log is closed are counted and told") func closedTooLate() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let path = directory.path + "/pipe"
        try #require(mkfifo(path, 0o600) == 0)
        let reader = open(path, O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        let (logger, told) = RecordedLog.logger()
        let log = try AccessLog(path: path, format: .json, logger: logger)
        // More than a pipe has room for, and no more than may wait.
        let count: Int64 = 10_000
        for number in 0..<count { log.add(Self.entry(Int(number))) }
        #expect(log.droppedLines == 0)
        await log.close(within: .milliseconds(1))
        let dropped = log.droppedLines
        #expect(dropped > 0)
        #expect(told.all.filter { $0.contains("closed before all its lines") }.count == 1)
        log.add(Self.entry(0))
        #expect(log.droppedLines == dropped + 1)
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        await eventually {
            let got = read(reader, &buffer, buffer.count)
            if got > 0 { text += buffer[..<got] }
            return got == 0
        }
        // What was being written at that moment may have arrived, although it counts as lost.
        let arrived = Int64(text.filter { $0 == 0x0A }.count)
        #expect(arrived < count && arrived + dropped >= count)
        #expect(log.droppedLines == dropped + 1)
    }

    @Test("a pipe that never waits, as standard output may be, gets every line")
    func pipeThatNeverWaits() async throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        let (reader, writer) = (ends[0], ends[1])
        defer { close(reader) }
        try #require(fcntl(writer, F_SETFL, O_NONBLOCK) == 0)
        try #require(fcntl(reader, F_SETFL, O_NONBLOCK) == 0)
        let file = try LogFile(duplicating: writer)
        close(writer)
        let lines = [UInt8](repeating: 0x61, count: 999) + [0x0A]
        let all = Array(repeatElement(lines, count: 1000).joined())
        let outcome = Promise<Int>()
        DispatchQueue.global().async { [file] in
            var file = file
            outcome.fulfill(file.write(all).count)
            file.close()
        }
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        await eventually {
            let got = read(reader, &buffer, buffer.count)
            if got > 0 { text += buffer[..<got] }
            return got == 0
        }
        #expect(await outcome.value == all.count)
        #expect(text == all)
    }

    @Test(
        "part of a line is cut off unless others have written",
        arguments: [
            (150, 100, 50, 40, 140), (150, 100, 50, 0, 100), (160, 100, 50, 40, nil), (140, 100, 50, 40, nil),
            (nil, nil, 50, 40, nil), (150, nil, 50, 40, nil),
        ] as [(Int64?, Int64?, Int, Int, Int64?)])
    func cutOff(size: Int64?, before: Int64?, written: Int, whole: Int, end: Int64?) {
        #expect(LogFile.end(of: size, before: before, written: written, whole: whole) == end)
    }

    @Test("a reader that does not read: lines are dropped, memory is bounded, and it goes on when it reads again")
    func slowReader() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let path = directory.path + "/pipe"
        try #require(mkfifo(path, 0o600) == 0)
        let reader = open(path, O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        let (logger, lines) = RecordedLog.logger()
        let log = try AccessLog(path: path, format: .json, logger: logger)
        // 8 MiB may wait, of some 512 bytes each.
        let count = 50_000
        for number in 0..<count { log.add(Self.entry(number)) }
        let dropped = log.droppedLines
        #expect(dropped > Int64(count / 2))
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        func lineCount() -> Int { text.reduce(0) { $0 + ($1 == 0x0A ? 1 : 0) } }
        await eventually {
            let got = read(reader, &buffer, buffer.count)
            if got > 0 { text += buffer[..<got] }
            return lineCount() == count - Int(dropped)
        }
        await eventually { lines.all.contains { $0.contains("written again") } }
        #expect(lines.all.filter { $0.contains("are lost") }.count == 1)
        log.add(Self.entry(count))
        await eventually {
            let got = read(reader, &buffer, buffer.count)
            if got > 0 { text += buffer[..<got] }
            return text.suffix(2) == Array("}\n".utf8) && lineCount() == count - Int(dropped) + 1
        }
        await log.close(within: .seconds(300))
    }
}

/// A logger that keeps what it is told.
struct RecordedLog: LogHandler {
    /// The lines of a logger.
    final class Lines: Sendable {
        private let lines = Mutex<[String]>([])

        var all: [String] { lines.withLock { $0 } }

        fileprivate func add(_ line: String) { lines.withLock { $0.append(line) } }
    }

    let lines: Lines
    var metadata = Logger.Metadata()
    var logLevel = Logger.Level.info

    static func logger() -> (Logger, Lines) {
        let lines = Lines()
        return (Logger(label: "test") { _ in RecordedLog(lines: lines) }, lines)
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { lines.add("\(event.message)") }
}
