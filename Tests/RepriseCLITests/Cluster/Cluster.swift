import Foundation
import HTTPTypes
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseCLI

/// Three servers and an origin, with a real HAProxy before them.
///
/// One task uses it at a time.
final class Cluster {
    static let haproxy = ChildProcess.path(of: "haproxy") ?? (["/usr/sbin/haproxy"].first(where: isExecutable))

    private static func isExecutable(_ path: String) -> Bool { FileManager.default.isExecutableFile(atPath: path) }

    let origin: TestOrigin
    /// HAProxy's port.
    let port: Int
    private(set) var ports: [String: Int] = [:]
    private let folder: TemporaryDirectory
    private let options: [String]
    private var nodes: [String: ChildProcess] = [:]
    private var balancer: ChildProcess?
    /// For seeds and names that were not used before.
    private var count = 1000

    private init(options: (_ port: Int) -> [String]) async throws {
        origin = try await TestOrigin.start()
        folder = try TemporaryDirectory()
        let socket = try PassedSocketTests.bound()
        defer { close(socket) }
        try #require(listen(socket, 64) == 0)
        port = try PassedSocket(listening: socket).port
        self.options = options(port)
        for name in ["n1", "n2", "n3"] { try await start(name) }
        let file = folder.path + "/haproxy.cfg"
        try Self.configuration(ports).write(toFile: file, atomically: true, encoding: .utf8)
        balancer = try ChildProcess(try #require(Self.haproxy), ["-f", file, "-db"], passing: socket)
        await eventually { (try? await RawClient.exchange(port: self.port, "/").head.status) == 404 }
    }

    /// That of the deployment, for these ports and for the socket that HAProxy gets.
    private static func configuration(_ ports: [String: Int]) throws -> String {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(contentsOf: root.appendingPathComponent("Deploy/cluster/haproxy.cfg"), encoding: .utf8)
        let files = try #require(text.range(of: "\n# How the nodes are"))
        return text[..<files.lowerBound].split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let words = line.split(separator: " ")
            if words.first == "bind" { return "  bind fd@3" }
            if words.first == "log" { return "" }
            guard words.first == "server", let port = ports[String(words[1])] else { return String(line) }
            return "  server \(words[1]) 127.0.0.1:\(port) \(words[3...].joined(separator: " "))"
        }.joined(separator: "\n") + "\n"
    }

    static func run(
        options: (_ port: Int) -> [String] = { _ in [] }, _ body: (Cluster) async throws -> Void
    ) async throws {
        let cluster = try await Cluster(options: options)
        let result: Result<Void, any Error>
        do { result = .success(try await body(cluster)) } catch { result = .failure(error) }
        await cluster.stop()
        try result.get()
    }

    private func stop() async {
        for child in [balancer] + nodes.values.map(Optional.some) {
            child?.send(SIGKILL)
            _ = await child?.outcome()
        }
        await origin.stop()
        folder.remove()
    }

    /// Starts the node called `name`, with the port and the cache that it had.
    func start(_ name: String) async throws {
        let child = try ChildProcess(
            Command.path,
            [
                "serve", "--name", name, "--port", "\(ports[name] ?? 0)", "--cache-dir", folder.path + "/" + name,
                "--drain-delay", "3s", "--drop-query-item", "sig",
            ] + options, environment: Command.environment())
        nodes[name] = child
        let text = await child.output.wait { $0.contains("/film.mp4\n") }
        let place = text.firstMatch(of: /listening on http:\/\/127\.0\.0\.1:(\d+)/)
        let found: Int = try #require(place.flatMap { Int($0.1) }, "\(text) \(child.errors.text)")
        ports[name] = found
    }

    /// How many files are recorded as complete in the cache of a node.
    func completeFiles(of name: String) throws -> Int {
        try CacheInspector(directory: folder.path + "/" + name).entries().count { $0.isComplete }
    }

    func node(_ name: String) throws -> ChildProcess { try #require(nodes[name]) }

    func kill(_ name: String) async throws {
        try node(name).send(SIGKILL)
        _ = try await node(name).outcome()
    }

    /// What to ask for to get `path` of the origin.
    func target(_ path: String) -> String { "/http/127.0.0.1:\(origin.port)\(path)" }

    func get(_ path: String, _ fields: [String] = []) async throws -> (head: RawClient.Head, body: [UInt8]) {
        try await RawClient.exchange(port: port, target(path), fields)
    }

    /// The node that answers for `path`.
    func owner(of path: String) async throws -> String {
        let head = try await get(path, ["Range: bytes=0-0"]).head
        return head.fields["cache-status"]?.prefix { $0 != ";" }.description ?? "\(head.status)"
    }

    /// A new file of `owner`, with the seed of its bytes, which the origin stops sending after `count` bytes.
    func held(by owner: String, length: Int64, at held: Int64) async throws -> (path: String, seed: UInt64) {
        while true {
            count += 1
            let path = "/held\(count).mp4"
            origin.set(
                TestOrigin.Resource(.pattern(seed: UInt64(count), length: length), mediaType: "video/mp4"), at: path)
            // Whose it is does not depend on the query, but the key does.
            guard try await self.owner(of: path + "?probe") == owner else { continue }
            origin.hold(path, at: held)
            return (path, UInt64(count))
        }
    }
}
