import ByteRanges
import Reprise
import RepriseProxy
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// Recorded players, aborts included, replayed through the proxy: bytes that they wanted are fetched once, and only
/// those.
///
/// Bytes fetched more than once, bytes pulled by leaving and bytes in connections that were cut have a limit each. The
/// second are stored. The last were sent, but never received: their number depends on when a player leaves, and not on
/// what the cache decides.
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
            // The bytes that an abort still pulls are on disk, and cost nothing when they are wanted later.
            let pulled = wanted.reduce(Int64(0)) {
                $0 + first[$1.key].distinctBytesSent.subtracting($1.value).byteCount
            }
            let twice = first.bytesSentMoreThanOnce
            let ratio = wantedBytes == 0 ? 1 : Double(sent - pulled + twice) / Double(wantedBytes)
            // What the origin has sent was fetched, or was in a connection when that was cut.
            let fetched = proxy.bench.cache.statistics.bytesFetched
            let lost = first.bodyBytesSent - fetched
            let fetchedAgain = fetched - proxy.bench.cache.storedBytes
            let cuts = Int64(first.requests.count { $0.outcome != .finished })
            let leavings = Int64(trace.requests.count { $0.isMedia && $0.leavesEarly(trace.lengths[$0.path] ?? 0) })
            print(
                "trace \(trace): \(sent - pulled + twice) / \(wantedBytes) = \(Self.rounded(ratio)),",
                "with what leaving pulled \(Self.rounded(Double(sent + twice) / Double(max(wantedBytes, 1)))):",
                "\(first.requestCount) requests for \(trace.requests.count); \(leavings) left early pulled \(pulled) more;",
                "\(fetchedAgain) fetched again, \(lost) lost in \(cuts) connections that were cut")
            #expect(fetchedAgain <= max(wantedBytes / Self.fetchedAgain, Self.heldByConnection), "\(trace)")
            #expect(lost <= (cuts + leavings) * Self.heldByConnection, "\(trace)")
            #expect(
                pulled <= leavings * Self.pulledByLeaving + Self.pulledByPauses + wantedBytes / Self.lead, "\(trace)")
            // A player leaves before the grace period is over; on a busy machine a replay does so only with a longer
            // one.
            try await proxy.again({ $0.gracePeriod = .seconds(2) }) { proxy async throws in
                try await Self.replay(trace, proxy)
                let second = await Self.settled(proxy)
                #expect(
                    proxy.bench.cache.statistics.bytesFetched == fetched,
                    """
                    \(trace): the second replay costs nothing, but asked for \
                    \(second.requests.dropFirst(first.requestCount).map { "\($0.path) \($0.range ?? "")" })
                    """)
            }
        }
    }

    /// Number of traces replayed at the same time.
    private static let atOnce = 8
    /// Limit of each response of the origin, in bytes per second, as when the traces were recorded.
    private static let rate = 4 << 20

    /// Maximum number of bytes pulled, on average, by a player that leaves before the end of its request: the minimum
    /// lead, and the bytes that arrive in the 10 ms for which its fetch lingers.
    private static let pulledByLeaving: Int64 = 64 << 10
    /// Additional bytes that may arrive while the machine is busy with other work.
    private static let pulledByPauses: Int64 = 512 << 10
    /// A fetch is ahead of its readers by this fraction of what they have consumed.
    private static let lead: Int64 = 256
    /// Of the wanted bytes, this fraction may be fetched more than once: bytes beyond the place at which another fetch
    /// took over.
    private static let fetchedAgain: Int64 = 200
    /// The bytes of a connection that are in the kernels; they count as sent, but no fetch can store them when it is
    /// cut.
    private static let heldByConnection: Int64 = 64 << 10

    private static func rounded(_ value: Double) -> Double { (value * 1000).rounded() / 1000 }

    private static func wanted(_ trace: Trace) -> [String: ByteRangeSet] {
        Dictionary(grouping: trace.requests.filter(\.isMedia), by: \.path).mapValues { ByteRangeSet($0.map(\.taken)) }
    }

    /// The counters when nothing is in progress: no exchange with a client that has left, no fetch that it caused, and
    /// no response to one.
    ///
    /// A request that was abandoned at once may never arrive: the cache has counted it, the origin has not.
    private static func settled(_ proxy: ProxyBench) async -> TestOrigin.Snapshot {
        await proxy.becomeIdle()
        await proxy.bench.origin.waitUntil { $0.responsesUnderWay == 0 }
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
