import ByteRanges
import Reprise
import RepriseProxy
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// Recorded players, aborts included, replayed through the proxy: what they wanted is fetched once, and only that.
///
/// Held to ``worstRatio`` is what was sent of the bytes that players took; what leaving pulls besides is stored, and
/// bounded for itself.
@Suite(.serialized, .limit(minutes: 10)) struct TraceTests {
    @Test func tracesFetchWhatPlayersWantOnceAndNothingTheSecondTime() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, trace) in try Trace.all().enumerated() {
                if index >= Self.atOnce { try await group.next() }
                group.addTask { try await Self.check(trace) }
            }
            try await group.waitForAll()
        }
    }

    private static func check(_ trace: Trace) async throws {
        // The grace period is longer than real players need, because a busy machine runs them slowly.
        try await ProxyBench.run(sendBufferSize: 4 << 10, configureProxy: { $0.gracePeriod = .milliseconds(300) }) {
            proxy async throws in
            for (path, length) in trace.lengths {
                proxy.bench.publish(path, length: length) { $0.bytesPerSecond = Self.rate }
            }
            try await Self.replay(trace, proxy)
            let first = await Self.settled(proxy)
            let wanted = Self.wanted(trace)
            let sent = wanted.mapValues { _ in Int64(0) }.merging(
                wanted.map { ($0.key, first[$0.key].distinctBytesSent.byteCount) }
            ) { $1 }.values.reduce(0, +)
            let wantedBytes = wanted.values.reduce(0) { $0 + $1.byteCount }
            // What an abort still pulls: it is on disk, and costs nothing when it is wanted later.
            let pulled = wanted.reduce(Int64(0)) {
                $0 + first[$1.key].distinctBytesSent.subtracting($1.value).byteCount
            }
            let twice = first.bytesSentMoreThanOnce
            let ratio = wantedBytes == 0 ? 1 : Double(sent - pulled + twice) / Double(wantedBytes)
            let leavings = Int64(trace.requests.count { $0.isMedia && $0.leavesEarly(trace.lengths[$0.path] ?? 0) })
            print(
                "trace \(trace): \(sent - pulled + twice) / \(wantedBytes) = \(Self.rounded(ratio)),",
                "with what leaving pulled \(Self.rounded(Double(sent + twice) / Double(max(wantedBytes, 1)))):",
                "\(first.requestCount) requests for \(trace.requests.count); \(leavings) left early pulled \(pulled) more"
            )
            #expect(ratio <= Self.worstRatio || twice <= Self.heldByConnection, "\(trace)")
            #expect(
                pulled <= leavings * Self.pulledByLeaving + Self.pulledByPauses + wantedBytes / Self.lead, "\(trace)")
            // Of what left the origin only what a connection held when it was cut is not stored.
            #expect(
                proxy.bench.cache.storedBytes >= sent - leavings * Self.heldByConnection,
                "\(trace): pulled, but not kept")
            // A player leaves before the grace period is over; a replay on a busy machine only before a long one is.
            try await proxy.again({ $0.gracePeriod = .seconds(2) }) { proxy async throws in
                try await Self.replay(trace, proxy)
                let second = await Self.settled(proxy)
                #expect(
                    second.bodyBytesSent == first.bodyBytesSent,
                    """
                    \(trace): the second replay costs nothing, but asked for \
                    \(second.requests.dropFirst(first.requestCount).compactMap(\.range))
                    """)
            }
        }
    }

    /// Traces replayed at once.
    private static let atOnce = 8
    /// What each response of the origin is limited to, in bytes a second, as when the traces were recorded.
    private static let rate = 4 << 20

    /// What a player that leaves before the end of what it asked for may pull, on average: the least lead, and what comes
    /// in the 10 ms for which its fetch lingers.
    private static let pulledByLeaving: Int64 = 64 << 10
    /// What may come besides while the machine is busy with something else.
    private static let pulledByPauses: Int64 = 512 << 10
    /// A fetch is ahead of its readers by this part of what they have consumed.
    private static let lead: Int64 = 256
    /// What the origin may send for each byte that was wanted, besides what leaving pulls.
    ///
    /// Twice comes what a connection held when it was cut (sent, but never received) and what lay beyond the place at which
    /// another fetch took over.
    private static let worstRatio = 1.02
    /// What the kernels hold of a connection, and no fetch can store when it is cut; it counts as sent.
    private static let heldByConnection: Int64 = 64 << 10

    private static func rounded(_ value: Double) -> Double { (value * 1000).rounded() / 1000 }

    private static func wanted(_ trace: Trace) -> [String: ByteRangeSet] {
        Dictionary(grouping: trace.requests.filter(\.isMedia), by: \.path).mapValues { ByteRangeSet($0.map(\.taken)) }
    }

    /// The counters when nothing is under way: no exchange with a client that has left, no fetch that it caused, and no
    /// response to one.
    private static func settled(_ proxy: ProxyBench) async -> TestOrigin.Snapshot {
        await proxy.becomeIdle()
        let asked = proxy.bench.cache.statistics.originRequests
        await proxy.bench.origin.waitUntil { $0.responsesUnderWay == 0 && $0.requestCount >= asked }
        return await proxy.bench.origin.settledSnapshot()
    }

    private static func replay(_ trace: Trace, _ proxy: ProxyBench) async throws {
        var clients: [Int: RawClient] = [:]
        for step in trace.steps {
            let request = trace.requests[step.request]
            if step.isOpening {
                let client = try RawClient(port: proxy.server.port)
                try await client.get(proxy.target(request.path), request.range.map { ["Range: \($0)"] } ?? [])
                clients[step.request] = client
            } else if let client = clients.removeValue(forKey: step.request) {
                let head = try await client.head()
                #expect(
                    head.status == (request.range == nil ? 200 : 206), "\(trace) \(request.path) \(request.range ?? "")"
                )
                let taken = try await client.skip(request.taken.count)
                #expect(taken == request.taken.count, "\(trace) \(request.path) \(request.range ?? "")")
                client.disconnect()
            }
        }
    }
}
