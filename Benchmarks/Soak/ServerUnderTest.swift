import Foundation

/// A `reprise serve` in its own process.
final class ServerUnderTest {
    /// A server's resource usage at one moment.
    struct Sample: Codable {
        /// Resident memory, in bytes.
        var memory: Int64
        var descriptors: Int
        var threads: Int
        /// Processor time since the start, in seconds.
        var processorTime: Double
        /// Bytes that the directory occupies on disk.
        var stored: Int64
    }

    let port: Int
    /// Its output on standard error.
    let log: String
    private let process: Process
    private let directory: String

    /// Starts a server on a free port and waits until it listens.
    ///
    /// - Parameters:
    ///   - executable: The program.
    ///   - directory: For the cache and the log.
    ///   - options: Further arguments of `reprise serve`.
    /// - Throws: `SoakError` or the system's error if it does not start.
    init(_ executable: String, directory: String, options: [String]) throws {
        self.directory = directory + "/cache"
        log = directory + "/server.log"
        try FileManager.default.createDirectory(atPath: self.directory, withIntermediateDirectories: true)
        guard FileManager.default.createFile(atPath: log, contents: nil), let errors = FileHandle(forWritingAtPath: log)
        else { throw SoakError("cannot write \(log)") }
        process = Process()
        process.executableURL = URL(fileURLWithPath: executable)
        process.arguments = ["serve", "--port", "0", "--cache-dir", self.directory] + options
        let output = Pipe()
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        var text = ""
        while !text.contains("Cache: ") {
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { throw SoakError("the server does not start: see \(log)") }
            text += String(decoding: data, as: UTF8.self)
        }
        guard let address = text.split(whereSeparator: \.isWhitespace).first(where: { $0.hasPrefix("http://") }),
            let port = address.split(separator: ":").last.flatMap({ Int($0) })
        else { throw SoakError("the server did not say where it listens: \(text)") }
        self.port = port
    }

    /// Whether it is still running.
    var isAlive: Bool { process.isRunning }

    /// Asks it to stop, and waits; kills it after half a minute.
    func stop() {
        guard process.isRunning else { return }
        process.terminate()
        let deadline = Uptime.seconds + 30
        while process.isRunning, Uptime.seconds < deadline { Thread.sleep(forTimeInterval: 0.05) }
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
    }

    /// Its `/-/status.json`; `nil` if it does not answer in a quarter of a minute.
    var status: Data? {
        guard let socket = try? Socket.connect(port: port, receiveBuffer: 64 << 10, timeout: 15),
            socket.send("GET /-/status.json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        else { return nil }
        var reader = MessageReader(socket)
        var body = Data()
        guard let head = (try? reader.head()) ?? nil, let length = head["content-length"].flatMap({ Int64($0) }),
            (try? reader.body(.length(length), most: 64 << 10) { body.append(contentsOf: $0) }) != nil
        else { return nil }
        return body
    }

    /// How it ended, for messages.
    var end: String {
        process.terminationReason == .uncaughtSignal
            ? "signal \(process.terminationStatus)" : "status \(process.terminationStatus)"
    }

    /// Its current resource usage; `nil` without /proc, which only Linux has, or after it has ended.
    var sample: Sample? {
        let folder = "/proc/\(process.processIdentifier)"
        guard let status = try? String(contentsOfFile: folder + "/status", encoding: .utf8),
            let times = try? String(contentsOfFile: folder + "/stat", encoding: .utf8),
            let memory = Self.number("VmRSS:", in: status), let threads = Self.number("Threads:", in: status),
            let descriptors = try? FileManager.default.contentsOfDirectory(atPath: folder + "/fd").count
        else { return nil }
        let ticks = times.split(separator: ")").last?.split(separator: " ").dropFirst(11).prefix(2).compactMap {
            Double($0)
        }
        return Sample(
            memory: memory << 10, descriptors: descriptors, threads: Int(threads),
            processorTime: (ticks ?? []).reduce(0, +) / Double(sysconf(Int32(_SC_CLK_TCK))), stored: storedBytes)
    }

    private static func number(_ name: String, in status: String) -> Int64? {
        let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int64($0) }
    }

    /// Bytes of the blocks of all files, as `du` counts them; files that vanish during the count are ignored.
    private var storedBytes: Int64 {
        let names = FileManager.default.enumerator(atPath: directory)?.compactMap { $0 as? String } ?? []
        return names.reduce(0) { sum, name in
            var status = stat()
            guard lstat("\(directory)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return sum }
            return sum + Int64(status.st_blocks) * 512
        }
    }
}
