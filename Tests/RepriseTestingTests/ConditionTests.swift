import HTTPTypes
import RepriseTesting
import TestLimits
import Testing

@Suite(.limit(minutes: 1))
struct ConditionTests {
    private static let tag = "\"v1\""
    private static let date = "Wed, 01 Jan 2025 00:00:00 GMT"
    private static let before = "Tue, 31 Dec 2024 23:59:59 GMT"
    private static let after = "Wed, 01 Jan 2025 00:00:01 GMT"

    @Test(
        "Conditions are evaluated as in RFC 9110 §13.2.2",
        arguments: [
            (["If-None-Match: \(tag)"], 304), (["If-None-Match: W/\(tag)"], 304), (["If-None-Match: *"], 304),
            (["If-None-Match: \"x,y\" , \(tag)"], 304), (["If-None-Match: \"v2\""], 200),
            (["If-None-Match: \"v2\"", "If-Modified-Since: \(date)"], 200),
            (["If-Modified-Since: \(date)"], 304), (["If-Modified-Since: \(after)"], 304),
            (["If-Modified-Since: \(before)"], 200), (["If-Modified-Since: yesterday"], 200),
            (["If-Match: \(tag)"], 200), (["If-Match: *"], 200), (["If-Match: W/\(tag)"], 412),
            (["If-Match: \"v2\""], 412), (["If-Match: \(tag)", "If-Unmodified-Since: \(before)"], 200),
            (["If-Unmodified-Since: \(before)"], 412), (["If-Unmodified-Since: \(date)"], 200),
            (["If-Match: \"v2\"", "If-None-Match: \(tag)"], 412),
        ] as [([String], Int)])
    func preconditions(fields: [String], status: Int) async throws {
        try await withClient { _, client in
            let response = try await client.fetch("/a", fields)
            #expect(response.status == status)
            #expect(response.body.count == (status == 200 ? 1000 : 0))
        }
    }

    @Test(
        "If-Range allows a range only under exactly the strong validator (RFC 9110 §13.1.5)",
        arguments: [
            (tag, 206), (date, 206), ("\"v2\"", 200), ("W/\(tag)", 200), (after, 200), (before, 200),
        ])
    func ifRange(value: String, status: Int) async throws {
        try await withClient { _, client in
            let response = try await client.fetch("/a", ["Range: bytes=10-19", "If-Range: \(value)"])
            #expect(response.status == status)
            #expect(response.body == (status == 206 ? expected(10..<20) : expected(0..<1000)))
        }
    }

    @Test("A weak entity tag satisfies If-None-Match, but neither If-Range nor If-Match (RFC 9110 §8.8.3.2)")
    func weakTag() async throws {
        try await withClient(.init { $0.weakETag = true }) { _, client async throws in
            let weak = "W/\"v1\""
            #expect(try await client.fetch("/a")["ETag"] == weak)
            #expect(try await client.fetch("/a", ["If-None-Match: \(weak)"]).status == 304)
            #expect(try await client.fetch("/a", ["If-Match: \(weak)"]).status == 412)
            #expect(try await client.fetch("/a", ["Range: bytes=0-1", "If-Range: \(weak)"]).status == 200)
        }
    }

    @Test("A 304 carries the validators and the resource's own fields, but no content fields (RFC 9110 §15.4.5)")
    func notModified() async throws {
        try await withClient { origin, client in
            origin.set(.init(.bytes([1]), fields: [.cacheControl: "max-age=60"]), at: "/fresh")
            let response = try await client.fetch("/fresh", ["If-None-Match: *"])
            #expect(response["ETag"] == "\"v1\"")
            #expect(response["Cache-Control"] == "max-age=60")
            #expect(response["Content-Length"] == nil)
            #expect(response["Content-Type"] == nil)
        }
    }

    @Test("A replaced resource answers with its new validators and bytes")
    func flip() async throws {
        try await withClient { origin, client in
            #expect(try await client.fetch("/a", ["Range: bytes=0-9", "If-Range: \"v1\""]).status == 206)
            origin.set(.init(.pattern(seed: 8, length: 500), etag: "\"v2\""), at: "/a")
            let response = try await client.fetch("/a", ["Range: bytes=10-19", "If-Range: \"v1\""])
            #expect(response.status == 200)
            #expect(response["ETag"] == "\"v2\"")
            #expect(response.body == TestPattern.bytes(in: 0..<500, seed: 8))
        }
    }
}
