import HTTPTypes
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// A text that is sent in place of a body: every number in the response is of the text, and no byte of it is stored.
@Suite("Edited bodies", .limit(minutes: 1)) struct BodyFilterTests {
    /// Edits lists of type `text/x-list`: `go URL` becomes a link through the proxy.
    private struct Links: BodyFilter, BodyEditor {
        var maximumLength = 1000
        var looksFirst = true

        func editor(of information: ContentInformation, at url: ResourceURL) -> (any BodyEditor)? {
            guard information.mediaType == "text/x-list" else { return nil }
            return Links(maximumLength: maximumLength, looksFirst: looksFirst && !information.generation.isEmpty)
        }

        func accepts(_ beginning: [UInt8], of information: ContentInformation) -> Bool? {
            beginning.starts(with: "#LIST".utf8)
        }

        func edit(_ body: GatheredBody) async throws -> [UInt8]? {
            await Task.yield()
            let text = String(decoding: body.bytes, as: UTF8.self)
            guard !text.contains("broken") else { throw RepriseError(.originMisbehaved, "This is no list.") }
            let link = "\(body.prefix)/\(body.base.scheme.rawValue)/\(body.base.authority)/"
            return Array(text.replacing("go ", with: "go \(link)").utf8)
        }
    }

    private struct Site {
        let proxy: ProxyBench
        let clock: ShiftableClock

        static func run(
            _ filter: Links = Links(), token: String? = nil, _ body: (Site) async throws -> Void
        ) async throws {
            let clock = ShiftableClock()
            try await ProxyBench.run(
                configureProxy: {
                    $0.clock = clock.cacheClock
                    $0.token = token
                    $0.bodyFilter = filter
                },
                configure: { $0.clock = clock.cacheClock }
            ) { try await body(Site(proxy: $0, clock: clock)) }
        }

        /// Puts `text` at `/list`; returns it as edited.
        func publish(
            _ text: String, type: String = "text/x-list", control: String = "max-age=600", etag: String = "\"v1\"",
            _ more: (inout TestOrigin.Personality) -> Void = { _ in }
        ) -> [UInt8] {
            let personality = TestOrigin.Personality {
                $0.fields[.cacheControl] = control
                more(&$0)
            }
            proxy.bench.origin.set(
                TestOrigin.Resource(
                    .bytes(Array(text.utf8)), mediaType: type, etag: etag,
                    lastModified: "Wed, 01 Jan 2025 00:00:00 GMT", personality: personality), at: "/list")
            return Array(text.replacing("go ", with: "go \(proxy.target("/"))").utf8)
        }

        func get(_ fields: String..., method: String = "GET") async throws -> (head: RawClient.Head, body: [UInt8]) {
            try await proxy.get("/list", fields, method: method)
        }
    }

    private static let list = "#LIST\ngo a.mp4\ngo b.mp4\n"

    @Test func lengthAndTagAreThoseOfTheText() async throws {
        try await Site.run { site async throws in
            let text = site.publish(Self.list)
            let miss = try await site.get()
            #expect(miss.head.status == 200)
            #expect(miss.body == text)
            #expect(miss.head.length == text.count)
            #expect(miss.head.fields["content-type"] == "text/x-list")
            #expect(miss.head.fields["cache-status"] == "reprise; fwd=uri-miss; fwd-status=200; stored")
            #expect(miss.head.fields["last-modified"] == nil, "the text may change when the list does not")
            let tag = try #require(miss.head.fields["etag"])
            #expect(tag != "\"v1\"" && !tag.hasPrefix("W/"))
            let hit = try await site.get()
            #expect(hit.body == text)
            #expect(hit.head.fields["etag"] == tag)
            #expect(hit.head.fields["cache-status"] == "reprise; hit")
            #expect(site.proxy.bench.origin.snapshot.requestCount == 1)
            #expect(try await site.proxy.bench.bytes("/list") == Array(Self.list.utf8), "stored as it was sent")
        }
    }

    @Test(
        "HEAD has the fields of GET, without those that only the text tells (RFC 9110 §9.3.2)",
        arguments: [false, true])
    func head(isStored: Bool) async throws {
        try await Site.run { site async throws in
            let text = site.publish(Self.list)
            if isStored { _ = try await site.get() }
            let head = try await site.get(method: "HEAD").head
            #expect(head.status == 200)
            #expect(head.length == (isStored ? text.count : nil))
            #expect(head.fields["etag"] == (isStored ? try await site.get().head.fields["etag"] : nil))
            #expect(head.fields["last-modified"] == nil)
            #expect(site.proxy.bench.origin.snapshot.requestCount == 1)
        }
    }

    @Test("ranges are of the text (RFC 9110 §14.2)", arguments: [false, true])
    func ranges(isStored: Bool) async throws {
        // A body whose beginning has not arrived is looked at no more: that would cost a request.
        try await Site.run(Links(looksFirst: isStored)) { site async throws in
            let text = site.publish(Self.list)
            if isStored { _ = try await site.get() }
            let part = try await site.get("Range: bytes=6-40")
            #expect(part.head.status == 206)
            #expect(part.body == Array(text[6...40]))
            #expect(part.head.fields["content-range"] == "bytes 6-40/\(text.count)")
            // Beyond the end of the stored bytes.
            let end = try await site.get("Range: bytes=\(Self.list.utf8.count + 5)-")
            #expect(end.head.status == 206)
            #expect(end.body == Array(text[(Self.list.utf8.count + 5)...]))
            let suffix = try await site.get("Range: bytes=-4")
            #expect(suffix.body == Array(text.suffix(4)))
            let several = try await site.get("Range: bytes=0-1,5-6")
            #expect(several.head.status == 200)
            #expect(several.body == text)
            let none = try await site.get("Range: bytes=\(text.count)-")
            #expect(none.head.status == 416)
            #expect(none.head.fields["content-range"] == "bytes */\(text.count)")
            #expect(site.proxy.bench.origin.snapshot["/list"].bytesSentMoreThanOnce == 0)
        }
    }

    @Test("conditions are judged by the text's tag (RFC 9110 §13.1)")
    func conditions() async throws {
        try await Site.run { site async throws in
            let text = site.publish(Self.list)
            let tag = try #require(try await site.get().head.fields["etag"])
            for method in ["GET", "HEAD"] {
                let same = try await site.get("If-None-Match: \(tag)", method: method)
                #expect(same.head.status == 304)
                #expect(same.head.fields["etag"] == tag)
                #expect(try await site.get("If-None-Match: \"v1\"", method: method).head.status == 200)
                #expect(try await site.get("If-Match: \(tag)", method: method).head.status == 200)
                #expect(try await site.get("If-Match: \"v1\"", method: method).head.status == 412)
            }
            let later = "If-Modified-Since: Wed, 01 Jan 2025 00:00:00 GMT"
            #expect(try await site.get(later).head.status == 200, "no date tells whether the text changed")
            #expect(try await site.get("Range: bytes=0-4", "If-Range: \(tag)").body == Array(text[0...4]))
            #expect(try await site.get("Range: bytes=0-4", "If-Range: \"v1\"").body == text)
            _ = site.publish(Self.list + "go c.mp4\n", etag: "\"v2\"")
            site.clock.shift(by: .seconds(601))
            #expect(try await site.get("If-None-Match: \(tag)").head.status == 200, "the text changed with the list")
        }
    }

    @Test("Age is that of the stored response (RFC 9111 §4.2.3)")
    func age() async throws {
        try await Site.run { site async throws in
            _ = site.publish(Self.list)
            _ = try await site.get()
            site.clock.shift(by: .seconds(50))
            #expect(try await site.get().head.fields["age"] == "50")
            #expect(try await site.get(method: "HEAD").head.fields["age"] == "50")
        }
    }

    @Test func theTokenStandsBeforeEveryLink() async throws {
        try await Site.run(token: "secret") { site async throws in
            _ = site.publish("#LIST\ngo a.mp4\n")
            let target = "/secret" + site.proxy.target("/list")
            let answer = try await RawClient.exchange(port: site.proxy.server.port, target)
            #expect(String(decoding: answer.body, as: UTF8.self) == "#LIST\ngo /secret\(site.proxy.target("/"))a.mp4\n")
        }
    }

    @Test(
        "what the filter or its editor leaves alone is sent as the origin sent it",
        arguments: [
            ("#LIST\ngo a\n", "text/plain"), ("go a\n", "text/x-list"),
            ("#LIST\n" + String(repeating: "go a\n", count: 300), "text/x-list"),
        ])
    func others(text: String, type: String) async throws {
        try await Site.run { site async throws in
            _ = site.publish(text, type: type)
            for _ in 0..<2 {
                let answer = try await site.get()
                #expect(answer.body == Array(text.utf8))
                #expect(answer.head.fields["etag"] == "\"v1\"")
                #expect(try await site.get("Range: bytes=1-3").body == Array(Array(text.utf8)[1...3]))
                #expect(try await site.get("If-None-Match: \"v1\"").head.status == 304)
                #expect(try await site.get(method: "HEAD").head.length == text.utf8.count)
            }
            #expect(site.proxy.bench.origin.snapshot["/list"].bytesSentMoreThanOnce == 0)
        }
    }

    @Test func aListThatMustNotBeStoredIsEditedToo() async throws {
        try await Site.run { site async throws in
            let text = site.publish(Self.list, control: "no-store")
            for _ in 0..<2 { #expect(try await site.get().body == text) }
            #expect(try await site.get("Range: bytes=6-40").body == Array(text[6...40]))
            #expect(try await site.get(method: "HEAD").head.length == nil)
        }
    }

    @Test func aCodedListIsSentAsItIs() async throws {
        try await Site.run { site async throws in
            _ = site.publish(Self.list, control: "no-store") { $0.fields[.contentEncoding] = "gzip" }
            for _ in 0..<2 { #expect(try await site.get().body == Array(Self.list.utf8)) }
            #expect(site.proxy.bench.origin.snapshot.requestCount == 2)
        }
    }

    @Test func anEditThatFailsIsAnErrorWithItsOwnStatus() async throws {
        try await Site.run { site async throws in
            _ = site.publish("#LIST\nbroken\n")
            let answer = try await site.get()
            #expect(answer.head.status == 502)
            #expect(String(decoding: answer.body, as: UTF8.self) == "This is no list.\n")
        }
    }
}
