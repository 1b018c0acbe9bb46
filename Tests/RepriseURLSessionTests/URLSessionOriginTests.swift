import Foundation
import HTTPTypes
import Reprise
import RepriseTesting
import TestLimits
import Testing

@testable import RepriseURLSession

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("The URLSession client and a real origin", .limit(minutes: 1))
struct URLSessionOriginTests {
    @Test func aWholeBodyArrivesInPiecesOfAtMostOneMebibyte() async throws {
        try await withOrigin { origin, client in
            origin.set(resource(5_000_000), at: "/a")
            let response = try await client.get(origin.url("/a"))
            #expect(response.head.status == .ok)
            #expect(response.head.headerFields[.eTag] == "\"v1\"")
            #expect(response.head.headerFields[.contentLength] == "5000000")
            #expect(response.url.description == origin.url("/a"))
            var bytes: [UInt8] = []
            while let chunk = try await response.body.next() {
                #expect(chunk is DataChunk)
                #expect((1...1 << 20).contains(chunk.count))
                chunk.withUnsafeBytes { bytes.append(contentsOf: $0) }
            }
            #expect(bytes == pattern(0..<5_000_000))
            #expect(try await response.body.next() == nil)
        }
    }

    @Test func rangesArePassedOn() async throws {
        try await withOrigin { origin, client in
            origin.set(resource(1_000), at: "/a")
            let part = try await client.get(origin.url("/a"), [.range: "bytes=100-199"])
            #expect(part.head.status == .partialContent)
            #expect(part.head.headerFields[.contentRange] == "bytes 100-199/1000")
            #expect(try await part.body.bytes() == pattern(100..<200))
            let beyond = try await client.get(origin.url("/a"), [.range: "bytes=1000-"])
            #expect(beyond.head.status == .rangeNotSatisfiable)
        }
    }

    @Test func refusalsAreHandedBackWithTheirBodies() async throws {
        try await withOrigin { origin, client in
            #expect(try await client.get(origin.url("/missing")).head.status == .notFound)
            for status in [403, 404, 500, 503] {
                origin.set(
                    resource(10) {
                        $0.status = status
                        $0.statusBody = Array("no".utf8)
                    }, at: "/no")
                let response = try await client.get(origin.url("/no"))
                #expect(response.head.status.code == status)
                #expect(try await response.body.text() == "no")
            }
        }
    }

    @Test("A challenge that cannot be answered is a 401 like any other (RFC 9110 §11.6.1)")
    func aChallengeIsHandedBack() async throws {
        try await withOrigin { origin, client in
            origin.set(
                resource(10) {
                    $0.status = 401
                    $0.statusBody = Array("who?".utf8)
                    $0.fields = [.wwwAuthenticate: "Basic realm=\"films\""]
                }, at: "/private")
            let response = try await client.get(origin.url("/private"))
            #expect(response.head.status == .unauthorized)
            #expect(response.head.headerFields[.wwwAuthenticate] == "Basic realm=\"films\"")
            #expect(try await response.body.text() == "who?")
            #expect(await origin.settledSnapshot().requestCount == 1)
        }
    }

    @Test(
        "Chunked and close-delimited bodies end cleanly (RFC 9112 §6.3)",
        arguments: [TestOrigin.Personality.Framing.chunked, .closeDelimited, .contentLength])
    func everyFramingEndsCleanly(_ framing: TestOrigin.Personality.Framing) async throws {
        try await withOrigin { origin, client in
            origin.set(resource(3_000_000) { $0.framing = framing }, at: "/a")
            for _ in 0..<2 {
                let bytes = try await client.get(origin.url("/a")).body.bytes()
                #expect(bytes == pattern(0..<3_000_000))
            }
        }
    }

    @Test func headAnd304HaveNoBody() async throws {
        try await withOrigin { origin, client in
            origin.set(resource(1_000), at: "/a")
            let head = try await client.get(origin.url("/a"), method: .head)
            #expect(head.head.headerFields[.contentLength] == "1000")
            #expect(try await head.body.next() == nil)
            let notModified = try await client.get(origin.url("/a"), [.ifNoneMatch: "\"v1\""])
            #expect(notModified.head.status == .notModified)
            #expect(try await notModified.body.next() == nil)
        }
    }

    @Test func bodiesSideBySideDoNotMix() async throws {
        try await withOrigin { origin, client in
            origin.set(resource(1_000_000), at: "/a")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<12 {
                    let start = Int64(index) * 50_000
                    group.addTask {
                        let response = try await client.get(origin.url("/a"), [.range: "bytes=\(start)-"])
                        let bytes = try await response.body.bytes()
                        #expect(bytes == pattern(start..<1_000_000))
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test func theURLAndTheFieldsGoOutAsTheyWereGiven() async throws {
        try await withOrigin { origin, client in
            origin.set(resource(10), at: "/a%20b")
            let target = "/a%20b?sig=%2F%2b%c3&list=a,b;c&x=%7B=='()*!$@:/?"
            let fields: HTTPFields = [
                .range: "bytes=0-", .userAgent: "player/1", .connection: "keep-alive", .te: "gzip", .cookie: "a=b",
            ]
            let response = try await client.get(origin.url(target), fields)
            #expect(response.url.target == target)
            #expect(try await response.body.bytes() == pattern(0..<10))
            let request = try #require(await origin.settledSnapshot().requests.first)
            #expect(request.target == target)
            #expect(request.fields[.range] == "bytes=0-")
            #expect(request.fields[.userAgent] == "player/1")
            #expect(request.fields[.cookie] == "a=b")
            #expect(request.fields[.acceptEncoding] == "identity")
            #expect(request.fields[.te] == nil)
        }
    }

    @Test func cookiesAndResponsesAreNotKeptWhateverTheSessionIsToldBefore() async throws {
        try await withOrigin {
            $0.userAgent = "app/2"
            $0.adjustSession = { session in
                session.httpAdditionalHeaders = ["X-App": "1"]
                session.urlCache = .shared
                session.requestCachePolicy = .returnCacheDataElseLoad
                session.httpCookieStorage = .shared
                session.httpShouldSetCookies = true
            }
        } _: { origin, client in
            var cacheable = resource(10) { $0.fields = [.setCookie: "id=1; Path=/"] }
            cacheable.fields = [.cacheControl: "max-age=3600"]
            origin.set(cacheable, at: "/a")
            for _ in 0..<2 {
                let bytes = try await client.get(origin.url("/a")).body.bytes()
                #expect(bytes.count == 10)
            }
            let requests = await origin.settledSnapshot().requests
            #expect(requests.count == 2)
            #expect(requests.allSatisfy { $0.fields[.cookie] == nil && $0.fields[.ifNoneMatch] == nil })
            let application = try #require(HTTPField.Name("X-App"))
            #expect(requests.allSatisfy { $0.fields[application] == "1" && $0.fields[.userAgent] == "app/2" })
        }
    }

    /// Apple's systems may add `Cache-Control: no-cache` to requests that ignore a cache.
    @Test func requestsDoNotIgnoreACacheThatIsNotThere() throws {
        let request = try URLRequest.make(
            OriginRequest(url: try ResourceURL("https://example.com/a")), userAgent: nil)
        #expect(request.cachePolicy == .useProtocolCachePolicy)
        let session = URLSessionConfiguration.make(.init())
        #expect(session.requestCachePolicy == .useProtocolCachePolicy)
        #expect(session.urlCache == nil)
    }

    @Test(
        .disabled(
            if: BufferBounds.platform.suspendsAbove == .max,
            "URLSession on Linux buffers without bound; a suspended transfer would begin again"))
    func aStalledConsumerStallsTheOrigin() async throws {
        try await withOrigin { origin, client in
            origin.set(resource(500_000_000), at: "/a")
            let body = try await client.get(origin.url("/a")).body
            try await body.waitUntilBuffered(1 << 20)
            // Whatever is sent in the meantime, the origin gets stuck long before the end.
            let whole = try await client.get(origin.url("/a"), [.range: "bytes=0-9999999"]).body.bytes()
            #expect(whole.count == 10_000_000)
            let sent = await origin.settledSnapshot().requests.first?.bodyBytesSent ?? 0
            #expect(sent < 100_000_000)
            var count: Int64 = 0
            while count < 20_000_000, let chunk = try await body.next() {
                let start = count
                count += Int64(chunk.count)
                #expect(chunk.withUnsafeBytes { Array($0) } == pattern(start..<count))
            }
            body.cancel()
        }
    }
}
