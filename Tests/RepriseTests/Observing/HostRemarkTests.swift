import HTTPSemantics
import HTTPTypes
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// Why the responses of a host are passed on without being stored is said once for each host and reason.
@Suite(.limit(minutes: 1)) struct HostRemarkTests {
    @Test("each reason is said once for each host") func once() async throws {
        try await Bench.run { bench async throws in
            for (path, control) in [("/a", "no-store"), ("/b", "no-store"), ("/c", "max-age=60")] {
                bench.publish(path, length: 10) { $0.fields[.cacheControl] = control }
            }
            bench.publish("/d", length: 10) { $0.fields[.contentEncoding] = "gzip" }
            let log = EventLog(bench.cache)
            for _ in 0..<2 {
                for path in ["/a", "/b", "/c", "/d"] { _ = try await bench.bytes(path) }
            }
            let host = "127.0.0.1:\(bench.origin.port)"
            let reasons = bench.cache.hostRemarks.map { remark in
                #expect(remark.host == host)
                return remark.reason
            }
            #expect(reasons.count == 2)
            #expect(reasons.first?.contains("no-store") == true && reasons.last?.contains("Content-Encoding") == true)
            await bench.cache.close()
            let told = await log.all().compactMap {
                if case .hostRemarked(_, _, let reason) = $0 { reason } else { nil }
            }
            #expect(told == reasons)
        }
    }

    @Test("a request that forbids storing says nothing of the host") func ownRequest() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 10)
            let resource = try bench.cache.resource(for: bench.origin.url("/a"))
            var directives = CacheControl()
            directives.noStore = true
            _ = try await resource.read(directives: directives).collect()
            #expect(bench.cache.hostRemarks.isEmpty)
        }
    }

    @Test("a violation of HTTP/1.1 is said once for each host, with its first detail") func oddity() async throws {
        let origin = ScriptedOrigin { request, number in
            request.context.onOddity?("Line \(number) has no colon.")
            return ScriptedOrigin.Answer(200, [.contentLength: "2", .cacheControl: "no-cache"], body: [1, 2])
        }
        try await origin.run { cache async throws in
            for _ in 0..<2 { _ = try await cache.resource(for: "https://origin/a").read().collect() }
            let reasons = cache.hostRemarks.map(\.reason).filter { $0.contains("HTTP/1.1") }
            #expect(reasons.count == 1)
            #expect(reasons.first?.hasSuffix("Line 1 has no colon.") == true)
        }
    }

    @Test("their number is bounded") func bounds() {
        let reporter = Reporter()
        for number in 0..<1000 { reporter.remark("odd", about: CacheKey("k"), at: "h\(number)") }
        #expect(reporter.hostRemarks.count == 256)
        #expect(reporter.hostRemarks.last?.host == "h999")
    }
}
