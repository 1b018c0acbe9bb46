import HTTPTypes
import RepriseTesting
import TestLimits
import Testing

@Suite(.limit(minutes: 1))
struct ReplacementTests {
    @Test("A status can replace every answer")
    func status() async throws {
        let personality = TestOrigin.Personality {
            $0.status = 503
            $0.statusBody = Array("Later.".utf8)
            $0.fields[.retryAfter] = "7"
        }
        try await withClient(personality) { _, client in
            for _ in 0..<2 {
                let response = try await client.fetch("/a", ["Range: bytes=0-1"])
                #expect(response.status == 503)
                #expect(response["Retry-After"] == "7")
                #expect(response.body == Array("Later.".utf8))
                #expect(response["ETag"] == nil)
            }
        }
    }

    @Test("Only the first requests fail, counted from the setting of the resource")
    func failFirst() async throws {
        try await withClient(.failing(with: 500, first: 2)) { origin, client in
            var statuses: [Int] = []
            for _ in 0..<3 { statuses.append(try await client.fetch("/a").status) }
            origin.set(.init(.bytes([]), personality: .failing(with: 502, first: 1)), at: "/a")
            for _ in 0..<2 { statuses.append(try await client.fetch("/a").status) }
            #expect(statuses == [500, 500, 200, 502, 200])
        }
    }

    @Test("A closure decides for each request")
    func override() async throws {
        try await withClient { origin, client async throws in
            let resource = TestOrigin.Resource(
                .bytes([1, 2, 3]), personality: .failing(with: 500),
                override: { request, number in
                    if request.range == "bytes=1-1" { return .init() }
                    return number == 1 ? .failing(with: 404) : nil
                })
            origin.set(resource, at: "/b")
            #expect(try await client.fetch("/b").status == 404)
            #expect(try await client.fetch("/b").status == 500)
            #expect(try await client.fetch("/b", ["Range: bytes=1-1"]).body == [2])
        }
    }

    @Test("A captive portal answers everything with its page")
    func captivePortal() async throws {
        try await withClient(.init { $0.captivePortal = "<p>Pay</p>" }) { _, client in
            let response = try await client.fetch("/a", ["Range: bytes=5-9", "If-None-Match: *"])
            #expect(response.status == 200)
            #expect(response["Content-Type"] == "text/html; charset=utf-8")
            #expect(response.body == Array("<p>Pay</p>".utf8))
        }
    }

    @Test("A body can be empty although the metadata is the resource's")
    func emptyBody() async throws {
        try await withClient(.init { $0.emptyBody = true }) { _, client in
            let response = try await client.fetch("/a")
            #expect(response.status == 200)
            #expect(response["Content-Length"] == "0")
            #expect(response["ETag"] == "\"v1\"")
        }
    }

    @Test("Redirects lead elsewhere, or in circles")
    func redirects() async throws {
        try await withClient(.init { $0.redirect = "/b" }) { origin, client in
            let response = try await client.fetch("/a")
            #expect(response.status == 302)
            #expect(response["Location"] == "/b")
            let loop = TestOrigin.Personality {
                $0.redirectLoop = true
                $0.redirectStatus = 308
            }
            origin.set(.init(.bytes([]), personality: loop), at: "/loop")
            let circle = try await client.fetch("/loop?x=1")
            #expect(circle.status == 308)
            #expect(circle["Location"] == "/loop?x=1")
        }
    }

    @Test("Content-Encoding can be claimed, and fields can be added or replaced")
    func fields() async throws {
        let personality = TestOrigin.Personality {
            $0.contentEncoding = "gzip"
            $0.fields[.vary] = "*"
            $0.fields[.date] = "Thu, 01 Jan 1970 00:00:00 GMT"
        }
        try await withClient(personality) { _, client in
            let response = try await client.fetch("/a")
            #expect(response["Content-Encoding"] == "gzip")
            #expect(response["Vary"] == "*")
            #expect(response["Date"] == "Thu, 01 Jan 1970 00:00:00 GMT")
        }
    }
}
