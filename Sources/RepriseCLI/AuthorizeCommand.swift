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
            throw Failure.Reason(
                code: ExitCode(127), name: "noProgram",
                message: "There is no program \(name). Name one in PATH, or give its path, with --authorize-command.")
        }
        self.path = path
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

    /// What the program prints until it ends, on a thread of its own.
    ///
    /// When its time is over, it is killed; nothing is waited for then, because a program that it started may keep the
    /// pipe open.
    private func output(_ variables: [String: String]) async throws -> Result<String, Problem> {
        let output = Promise<Result<String, Problem>>()
        let (process, pipe) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: path)
        process.environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
        process.standardOutput = pipe
        process.standardInput = FileHandle.nullDevice
        do { try process.run() } catch { throw Problem("\(path) cannot be started: \(error).") }
        let running = Running(process: process, pipe: pipe)
        DispatchQueue.global().asyncAfter(deadline: .now() + limit) { [path] in
            guard output.fulfill(.failure(Problem("\(path) took too long."))), running.process.isRunning else { return }
            kill(running.process.processIdentifier, SIGKILL)
        }
        Thread.detachNewThread { [path] in output.fulfill(running.output(of: path)) }
        return try await output.wait()
    }

    /// A process that one thread reads from and waits for.
    private struct Running: @unchecked Sendable {
        let process: Process
        let pipe: Pipe

        func output(of path: String) -> Result<String, Problem> {
            let data: Data
            do { data = try pipe.fileHandleForReading.read(upToCount: AuthorizeCommand.longestOutput) ?? Data() } catch
            {
                return .failure(Problem("What \(path) prints cannot be read: \(error)."))
            }
            process.waitUntilExit()
            guard process.terminationReason == .exit, process.terminationStatus == 0 else {
                return .failure(Problem("\(path) failed with status \(process.terminationStatus)."))
            }
            return .success(String(decoding: data, as: UTF8.self))
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
        return authorization.fields.isEmpty && authorization.url == nil ? nil : authorization
    }
}
