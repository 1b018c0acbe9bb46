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
/// One task changes it at a time.
final class Cluster {
    static let haproxy = ChildProcess.path(of: "haproxy")

    let origin: TestOrigin
    /// HAProxy's port.
    let port: Int
    private(set) var ports: [String: Int] = [:]
    private let folder: TemporaryDirectory
    private let options: [String]
    /// HAProxy's socket, which each of its processes gets.
    private let socket: Int32
    private var nodes: [String: ChildProcess] = [:]
    private(set) var balancer: ChildProcess?
    private var retired: [ChildProcess] = []
    /// For seeds and names that were not used before.
    private var count = 1000

    private init(options: (_ port: Int) -> [String]) async throws {
        origin = try await TestOrigin.start()
        folder = try TemporaryDirectory()
        socket = try PassedSocketTests.bound()
        try #require(listen(socket, 64) == 0)
        port = try PassedSocket(listening: socket).port
        self.options = options(port)
        for name in ["n1", "n2", "n3"] { try await start(name) }
        try await startBalancer()
    }

    /// Starts HAProxy with all nodes; one that runs ends when its answers have ended, as on a reload.
    ///
    /// `serverTimeout` stands in place of the deployment's.
    func startBalancer(serverTimeout: String? = nil) async throws {
        let file = folder.path + "/haproxy.cfg"
        try configuration(serverTimeout).write(toFile: file, atomically: true, encoding: .utf8)
        var arguments = ["-f", file, "-db"]
        if let balancer {
            arguments += ["-sf", "\(balancer.identifier)"]
            retired.append(balancer)
        }
        let child = try ChildProcess(try #require(Self.haproxy), arguments, passing: socket)
        balancer = child
        await eventually { (try? await self.statistics("show info").contains("Pid: \(child.identifier)")) == true }
    }

    /// That of the deployment, for these nodes and for the socket that HAProxy gets.
    private func configuration(_ serverTimeout: String?) throws -> String {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(contentsOf: root.appendingPathComponent("Deploy/cluster/haproxy.cfg"), encoding: .utf8)
        let files = try #require(text.range(of: "\n# How the nodes are"))
        var lines = ["global", "  stats socket \(folder.path)/haproxy.sock mode 600"]
        for line in text[..<files.lowerBound].split(separator: "\n", omittingEmptySubsequences: false) {
            let words = line.split(separator: " ")
            switch words.first {
            case "bind": lines.append("  bind fd@3")
            case "log", "server": continue
            case "timeout" where words[1] == "server" && serverTimeout != nil:
                lines.append("  timeout server \(serverTimeout ?? "")")
            default: lines.append(String(line))
            }
        }
        // The section of the nodes is the last one.
        lines += ports.sorted { $0.key < $1.key }.map { name, port in
            "  server \(name) 127.0.0.1:\(port) id \(name.dropFirst())"
        }
        return lines.joined(separator: "\n") + "\n"
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

    /// As ``run(options:_:)``, with a server whose only parent is HAProxy.
    static func runWithEdge(_ body: (Cluster, Serving) async throws -> Void) async throws {
        try await run { cluster async throws in
            let directory = try TemporaryDirectory()
            defer { directory.remove() }
            let options = [
                "--name", "edge", "--parent", "http://127.0.0.1:\(cluster.port)", "--parent-fallback", "none",
            ]
            try await Serving.run(directory, options) { edge async throws in try await body(cluster, edge) }
        }
    }

    private func stop() async {
        for child in retired + [balancer].compactMap(\.self) + nodes.values {
            child.send(SIGKILL)
            _ = await child.outcome()
        }
        close(socket)
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

    /// What HAProxy says on its socket.
    private func statistics(_ command: String) async throws -> String {
        let client = try RawClient(path: folder.path + "/haproxy.sock")
        try await client.send(command + "\n")
        return String(decoding: try await client.upTo(1 << 20), as: UTF8.self)
    }

    /// Waits until HAProxy counts a node as there, or as away.
    func wait(until isUp: Bool, _ name: String) async {
        await eventually {
            let lines = (try? await statistics("show stat").split(separator: "\n")) ?? []
            let columns = lines.map { $0.split(separator: ",", omittingEmptySubsequences: false) }
            let state = columns.first { $0.count > 17 && $0[0] == "nodes" && $0[1] == name }?[17]
            return isUp ? state == "UP" : state == "DOWN"
        }
    }

    /// Removes all that a node that has ended had stored.
    func empty(_ name: String) throws { try FileManager.default.removeItem(atPath: folder.path + "/" + name) }

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

    /// A new file of `owner`, with the seed of its bytes, which the origin stops sending after `held` bytes.
    func held(by owner: String, length: Int64, at held: Int64) async throws -> (path: String, seed: UInt64) {
        while true {
            count += 1
            let path = "/held\(count).mp4"
            publish(path, seed: UInt64(count), length: length)
            guard try await isOwned(path, by: owner) else { continue }
            origin.hold(path, at: held)
            return (path, UInt64(count))
        }
    }

    /// Puts the bytes of a pattern at `path` of the origin.
    func publish(_ path: String, seed: UInt64, length: Int64, etag: String = "\"v1\"") {
        let type = StreamMedia.type(of: path)
        origin.set(TestOrigin.Resource(.pattern(seed: seed, length: length), mediaType: type, etag: etag), at: path)
    }

    /// Whether a file of the origin is a node's, which gets no byte of it by that.
    func isOwned(_ path: String, by name: String) async throws -> Bool {
        // Whose it is does not depend on the query, but the key does.
        try await owner(of: path + "?probe") == name
    }
}
