import ArgumentParser
import Foundation
import HTTPTypes
import Primitives
import Reprise

/// A program of the user that is asked for fresh request fields and URLs (`--authorize-command`).
///
/// URLs and reasons go to it in environment variables, because everybody on the machine can see arguments.
struct AuthorizeCommand: Sendable {
    private let path: String
    private let limit: DispatchTimeInterval

    /// The most bytes that it may print.
    private static let longestOutput = 64 << 10

    /// Finds the program, which may take as long as `limit`; throws a reason with code 127 if there is none.
    init(_ name: String, limit: DispatchTimeInterval = .seconds(30)) throws {
        self.limit = limit
        guard let path = Programs.path(of: name) else {
            if name.contains("/"), FileManager.default.fileExists(atPath: name) {
                throw Self.usage("\(name) is not executable. If it is the program: chmod +x \(name)")
            }
            throw Failure.Reason(
                code: ExitCode(127), name: "noProgram",
                message: "There is no program \(name). Name one in PATH, or give its path, with --authorize-command.")
        }
        guard !Programs.isText(path) else {
            throw Self.usage("\(path) is a text, and no script: a script begins with a line such as #!/bin/sh.")
        }
        self.path = path
    }

    private static func usage(_ message: String) -> Failure.Reason {
        Failure.Reason(code: ExitCode(64), name: "invalidArgument", message: "--authorize-command: \(message)")
    }

    /// What the program prints for `request`; `nil` if that is nothing.
    ///
    /// Throws ``Problem`` if it fails, takes too long, or prints something else than fields and a URL.
    func answer(_ request: AuthorizationRequest) async throws -> Authorization? {
        let reason =
            switch request.reason {
            case .downloadStarts: "start"
            case .refused(let status): "\(status)"
            }
        let variables = ["REPRISE_URL": "\(request.url)", "REPRISE_REASON": reason]
        return try Self.parse(try await output(variables).get())
    }

    /// What is wrong with the program, without what it printed: that may be a secret.
    struct Problem: LocalizedError {
        let errorDescription: String?

        init(_ description: String) { errorDescription = description }
    }

    /// The variables of this process without those whose values are its own secrets.
    static func environment(_ variables: [String: String]) -> [String: String] {
        let secrets = Set(SettingTable.all.filter { $0.traits.isSecret || $0.traits.shown != nil }.map(\.variable))
        return variables.filter { !secrets.contains($0.key) }
    }

    /// What the program prints until it ends, on a thread of its own.
    ///
    /// When it ends, its time is over or it prints too much, it is killed with all that it has started.
    private func output(_ variables: [String: String]) async throws -> Result<String, Problem> {
        let output = Promise<Result<String, Problem>>()
        let pipe = Pipe()
        for end in [pipe.fileHandleForReading, pipe.fileHandleForWriting] {
            // Other programs that are started would hold it open.
            _ = fcntl(end.fileDescriptor, F_SETFD, FD_CLOEXEC)
        }
        let surroundings = RunningProgram.Surroundings(
            environment: Self.environment(ProcessInfo.processInfo.environment).merging(variables) { $1 },
            output: pipe.fileHandleForWriting.fileDescriptor)
        let program: RunningProgram
        do { program = try RunningProgram(path, arguments: [], surroundings: surroundings) } catch {
            let reason = (error as? Failure.Reason)?.message ?? "\(path) cannot be started."
            throw Problem("\(reason) Is it a program for this system, and is the one there that its first line names?")
        }
        // The end of the pipe is that of the program then.
        try? pipe.fileHandleForWriting.close()
        AskedPrograms.add(program, path: path)
        let running = Running(program: program, pipe: pipe, deadline: .now() + limit)
        Thread.detachNewThread { running.waitForEnd() }
        Thread.detachNewThread { [path] in output.fulfill(running.output(of: path)) }
        return try await output.wait()
    }

    /// A process that one thread reads from and another one waits for.
    private final class Running: Sendable {
        private let program: RunningProgram
        private let pipe: Pipe
        private let deadline: DispatchTime
        private let code = Mutex<Int32?>(nil)
        private let ended = DispatchSemaphore(value: 0)

        init(program: RunningProgram, pipe: Pipe, deadline: DispatchTime) {
            (self.program, self.pipe, self.deadline) = (program, pipe, deadline)
        }

        /// Returns when it has ended.
        func waitForEnd() {
            let code = program.waitForEnd()
            self.code.withLock { $0 = code }
            ended.signal()
        }

        /// What it prints; it has ended or was killed afterwards.
        func output(of path: String) -> Result<String, Problem> {
            defer {
                program.kill()
                AskedPrograms.remove(program)
            }
            let tooLong = Problem("\(path) took too long.")
            var bytes: [UInt8] = []
            do {
                while let piece = try read() {
                    guard !piece.isEmpty else { return .failure(tooLong) }
                    bytes += piece
                    guard bytes.count <= AuthorizeCommand.longestOutput else {
                        // It waits for someone to read the rest.
                        return .failure(
                            Problem("\(path) printed more than \(AuthorizeCommand.longestOutput >> 10) KiB."))
                    }
                }
            } catch { return .failure(Problem("What \(path) prints cannot be read: \(error.localizedDescription).")) }
            guard ended.wait(timeout: deadline) == .success else { return .failure(tooLong) }
            let code = code.withLock { $0 } ?? 0
            guard code == 0 else { return .failure(Problem("\(path) failed with status \(code).\(Self.hint(code))")) }
            return .success(String(decoding: bytes, as: UTF8.self))
        }

        /// What shells mean by a status.
        private static func hint(_ code: Int32) -> String {
            code == 127 ? " It may not have found a program that it calls." : ""
        }

        /// The next bytes that it prints; none when its time is over, `nil` at the end.
        private func read() throws(POSIXError) -> [UInt8]? {
            var event = pollfd(fd: pipe.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let now = DispatchTime.now()
                guard now < deadline else { return [] }
                let milliseconds = (deadline.uptimeNanoseconds - now.uptimeNanoseconds) / 1_000_000 + 1
                guard poll(&event, 1, Int32(clamping: milliseconds)) > 0 else { continue }
                let count = Foundation.read(event.fd, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
                return count == 0 ? nil : Array(buffer[..<count])
            }
        }
    }

    /// The fields and the URL in `output`, each on a line.
    static func parse(_ output: String) throws -> Authorization? {
        var authorization = Authorization()
        var fields: [String] = []
        for line in output.split(whereSeparator: \.isNewline).map({ $0.trimmingCharacters(in: .whitespaces) }) {
            if line.isEmpty { continue }
            if line.hasPrefix("http://") || line.hasPrefix("https://") {
                guard let url = try? ResourceURL(line) else {
                    throw Problem("--authorize-command printed a URL that cannot be fetched.")
                }
                authorization.url = url
            } else {
                fields.append(line)
            }
        }
        do { authorization.fields = try HeaderFields.parse(fields) } catch {
            throw Problem(
                "--authorize-command printed a line that is neither \"Name: value\" nor a URL.")
        }
        if let own = authorization.fields.first(where: { HeaderFields.isOwn($0.name) }) {
            throw Problem("--authorize-command printed \(own.name), a field that Reprise sends itself.")
        }
        return authorization.fields.isEmpty && authorization.url == nil ? nil : authorization
    }
}
