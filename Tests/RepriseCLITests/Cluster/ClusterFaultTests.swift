import Foundation
import HTTPTypes
import Primitives
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseCLI

/// What else happens to several servers behind HAProxy: they freeze, lose their disks and get a neighbor, files change,
/// and the way to the origin is cut.
///
/// One cluster serves all cases, because HAProxy takes seconds for each server that comes or goes.
@Suite(
    .serialized, .limit(minutes: 4),
    .enabled(if: Cluster.haproxy != nil, "haproxy is not installed; scripts/bootstrap test installs it"))
struct ClusterFaultTests {
    @Test("frozen, emptied, replaced, reloaded, cut off: no byte is wrong, and only what moved is fetched again")
    func faults() async throws {
        try await Cluster.runWithEdge { cluster, edge async throws in
            let site = try await FaultySite(cluster, edge: edge.port)
            try await site.freezeAndThaw()
            try await site.replaceAndEmpty()
            try await site.killDuringStreamsAndDownloads()
            try await site.cutTheLink()
            try await site.addNode()
        }
    }
}

/// A cluster with files that have been read, so that it is known who has them.
struct FaultySite {
    let cluster: Cluster
    /// The port of an edge in front of the cluster.
    let edge: Int
    let paths = (0..<20).map { "/film\($0).mp4" }
    /// Which node has a file.
    let owners: [String: String]
    let length: Int64 = 200_000
    /// How much of a held file comes.
    let part = 60_000

    init(_ cluster: Cluster, edge: Int) async throws {
        (self.cluster, self.edge) = (cluster, edge)
        for (number, path) in paths.enumerated() { cluster.publish(path, seed: UInt64(number), length: length) }
        var owners: [String: String] = [:]
        for path in paths { owners[path] = try await cluster.owner(of: path) }
        self.owners = owners
        try #require(Set(owners.values) == ["n1", "n2", "n3"])
        try await readAll()
    }

    func files(of name: String) -> [String] { paths.filter { owners[$0] == name } }

    /// Reads each file whole and compares it; returns how much more of each the origin has sent.
    @discardableResult
    func readAll(_ paths: [String]? = nil) async throws -> [String: Int64] {
        let before = cluster.origin.snapshot
        for path in paths ?? self.paths {
            let client = try await ResumingClient(port: cluster.port, cluster.target(path))
            try await client.readAll()
            #expect(client.has(seed: try seed(of: path)) && client.heads.count == 1, "\(path)")
        }
        let after = await cluster.origin.settledSnapshot()
        return Dictionary(
            uniqueKeysWithValues: self.paths.map { ($0, after[$0].bodyBytesSent - before[$0].bodyBytesSent) })
    }

    func seed(of path: String) throws -> UInt64 { UInt64(try #require(paths.firstIndex(of: path))) }

    /// Clients of the balancer and of the edge, each in the middle of a file of its own that `owner` fetches.
    func clientsInMidBody(
        of owner: String
    ) async throws -> [(client: ResumingClient, path: String, seed: UInt64)] {
        var clients: [(ResumingClient, String, UInt64)] = []
        for port in [cluster.port, edge] {
            let (path, seed) = try await cluster.held(by: owner, length: length, at: Int64(part))
            let client = try await ResumingClient(port: port, cluster.target(path))
            try await client.read(upTo: part)
            clients.append((client, path, seed))
        }
        return clients
    }

    func start(_ name: String) async throws {
        try await cluster.start(name)
        await cluster.wait(until: true, name)
    }

    // MARK: - The cases

    /// SIGSTOP: for less than HAProxy's `timeout server` its clients wait, after that they go on elsewhere.
    func freezeAndThaw() async throws {
        let brief = try await clientsInMidBody(of: "n1")
        try cluster.node("n1").freeze()
        for (_, path, _) in brief { cluster.origin.release(path) }
        #expect(try await readAll(files(of: "n2")).values.allSatisfy { $0 == 0 }, "the others do not notice")
        try cluster.node("n1").send(SIGCONT)
        for (client, _, seed) in brief {
            try await client.readAll()
            #expect(client.has(seed: seed) && client.heads.count == 1)
        }

        try await cluster.startBalancer(serverTimeout: "5s")
        let long = try await clientsInMidBody(of: "n1")
        try cluster.node("n1").freeze()
        for (_, path, _) in long { cluster.origin.release(path) }
        await cluster.wait(until: false, "n1")
        let fetched = try await readAll()
        for path in paths { #expect(fetched[path] == (owners[path] == "n1" ? length : 0), "\(path)") }
        for (client, _, seed) in long {
            try await client.readAll()
            #expect(client.has(seed: seed))
        }
        let answers = long.map(\.client.heads.count)
        #expect(answers == [2, 1], "HAProxy gave the node up, and the edge asked for the rest")

        try cluster.node("n1").send(SIGCONT)
        await cluster.wait(until: true, "n1")
        for (_, path, seed) in long {
            let client = try await ResumingClient(port: cluster.port, cluster.target(path))
            try await client.readAll()
            #expect(client.has(seed: seed), "what it had begun to store")
        }
        #expect(try await readAll().values.allSatisfy { $0 == 0 }, "its files are still there")
        try await cluster.startBalancer()
    }

    /// A file changes while the node that sends it dies; the node comes back without its disk.
    func replaceAndEmpty() async throws {
        let clients = try await clientsInMidBody(of: "n2")
        for (_, path, seed) in clients {
            cluster.publish(path, seed: seed + 1_000_000, length: length + 1, etag: "\"v2\"")
        }
        try await cluster.kill("n2")
        for (client, path, seed) in clients {
            cluster.origin.release(path)
            try await client.readAll()
            #expect(client.has(seed: seed + 1_000_000), "the new file as a whole")
            #expect(client.heads.count == 2, "not even an edge may join parts of two files")
            #expect(client.discarded == TestPattern.bytes(in: 0..<Int64(client.discarded.count), seed: seed))
        }
        try cluster.empty("n2")
        try await start("n2")
        let fetched = try await readAll()
        for path in paths { #expect(fetched[path] == (owners[path] == "n2" ? length : 0), "\(path)") }
    }

    /// A fourth node comes while clients read: HAProxy is reloaded, and cuts nothing.
    func addNode() async throws {
        let held = try await clientsInMidBody(of: "n3")
        let old = try #require(cluster.balancer)
        try await cluster.start("n4")
        let (port, targets, length) = (cluster.port, paths.map(cluster.target), length)
        // How many answers have come; nil ends the clients.
        let answers = Mutex<Int?>(0)
        let before = cluster.origin.snapshot
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<3 {
                group.addTask {
                    var random = SeededGenerator(seed: UInt64(number))
                    while answers.withLock({ $0 }) != nil {
                        let index = Int.random(in: 0..<targets.count, using: &random)
                        let start = Int64.random(in: 0..<length, using: &random)
                        let part = try await RawClient.exchange(port: port, targets[index], ["Range: bytes=\(start)-"])
                        #expect(part.head.status == 206)
                        #expect(part.body == TestPattern.bytes(in: start..<length, seed: UInt64(index)))
                        answers.withLock { $0 = $0.map { $0 + 1 } }
                    }
                }
            }
            func come(_ count: Int) async { await eventually { answers.withLock { $0 } ?? 0 >= count } }
            await come(30)
            try await cluster.startBalancer()
            await come((answers.withLock { $0 } ?? 0) + 30)
            answers.withLock { $0 = nil }
            try await group.waitForAll()
        }
        for (client, path, seed) in held {
            cluster.origin.release(path)
            try await client.readAll()
            #expect(client.has(seed: seed) && client.heads.count == 1, "the old process ends its answers")
        }
        #expect(await old.outcome().exit == .status(0))

        try await readAll()
        let after = await cluster.origin.settledSnapshot()
        var moved = 0
        for path in paths {
            let owner = try await cluster.owner(of: path)
            if owner == "n4" { moved += 1 } else { #expect(owner == owners[path]) }
            let fetched = after[path].bodyBytesSent - before[path].bodyBytesSent
            #expect(fetched == (owner == "n4" ? length : 0), "\(path)")
        }
        #expect(moved > 0 && moved < paths.count / 2, "a fourth of them, more or less")
    }

    /// The way to the origin breaks: stored bytes are served, and a body goes on when the way is back.
    func cutTheLink() async throws {
        try await Link.run(to: cluster.origin.port) { link async throws in
            let file = "/data.json"
            let content = TestOrigin.Content.pattern(seed: 7, length: length)
            cluster.origin.set(
                TestOrigin.Resource(
                    content, mediaType: "application/json", fields: [.cacheControl: "max-age=0"]), at: file)
            let (held, seed) = try await cluster.held(by: "n2", length: length, at: Int64(part))
            func target(_ path: String) -> String { "/http/127.0.0.1:\(link.port)\(path)" }
            let whole = TestPattern.bytes(in: 0..<length, seed: 7)
            #expect(try await RawClient.exchange(port: cluster.port, target(file)).body == whole)
            var clients: [ResumingClient] = []
            for port in [cluster.port, edge] {
                let client = try await ResumingClient(port: port, target(held))
                try await client.read(upTo: part)
                clients.append(client)
            }

            await link.cut()
            cluster.origin.release(held)
            let stale = try await RawClient.exchange(port: cluster.port, target(file))
            #expect(stale.head.status == 200 && stale.body == whole)
            #expect(stale.head.fields["cache-status"]?.hasSuffix("; fwd=stale") == true, "\(stale.head)")
            let failed = try await RawClient.exchange(port: cluster.port, target("/unknown.mp4"))
            #expect(failed.head.status == 502)

            try await link.restore()
            for client in clients {
                // In one answer, if the way is back before the node gives up.
                try await client.readAll()
                #expect(client.has(seed: seed))
            }
            // A failure is remembered for a second at most.
            await eventually {
                let reply = try? await RawClient.exchange(port: cluster.port, target(file))
                return reply?.head.fields["cache-status"]?.contains("fwd=stale; fwd-status=304") == true
            }
        }
    }
}
