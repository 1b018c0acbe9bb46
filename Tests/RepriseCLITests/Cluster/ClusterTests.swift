import Foundation
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseCLI

/// Several servers behind a real HAProxy with the configuration of `Deploy/cluster`: who owns a file, and what the
/// death of a server costs.
@Suite(
    .serialized, .limit(minutes: 4),
    .enabled(if: Cluster.haproxy != nil, "haproxy is not installed; scripts/bootstrap test installs it"))
struct ClusterTests {
    private static let length: Int64 = 300_000

    /// Files whose bytes differ, at the origin.
    private static func publish(_ count: Int, in cluster: Cluster) -> [String] {
        let paths = (0..<count).map { "/film\($0).mp4" }
        for (number, path) in paths.enumerated() {
            cluster.origin.set(
                TestOrigin.Resource(.pattern(seed: UInt64(number), length: length), mediaType: "video/mp4"), at: path)
        }
        return paths
    }

    /// Gets each file whole; returns which node sent it.
    private static func getAll(_ paths: [String], from cluster: Cluster) async throws -> [String: String] {
        var owners: [String: String] = [:]
        for (number, path) in paths.enumerated() {
            let (head, body) = try await cluster.get(path)
            #expect(head.status == 200 && body == TestPattern.bytes(in: 0..<length, seed: UInt64(number)), "\(path)")
            owners[path] = head.fields["cache-status"]?.prefix { $0 != ";" }.description
        }
        return owners
    }

    @Test("each file has one owner, whatever its query or spelling, and each byte is fetched once") func calm()
        async throws
    {
        try await Cluster.run { cluster async throws in
            let paths = Self.publish(30, in: cluster)
            let owners = try await Self.getAll(paths, from: cluster)
            #expect(Set(owners.values) == ["n1", "n2", "n3"])
            let (port, originPort) = (cluster.port, cluster.origin.port)
            await withTaskGroup(of: Void.self) { group in
                for client in 0..<6 {
                    group.addTask {
                        var random = SeededGenerator(seed: UInt64(client))
                        for _ in 0..<40 {
                            let number = Int.random(in: 0..<paths.count, using: &random)
                            let start = Int64.random(in: 0..<Self.length, using: &random)
                            let end = Int64.random(in: start..<Self.length, using: &random) + 1
                            let slashes = Bool.random(using: &random) ? "/" : "://"
                            let target = "/http\(slashes)127.0.0.1:\(originPort)\(paths[number])?sig=\(start)"
                            let part = try? await RawClient.exchange(
                                port: port, target, ["Range: bytes=\(start)-\(end - 1)"])
                            #expect(part?.body == TestPattern.bytes(in: start..<end, seed: UInt64(number)))
                            #expect(part?.head.fields["cache-status"]?.hasPrefix(owners[paths[number]] ?? "-") == true)
                        }
                    }
                }
            }
            #expect(cluster.origin.snapshot.bytesSentMoreThanOnce == 0)
        }
    }

    @Test("a node that is killed costs its own share, in part twice at most; back with its disk it costs nothing")
    func killed() async throws {
        try await Cluster.run { cluster async throws in
            let paths = Self.publish(24, in: cluster)
            let owners = try await Self.getAll(paths, from: cluster)
            let lost = paths.filter { owners[$0] == "n2" }
            try #require(!lost.isEmpty && lost.count < paths.count)
            // A kill may cost what was not recorded yet, which is a second's worth.
            await eventually { (try? cluster.completeFiles(of: "n2")) == lost.count }

            // In the middle of a body: the client goes on at another node, and gets no wrong byte.
            let (held, seed) = try await cluster.held(by: "n2", length: Self.length, at: 100_000)
            let client = try RawClient(port: cluster.port)
            try await client.get(cluster.target(held))
            let head = try await client.head()
            var bytes = try await client.upTo(100_000)
            try await cluster.kill("n2")
            cluster.origin.release(held)
            bytes += try await client.upTo(Int(Self.length) - bytes.count)
            while bytes.count < Self.length {
                let tag = try #require(head.fields["etag"])
                let rest = try await cluster.get(held, ["Range: bytes=\(bytes.count)-", "If-Range: \(tag)"])
                if rest.head.status == 200 { bytes = [] }
                bytes += rest.body
            }
            #expect(bytes == TestPattern.bytes(in: 0..<Self.length, seed: seed))

            let before = cluster.origin.snapshot
            let others = try await Self.getAll(paths, from: cluster)
            let after = cluster.origin.snapshot
            for path in paths {
                let asked = after[path].requestCount - before[path].requestCount
                #expect(asked == (lost.contains(path) ? 1 : 0), "\(path) of \(owners[path] ?? "?")")
                if !lost.contains(path) { #expect(others[path] == owners[path], "\(path) did not move") }
            }

            try await cluster.start("n2")
            await eventually { (try? await cluster.owner(of: lost[0])) == "n2" }
            #expect(try await Self.getAll(paths, from: cluster) == owners)
            #expect(cluster.origin.snapshot.requestCount == after.requestCount, "its bytes are still there")
        }
    }

    @Test("a node that is told to end cuts no body and refuses no request, and its files go to others")
    func drained() async throws {
        try await Cluster.run { cluster async throws in
            let (path, seed) = try await cluster.held(by: "n1", length: 6 << 20, at: 1 << 20)
            cluster.origin.release(path)
            var clients: [RawClient] = []
            for _ in 0..<12 {
                // Small, so that most of each body still lies with the node.
                let client = try RawClient(port: cluster.port, receiveBufferSize: 64 << 10)
                try await client.get(cluster.target(path))
                #expect(try await client.head().status == 200)
                clients.append(client)
            }
            try cluster.node("n1").send(SIGTERM)
            await eventually {
                let reply = try? await cluster.get(path, ["Range: bytes=0-9"])
                #expect(reply?.head.status == 206)
                return reply?.head.fields["cache-status"]?.hasPrefix("n1") == false
            }
            let whole = TestPattern.bytes(in: 0..<(6 << 20), seed: seed)
            for client in clients { #expect(try await client.body(whole.count) == whole) }
            #expect(try await cluster.node("n1").outcome().exit == .status(0))
        }
    }

    @Test("behind an edge a player does not notice that a node is killed in the middle of its file") func edge()
        async throws
    {
        try await Cluster.runWithEdge { cluster, edge async throws in
            for name in ["n1", "n3"] {
                let (path, seed) = try await cluster.held(by: name, length: 2_000_000, at: 500_000)
                let client = try RawClient(port: edge.port)
                try await client.get(cluster.target(path))
                #expect(try await client.head().status == 200)
                #expect(try await client.skip(500_000) == 500_000)
                try await cluster.kill(name)
                cluster.origin.release(path)
                let rest = TestPattern.bytes(in: 500_000..<2_000_000, seed: seed)
                #expect(try await client.body(rest.count) == rest)
                try await cluster.start(name)
                await eventually { (try? await cluster.owner(of: path)) == name }
            }
        }
    }

    @Test("nodes whose parent is their own balancer pass on what another one owns, and nothing goes around")
    func ring() async throws {
        try await Cluster.run(options: { ["--parent", "http://127.0.0.1:\($0)"] }) { cluster async throws in
            let paths = Self.publish(12, in: cluster)
            for path in paths {
                // At one node, which owns a third of them.
                let reply = try await RawClient.exchange(port: cluster.ports["n1"] ?? 0, cluster.target(path))
                #expect(reply.head.status == 200 && reply.body.count == Self.length)
            }
            let sent = cluster.origin.snapshot
            #expect(sent.requestCount == paths.count && sent.bytesSentMoreThanOnce == 0)
            for path in paths {
                let owner = try await cluster.owner(of: path)
                #expect(cluster.origin.snapshot[path].requestCount == 1, "asked by \(owner)")
            }
        }
    }
}
