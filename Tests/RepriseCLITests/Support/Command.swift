import Foundation
import HTTPTypes
import RepriseTesting
import TestSupport
import Testing

/// The real `reprise`, as a process.
enum Command {
    /// The binary that was built with the tests; it lies beside them.
    static var path: String {
        get throws {
            let bundles = Bundle.allBundles.map(\.bundlePath).filter { $0.hasSuffix(".xctest") }
            let candidates = (bundles + CommandLine.arguments).map {
                URL(fileURLWithPath: $0).deletingLastPathComponent().appendingPathComponent("reprise").path
            }
            return try #require(
                candidates.first { FileManager.default.isExecutableFile(atPath: $0) }, "no reprise in \(candidates)")
        }
    }

    /// This process's environment without settings for the command, which does not wait for others.
    static func environment(_ more: [String: String] = [:]) -> [String: String] {
        ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("REPRISE_") }
            .merging(["SWIFT_BACKTRACE": "enable=no", "COLUMNS": "80", "REPRISE_WAIT": "0s"]) { $1 }
            .merging(more) { $1 }
    }

    /// Runs `reprise` with `arguments` to its end; the words of `prefix`, such as another program's, come before it.
    @discardableResult
    static func run(
        _ arguments: [String], environment: [String: String] = [:], prefix: [String] = []
    ) async throws -> ChildProcess.Outcome {
        let command = prefix + [try path] + arguments
        // It prints every variable that is set.
        let environment = (arguments.first == "config" ? ["REPRISE_WAIT": ""] : [:]).merging(environment) { $1 }
        return try await ChildProcess.run(
            command[0], Array(command.dropFirst()), environment: self.environment(environment))
    }

    /// Runs `reprise SUBCOMMAND --cache-dir DIRECTORY ARGUMENTS…` to its end.
    @discardableResult
    static func run(
        _ subcommand: String, _ directory: TemporaryDirectory, _ arguments: [String] = [],
        environment: [String: String] = [:], prefix: [String] = []
    ) async throws -> ChildProcess.Outcome {
        try await run(
            [subcommand, "--cache-dir", directory.path] + arguments, environment: environment, prefix: prefix)
    }

    /// The lines of JSON that `outcome` has on standard output.
    static func json<T: Decodable>(_ type: T.Type, _ outcome: ChildProcess.Outcome) throws -> [T] {
        try outcome.output.split(separator: "\n").map { try JSONDecoder().decode(T.self, from: Data($0.utf8)) }
    }
}

/// A line of `list --json` and `show --json`.
struct Entry: Decodable {
    let url: String
    let key: String
    let storedBytes: Int64
    let completeLength: Int64?
    let complete: Bool
    let kept: String?
    let keptUntil: Double?
    let keptFirst: String?
    let mediaType: String?
    let etag: String?
    let spans: [[Int64]]?
}

/// A cache directory and an origin, for one test.
struct Site {
    let origin: TestOrigin
    let directory: TemporaryDirectory

    static func run(sendBufferSize: Int? = nil, _ body: (Site) async throws -> Void) async throws {
        let site = Site(
            origin: try await TestOrigin.start(sendBufferSize: sendBufferSize), directory: try TemporaryDirectory())
        let result: Result<Void, any Error>
        do { result = .success(try await body(site)) } catch { result = .failure(error) }
        await site.origin.stop()
        site.directory.remove()
        try result.get()
    }

    /// Puts pattern bytes at `path` of the origin.
    func publish(_ path: String, length: Int64, fields: HTTPFields = [:]) {
        origin.set(
            TestOrigin.Resource(.pattern(seed: 1, length: length), mediaType: "video/mp4", fields: fields), at: path)
    }

    /// Publishes 3 MB at `path`, and leaves a download of them behind that was ended at the first; returns the URL.
    func beginDownload(of path: String) async throws -> String {
        publish(path, length: 3_000_000)
        origin.hold(path, at: 1_000_000)
        let url = origin.url(path)
        let child = try ChildProcess(
            Command.path, ["download", "--cache-dir", directory.path, url],
            environment: Command.environment())
        await origin.waitUntil { $0[path].bodyBytesSent >= 1_000_000 }
        child.send(SIGTERM)
        _ = await child.outcome()
        origin.release(path)
        return url
    }

    /// What to ask a proxy for to get `path` of the origin.
    func target(_ path: String) -> String { "/http/127.0.0.1:\(origin.port)\(path)" }
}

/// A running `reprise serve`.
struct Serving {
    let child: ChildProcess
    let port: Int

    /// Starts `reprise serve`, waits until it says where it listens, runs `body`, ends it with SIGTERM.
    ///
    /// `descriptors` is the most that it may have open; the words of `prefix`, such as another program's, come before
    /// it. `passing` becomes its descriptor 3, as a service manager passes a socket.
    @discardableResult
    static func run(
        _ arguments: [String], environment: [String: String] = [:], descriptors: Int? = nil, passing: Int32? = nil,
        prefix: [String] = [], _ body: (Serving) async throws -> Void
    ) async throws -> ChildProcess.Outcome {
        var command = prefix + [try Command.path, "serve"] + arguments
        if let descriptors { command = ["/bin/sh", "-c", "ulimit -n \(descriptors); exec \"$0\" \"$@\""] + command }
        if passing != nil { command = ["/bin/sh", "-c", "export LISTEN_PID=$$; exec \"$0\" \"$@\""] + command }
        let child = try ChildProcess(
            command[0], Array(command.dropFirst()), environment: Command.environment(environment), passing: passing,
            limit: .seconds(500))
        do {
            let text = await child.output.wait { $0.contains("/film.mp4\n") }
            let place = text.firstMatch(of: /listening on https?:\/\/127\.0\.0\.1:(\d+)(?:\/\S*)?\n/)
            let port = place.flatMap { Int($0.1) }
            try await body(Serving(child: child, port: #require(port, "\(text) \(child.errors.text)")))
        } catch {
            child.send(SIGKILL)
            _ = await child.outcome()
            throw error
        }
        child.send(SIGTERM)
        return await child.outcome()
    }

    @discardableResult
    static func run(
        _ directory: TemporaryDirectory, _ options: [String] = [], environment: [String: String] = [:],
        _ body: (Serving) async throws -> Void
    ) async throws -> ChildProcess.Outcome {
        try await run(["--port", "0", "--cache-dir", directory.path] + options, environment: environment, body)
    }

    /// Runs `reprise serve`, and `body` with a client that has read the first `held` bytes of an answer; the origin
    /// holds the others.
    static func runInTheMiddleOfAnAnswer(
        _ site: Site, _ options: [String], held: Int64 = 1 << 20, _ body: (Serving, RawClient) async throws -> Void
    ) async throws -> ChildProcess.Outcome {
        site.publish("/film.mp4", length: 8 << 20)
        site.origin.hold("/film.mp4", at: held)
        return try await run(site.directory, options) { serving async throws in
            let client = try RawClient(port: serving.port)
            try await client.get(site.target("/film.mp4"))
            #expect(try await client.head().status == 200)
            #expect(try await client.skip(Int(held)) == Int(held))
            try await body(serving, client)
        }
    }

    func get(_ target: String, _ fields: [String] = []) async throws -> (head: RawClient.Head, body: [UInt8]) {
        try await RawClient.exchange(port: port, target, fields)
    }

    /// The status and the text of the answer to `POST /-/api/PATH`, with a body of JSON.
    func post(_ path: String, _ body: String) async throws -> (status: Int, line: String) {
        let client = try RawClient(port: port)
        try await client.send(
            "POST /-/api/\(path) HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                + "Content-Length: \(body.utf8.count)\r\n\r\n" + body)
        let status = try await client.head().status
        return (status, String(decoding: try await client.upTo(1 << 16), as: UTF8.self))
    }
}
