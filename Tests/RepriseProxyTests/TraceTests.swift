import ByteRanges
import Reprise
import RepriseProxy
import RepriseTesting
import TestSupport
import Testing

/// Recorded players, aborts included, replayed through the proxy: what they wanted is fetched once, and only that.
@Suite(.serialized, .timeLimit(.minutes(10))) struct TraceTests {
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
        try await ProxyBench.run(sendBufferSize: 16 << 10) { proxy async throws in
            for (path, length) in trace.lengths {
                proxy.bench.publish(path, length: length) { $0.bytesPerSecond = Self.rate }
            }
            try await Self.replay(trace, proxy)
            await proxy.bench.origin.waitUntil { $0.responsesUnderWay == 0 }
            let first = await proxy.bench.origin.settledSnapshot()
            let wanted = Self.wanted(trace)
            let ratio = wanted == 0 ? 1 : Double(first.bodyBytesSent) / Double(wanted)
            let twice = first.bytesSentMoreThanOnce
            print(
                "trace \(trace): \(first.bodyBytesSent) / \(wanted) = \(Self.rounded(ratio)), \(twice) bytes twice, \(first.requestCount) requests, \(trace.requests.count(where: \.aborted)) aborts, stored \(proxy.bench.cache.storedBytes)"
            )
            // An abort always pulls something: what is in socket buffers, what comes while it is noticed. It is bounded,
            // and what reached this machine is stored.
            let pulled = Int64(trace.requests.count(where: \.isMedia)) * Self.pulledByAnAbort
            #expect(Double(first.bodyBytesSent - pulled) <= 1.02 * Double(wanted), "\(trace)")
            try await Self.replay(trace, proxy)
            let second = await proxy.bench.origin.settledSnapshot()
            #expect(second.bodyBytesSent == first.bodyBytesSent, "\(trace): the second replay costs nothing")
        }
    }

    /// Traces replayed at once.
    private static let atOnce = 16
    /// What each response of the origin is limited to, in bytes a second, as when the traces were recorded.
    private static let rate = 4 << 20

    /// What one abort may pull: socket buffers on both sides, the lead, what comes until the linger time is over.
    private static let pulledByAnAbort: Int64 = 512 << 10

    private static func rounded(_ value: Double) -> Double { (value * 1000).rounded() / 1000 }

    private static func wanted(_ trace: Trace) -> Int64 {
        Dictionary(grouping: trace.requests.filter(\.isMedia), by: \.path).values
            .reduce(0) { $0 + ByteRangeSet($1.map(\.taken)).byteCount }
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
