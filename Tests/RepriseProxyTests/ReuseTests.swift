import HTTPTypes
import Reprise
import RepriseProxy
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// When stored responses are used, validated, or replaced: RFC 9111 §4, as a client sees it.
@Suite(.limit(minutes: 2)) struct ReuseTests {
    /// A proxy with a clock that the test advances.
    private struct Site {
        let proxy: ProxyBench
        let clock: ShiftableClock

        static func run(
            isShared: Bool = true, configure: (inout ReusePolicy) -> Void = { _ in },
            _ body: (Site) async throws -> Void
        ) async throws {
            let clock = ShiftableClock()
            try await ProxyBench.run(
                configureProxy: { $0.clock = clock.cacheClock },
                configure: {
                    $0.clock = clock.cacheClock
                    $0.reuse.isShared = isShared
                    configure(&$0.reuse)
                }
            ) { try await body(Site(proxy: $0, clock: clock)) }
        }

        var origin: TestOrigin { proxy.bench.origin }
        var requests: Int { origin.snapshot.requestCount }

        func publish(
            _ control: String?, at path: String = "/a", seed: UInt64 = 1, etag: String? = "\"v1\"",
            type: String = "video/mp4", fields: HTTPFields = [:],
            _ more: (inout TestOrigin.Personality) -> Void = { _ in }
        ) {
            proxy.bench.publish(path, length: 1000, seed: seed, etag: etag, type: type) {
                $0.fields = fields
                $0.fields[.cacheControl] = control
                more(&$0)
            }
        }

        func get(_ fields: [String] = [], _ path: String = "/a", method: String = "GET") async throws -> Reply {
            let (head, body) = try await proxy.get(path, fields, method: method)
            return Reply(head: head, body: body)
        }
    }

    private struct Reply {
        let head: RawClient.Head
        let body: [UInt8]
        var status: String { head.fields["cache-status"] ?? "none" }
        func isPattern(_ seed: UInt64 = 1) -> Bool { body == TestPattern.bytes(in: 0..<1000, seed: seed) }
    }

    @Test("Conditions apply to responses that must not be stored (RFC 9110 §13.1, §13.1.5)", arguments: [false, true])
    func conditionsOfUnstoredResponses(isShared: Bool) async throws {
        try await Site.run(isShared: isShared) { site async throws in
            site.publish("no-store", etag: "\"v2\"")
            // The first request finds out that nothing is stored; the second one knows it.
            for _ in 0..<2 {
                let other = try await site.get(["Range: bytes=10-19", "If-Range: \"v1\""])
                #expect(other.head.status == 200)
                #expect(other.isPattern())
                let same = try await site.get(["Range: bytes=10-19", "If-Range: \"v2\""])
                #expect(same.head.status == 206)
                #expect(try await site.get(["If-Match: \"v1\""]).head.status == 412)
                #expect(try await site.get(["If-None-Match: \"v2\""]).head.status == 304)
            }
        }
    }

    @Test("a 304 with another validator costs no second request, and updates nothing (RFC 9111 §4.3.3, §4.3.4)")
    func notModifiedAboutAnotherState() async throws {
        try await Site.run { site async throws in
            site.publish("max-age=60")
            _ = try await site.get()
            site.publish("max-age=600", fields: [.eTag: "\"v2\""]) { $0.status = 304 }
            for number in 2...3 {
                site.clock.shift(by: .seconds(61))
                let reply = try await site.get()
                #expect(reply.status == "reprise; fwd=stale; fwd-status=304")
                #expect(reply.isPattern() && reply.head.fields["etag"] == "\"v1\"")
                #expect(reply.head.fields["cache-control"] == "max-age=60")
                #expect(site.requests == number)
            }
            site.publish("max-age=600", seed: 2, etag: "\"v2\"")
            #expect(try await site.get().isPattern(2))
            #expect(site.requests == 4)
        }
    }

    @Test("fresh is served, stale is validated, and a 304 freshens (RFC 9111 §4.2, §4.3.4)")
    func aStaleResponseIsValidatedAndFreshened() async throws {
        try await Site.run { site async throws in
            site.publish("max-age=60")
            #expect(try await site.get().status == "reprise; fwd=uri-miss; fwd-status=200; stored")
            site.clock.shift(by: .seconds(50))
            #expect(try await site.get().status == "reprise; hit")
            #expect(site.requests == 1)
            site.clock.shift(by: .seconds(20))
            site.publish("max-age=600", fields: [.init("X-New")!: "yes"])
            let validated = try await site.get()
            #expect(validated.status == "reprise; fwd=stale; fwd-status=304")
            #expect(validated.isPattern())
            #expect(validated.head.fields["x-new"] == "yes")
            #expect(validated.head.fields["age"] == "0")
            site.clock.shift(by: .seconds(500))
            let hit = try await site.get()
            #expect(hit.status == "reprise; hit")
            #expect(hit.head.fields["cache-control"] == "max-age=600")
            #expect(site.requests == 2)
            #expect(site.origin.snapshot["/a"].requests.last?.fields[.ifNoneMatch] == "\"v1\"")
            #expect(site.origin.snapshot["/a"].bodyBytesSent == 1000)
        }
    }

    @Test("a stale response that changed is replaced completely (RFC 9111 §4.3.3)")
    func aStaleResponseThatChangedIsReplaced() async throws {
        try await Site.run { site async throws in
            site.publish("max-age=60")
            _ = try await site.get()
            site.clock.shift(by: .seconds(61))
            site.publish("max-age=60", seed: 2, etag: "\"v2\"")
            let replaced = try await site.get()
            #expect(replaced.isPattern(2))
            #expect(replaced.status == "reprise; fwd=stale; fwd-status=200; stored")
            #expect(try await site.get().isPattern(2))
            #expect(site.requests == 2)
        }
    }

    @Test("a range of a stale response that changed needs one request")
    func aRangeOfAChangedRepresentationNeedsOneRequest() async throws {
        try await Site.run { site async throws in
            site.publish("max-age=60")
            _ = try await site.get()
            site.clock.shift(by: .seconds(61))
            site.publish("max-age=60", seed: 2, etag: "\"v2\"")
            let part = try await site.get(["Range: bytes=100-199"])
            #expect(part.head.status == 206)
            #expect(part.body == TestPattern.bytes(in: 100..<200, seed: 2))
            #expect(site.requests == 2)
        }
    }

    @Test("a hole of a stale response is requested with If-Range, which validates the rest (RFC 9110 §13.1.5)")
    func aGapValidatesWhatIsStored() async throws {
        try await Site.run { site async throws in
            site.publish("max-age=60")
            _ = try await site.get(["Range: bytes=500-999"])
            site.clock.shift(by: .seconds(61))
            let whole = try await site.get()
            #expect(whole.isPattern())
            #expect(whole.status == "reprise; fwd=partial; stored")
            #expect(site.requests == 2)
            let sent = site.origin.snapshot["/a"]
            #expect(sent.requests.last?.fields[.range] == "bytes=0-499")
            #expect(sent.requests.last?.fields[.ifRange] == "\"v1\"")
            #expect(sent.bodyBytesSent == 1000, "only the gap")
            #expect(try await site.get().status == "reprise; hit", "the gap's response freshened the whole")
        }
    }

    @Test("a hole of a stale response that changed starts a new response before any byte is sent")
    func aGapOfAChangedResponseIsNeverMixed() async throws {
        try await Site.run { site async throws in
            site.publish("max-age=60")
            _ = try await site.get(["Range: bytes=500-999"])
            site.clock.shift(by: .seconds(61))
            site.publish("max-age=60", seed: 2, etag: "\"v2\"")
            #expect(try await site.get().isPattern(2))
        }
    }

    @Test("request directives count in a shared cache (RFC 9111 §5.2.1)")
    func requestDirectives() async throws {
        try await Site.run { site async throws in
            site.publish("max-age=60")
            _ = try await site.get()
            #expect(try await site.get(["Cache-Control: no-cache"]).status == "reprise; fwd=request; fwd-status=304")
            #expect(try await site.get(["Pragma: no-cache"]).status == "reprise; fwd=request; fwd-status=304")
            site.clock.shift(by: .seconds(10))
            #expect(try await site.get(["Cache-Control: max-age=5"]).status == "reprise; fwd=request; fwd-status=304")
            site.clock.shift(by: .seconds(10))
            #expect(
                try await site.get(["Cache-Control: min-fresh=55"]).status == "reprise; fwd=request; fwd-status=304")
            site.clock.shift(by: .seconds(70))
            let stale = try await site.get(["Cache-Control: max-stale=20"])
            #expect(stale.status == "reprise; hit; ttl=-10")
            #expect(try await site.get(["Cache-Control: max-stale=5"]).status == "reprise; fwd=stale; fwd-status=304")
            #expect(site.requests == 6)
        }
    }

    @Test("only-if-cached is answered from the store or with 504 (RFC 9111 §5.2.1.7)")
    func onlyIfCached() async throws {
        try await Site.run { site async throws in
            site.publish("max-age=60")
            let field = ["Cache-Control: only-if-cached"]
            #expect(try await site.get(field).head.status == 504)
            #expect(try await site.get(field, method: "HEAD").head.status == 504)
            #expect(site.requests == 0)
            _ = try await site.get(["Range: bytes=0-499"])
            #expect(try await site.get(field).head.status == 504, "half of it is not stored")
            #expect(try await site.get(field + ["Range: bytes=0-99"]).head.status == 206)
            #expect(try await site.get(field + ["Range: bytes=100-"]).head.status == 504)
            _ = try await site.get()
            #expect(try await site.get(field).isPattern())
            site.clock.shift(by: .seconds(61))
            #expect(try await site.get(field).head.status == 504, "stale")
            #expect(site.requests == 2)
        }
    }

    @Test("VLC's no-cache with every segment does not defeat a private cache")
    func aPrivateCacheServesMediaOfThisPlayWhateverThePlayerSays() async throws {
        try await Site.run(isShared: false) { site async throws in
            site.publish("max-age=0")
            _ = try await site.get()
            for field in ["Cache-Control: no-cache", "Pragma: no-cache", "Cache-Control: max-age=0"] {
                #expect(try await site.get([field]).status == "reprise; hit")
            }
            for _ in 0..<3 {
                site.clock.shift(by: .seconds(200))
                #expect(try await site.get(["Range: bytes=0-9"]).status == "reprise; hit", "the play goes on")
            }
            #expect(site.requests == 1)
            site.clock.shift(by: .seconds(301))
            #expect(try await site.get().status == "reprise; fwd=stale; fwd-status=304", "the next play asks once")
            #expect(try await site.get().status == "reprise; hit")
            #expect(site.requests == 2)
        }
    }

    @Test("a play is over after a day, however busy") func aPlayEndsAfterADay() async throws {
        try await Site.run(isShared: false) { site async throws in
            site.publish("no-cache")
            _ = try await site.get()
            for _ in 0..<289 {
                site.clock.shift(by: .seconds(299))
                _ = try await site.get(["Range: bytes=0-0"])
            }
            #expect(site.requests == 2)
        }
    }

    @Test("a playlist is never staler than its rules allow, even in a private cache")
    func aPlaylistIsValidatedLikeAnythingElse() async throws {
        for (type, path) in [("application/vnd.apple.mpegurl", "/a"), ("audio/mpegurl", "/b"), ("text/plain", "/c")] {
            try await Site.run(isShared: false) { site async throws in
                site.publish("max-age=2", at: path, type: type)
                _ = try await site.get([], path)
                site.clock.shift(by: .seconds(3))
                site.publish("max-age=2", at: path, seed: 2, etag: "\"v2\"", type: type)
                #expect(try await site.get([], path).isPattern(2), "\(type)")
                #expect(try await site.get(["Cache-Control: no-cache"], path).status.contains("fwd=request"))
            }
        }
    }

    @Test("no-cache and max-age=0 responses are stored, and validated before each use (RFC 9111 §5.2.2.4)")
    func noCacheIsStoredAndAlwaysValidated() async throws {
        for control in ["no-cache", "max-age=0", "no-cache, max-age=600"] {
            try await Site.run { site async throws in
                site.publish(control)
                _ = try await site.get()
                for _ in 0..<2 { #expect(try await site.get().status == "reprise; fwd=stale; fwd-status=304") }
                #expect(site.origin.snapshot["/a"].bodyBytesSent == 1000)
            }
        }
    }

    @Test("a shared cache stores no private response, and honors s-maxage (RFC 9111 §5.2.2.7, §5.2.2.10)")
    func sharedAndPrivate() async throws {
        for isShared in [true, false] {
            try await Site.run(isShared: isShared) { site async throws in
                site.publish("private, max-age=60")
                site.publish("s-maxage=10, max-age=60", at: "/s", type: "text/plain")
                for path in ["/a", "/s"] { _ = try await site.get([], path) }
                #expect(
                    try await site.get().status == (isShared ? "reprise; fwd=bypass; fwd-status=200" : "reprise; hit"))
                site.clock.shift(by: .seconds(30))
                let status = try await site.get([], "/s").status
                #expect(status == (isShared ? "reprise; fwd=stale; fwd-status=304" : "reprise; hit"))
            }
        }
    }

    @Test("a shared cache stores a response to Authorization only if that is allowed (RFC 9111 §3.5)")
    func authorization() async throws {
        try await Site.run { site async throws in
            site.publish("max-age=60")
            site.publish("public, max-age=60", at: "/public")
            for path in ["/a", "/public"] {
                for _ in 0..<2 { _ = try await site.get(["Authorization: Basic YTpi"], path) }
            }
            #expect(site.origin.snapshot["/a"].requestCount == 2)
            #expect(site.origin.snapshot["/public"].requestCount == 1)
        }
    }

    @Test("stale-while-revalidate is served at once and validated in the background (RFC 5861 §3)")
    func staleWhileRevalidate() async throws {
        try await Site.run { site async throws in
            site.publish("max-age=60, stale-while-revalidate=60")
            _ = try await site.get()
            site.clock.shift(by: .seconds(90))
            site.publish("max-age=60, stale-while-revalidate=60", seed: 2, etag: "\"v2\"")
            let stale = try await site.get()
            #expect(stale.isPattern())
            #expect(stale.status == "reprise; hit; ttl=-30")
            await site.origin.waitUntil { $0.requestCount >= 2 && $0.responsesUnderWay == 0 }
            try await eventually { try await site.get(["Cache-Control: only-if-cached"]).isPattern(2) }
            site.clock.shift(by: .seconds(121))
            site.publish("max-age=60", seed: 3, etag: "\"v3\"")
            #expect(try await site.get().isPattern(3), "beyond the window it is validated first")
        }
    }

    @Test(
        "an origin that fails: stale where the rules allow (RFC 5861 §4, RFC 9111 §4.2.4)",
        arguments: [
            ("max-age=60", 504), ("max-age=60, stale-if-error=600", 200), ("max-age=60, stale-if-error=10", 504),
            ("max-age=60, stale-if-error=600, must-revalidate", 504),
        ])
    func originThatAnswersAnError(control: String, expected: Int) async throws {
        try await Site.run { site async throws in
            site.publish(control)
            _ = try await site.get()
            site.clock.shift(by: .seconds(120))
            site.publish(control) { $0.status = 504 }
            #expect(try await site.get().head.status == expected)
        }
    }

    @Test(
        "an origin that cannot be reached: stale, unless that is forbidden (RFC 9111 §4.2.4)",
        arguments: [("max-age=60", 200), ("max-age=60, must-revalidate", 502), ("no-cache", 502), ("s-maxage=60", 502)])
    func originThatIsDown(control: String, expected: Int) async throws {
        try await Site.run { site async throws in
            site.publish(control)
            _ = try await site.get()
            site.clock.shift(by: .seconds(120))
            site.publish(control) { $0.resetBeforeHead = true }
            let reply = try await site.get()
            #expect(reply.head.status == expected)
            if expected == 200 {
                #expect(reply.isPattern())
                #expect(reply.status == "reprise; fwd=stale")
            }
        }
    }

    @Test("a captive portal does not replace stored responses") func captivePortal() async throws {
        try await Site.run(isShared: false) { site async throws in
            site.publish("max-age=60")
            _ = try await site.get()
            site.clock.shift(by: .seconds(900))
            site.publish("max-age=60") { $0.captivePortal = "<html>Log in</html>" }
            #expect(try await site.get().isPattern())
            site.publish("max-age=60")
            #expect(try await site.get().isPattern())
            #expect(site.origin.snapshot["/a"].bodyBytesSent < 2000)
        }
    }

    @Test("offline: stored responses, however stale, and 504 otherwise") func offline() async throws {
        let clock = ShiftableClock()
        try await ProxyBench.run(configure: { $0.clock = clock.cacheClock }) { proxy async throws in
            proxy.bench.publish("/a", length: 1000) { $0.fields[.cacheControl] = "max-age=1" }
            proxy.bench.publish("/half", length: 1000)
            _ = try await proxy.get("/a")
            _ = try await proxy.get("/half", ["Range: bytes=0-499"])
            await proxy.server.stop()
            clock.shift(by: .seconds(100_000))
            try await proxy.bench.reopened(configure: {
                $0.reuse.isOffline = true
                $0.clock = clock.cacheClock
            }) { cache async throws in
                let server = try await ProxyServer.start(cache, configuration: ProxyConfiguration())
                func get(_ path: String, _ fields: [String] = [], _ method: String = "GET") async throws
                    -> RawClient.Head
                {
                    try await RawClient.exchange(port: server.port, proxy.target(path), fields, method: method).head
                }
                #expect(try await get("/a").status == 200)
                #expect(try await get("/half", ["Range: bytes=100-199"]).status == 206)
                #expect(try await get("/half").status == 504)
                let rest = try await get("/half", ["Range: bytes=100-"])
                #expect(rest.status == 206 && rest.fields["content-range"] == "bytes 100-999/1000")
                let body = try await RawClient.exchange(
                    port: server.port, proxy.target("/half"), ["Range: bytes=100-"]
                ).body
                #expect(body.count == 400, "it breaks off at the hole")
                for range in ["500-", "100-999", "-600"] {
                    #expect(try await get("/half", ["Range: bytes=\(range)"]).status == 504, "\(range)")
                }
                let beyond = try await get("/half", ["Range: bytes=1000-"])
                #expect(beyond.status == 416 && beyond.fields["content-range"] == "bytes */1000")
                #expect(try await get("/none").status == 504)
                #expect(try await get("/none", [], "HEAD").status == 504)
                #expect(try await get("/a", [], "HEAD").status == 200)
                #expect(try await get("/a", [], "DELETE").status == 504)
                await server.stop()
            }
            #expect(proxy.bench.origin.snapshot.requestCount == 2)
        }
    }

    @Test("--force-cache: no-store is stored, and fresh for a day") func forcedHosts() async throws {
        try await Site.run(isShared: false, configure: { $0.forces = { $0 == "127.0.0.1" } }) { site async throws in
            site.publish("no-store, no-cache, max-age=0")
            _ = try await site.get()
            site.clock.shift(by: .seconds(80_000))
            #expect(try await site.get().status == "reprise; hit")
            site.clock.shift(by: .seconds(10_000))
            #expect(try await site.get().status == "reprise; fwd=stale; fwd-status=304")
        }
    }

    @Test(
        "fresh-for counts where the origin says nothing, and for all with --force-cache",
        arguments: [
            (nil, false, true), ("max-age=60", false, false), ("max-age=60", true, true), ("no-cache", false, false),
        ] as [(String?, Bool, Bool)])
    func configuredLifetime(control: String?, isForced: Bool, counts: Bool) async throws {
        try await Site.run(configure: {
            $0.forces = { _ in isForced }
            $0.lifetimes = { $0 == "127.0.0.1" ? .seconds(1000) : nil }
        }) { site async throws in
            // A tenth of its age would be more than a day.
            site.publish(control, fields: [.lastModified: "Mon, 02 Jan 2006 15:04:05 GMT"])
            _ = try await site.get()
            site.clock.shift(by: .seconds(990))
            #expect(try await site.get().status.hasPrefix("reprise; hit") == counts)
            site.clock.shift(by: .seconds(1010))
            #expect(try await site.get().status == "reprise; fwd=stale; fwd-status=304")
        }
    }

    @Test("--force-cache: the holes of no-store media are stored too") func forcedHoles() async throws {
        try await Site.run(isShared: false, configure: { $0.forces = { $0 == "127.0.0.1" } }) { site async throws in
            site.publish("no-store")
            #expect(try await site.get(["Range: bytes=0-99"]).head.status == 206)
            #expect(try await site.get().isPattern())
            #expect(try await site.get().status == "reprise; hit")
            #expect(site.origin.snapshot["/a"].bodyBytesSent == 1000)
        }
    }

    @Test("media that may no longer be stored still plays to its end") func noStoreThatComesLater() async throws {
        try await Site.run(isShared: false) { site async throws in
            site.publish("max-age=60")
            _ = try await site.get(["Range: bytes=0-99"])
            site.publish("no-store")
            let whole = try await site.get()
            #expect(whole.head.status == 200)
            #expect(whole.isPattern())
        }
    }

    @Test("the rules of a shared cache apply to a hole's response, too") func privateHoles() async throws {
        try await Site.run { site async throws in
            site.publish("public, max-age=60")
            _ = try await site.get(["Range: bytes=0-99"])
            site.publish("private")
            #expect(try await site.get(["Range: bytes=100-199"]).body == TestPattern.bytes(in: 100..<200, seed: 1))
            #expect(site.proxy.bench.cache.storedBytes == 100)
        }
    }

    @Test("a playlist without a media type is a playlist") func playlistWithoutAType() async throws {
        try await Site.run(isShared: false) { site async throws in
            site.publish("max-age=2", at: "/live.m3u8", type: "application/octet-stream")
            _ = try await site.get([], "/live.m3u8")
            site.clock.shift(by: .seconds(3))
            site.publish("max-age=2", at: "/live.m3u8", seed: 2, etag: "\"v2\"", type: "application/octet-stream")
            #expect(try await site.get([], "/live.m3u8").isPattern(2))
        }
    }

    @Test("conditions of other methods are the origin's business (RFC 9110 §13.1)") func conditionsOfOtherMethods()
        async throws
    {
        try await Site.run { site async throws in
            site.publish("max-age=60") { $0.statusOfOtherMethods = 412 }
            let reply = try await site.get(["If-None-Match: *", "Content-Length: 0"], method: "PUT")
            #expect(reply.head.status == 412)
            #expect(site.origin.snapshot["/a"].requests.last?.fields[.ifNoneMatch] == "*")
        }
    }

    @Test("media without validator or freshness is not fetched twice within a day")
    func mediaThatCannotBeValidated() async throws {
        try await Site.run(isShared: false) { site async throws in
            site.publish(nil, etag: nil)
            _ = try await site.get()
            site.clock.shift(by: .seconds(80_000))
            #expect(try await site.get().status == "reprise; hit")
            #expect(site.requests == 1)
        }
    }

    // MARK: - Invalidation, negative answers

    @Test(
        "unsafe methods are passed on and make stored responses stale (RFC 9111 §4.4)",
        arguments: ["POST", "PUT", "DELETE", "PATCH", "M-SEARCH"])
    func unsafeMethodsInvalidate(method: String) async throws {
        try await Site.run { site async throws in
            site.publish("max-age=600") { $0.statusOfOtherMethods = 204 }
            _ = try await site.get()
            let reply = try await site.get(["Content-Length: 0"], method: method)
            #expect(reply.head.status == 204)
            #expect(reply.status == "reprise; fwd=method; fwd-status=204")
            #expect(try await site.get().status == "reprise; fwd=stale; fwd-status=304")
            site.publish("max-age=600") { $0.statusOfOtherMethods = 500 }
            _ = try await site.get(["Content-Length: 0"], method: method)
            #expect(try await site.get().status == "reprise; hit", "a refusal changes nothing")
        }
    }

    @Test("Location and Content-Location of the same host are invalidated too (RFC 9111 §4.4)")
    func locationsAreInvalidated() async throws {
        try await Site.run { site async throws in
            site.publish("max-age=600", at: "/other")
            _ = try await site.get([], "/other")
            site.publish(nil, at: "/form", fields: [.location: "/other"]) { $0.statusOfOtherMethods = 201 }
            _ = try await site.get(["Content-Length: 0"], "/form", method: "POST")
            #expect(try await site.get([], "/other").status.contains("fwd=stale"))
        }
    }

    @Test("an invalidated response stays stale after a restart") func invalidationIsRecorded() async throws {
        let clock = ShiftableClock()
        try await ProxyBench.run(configure: { $0.clock = clock.cacheClock }) { proxy async throws in
            proxy.bench.publish("/a", length: 1000) {
                $0.fields[.cacheControl] = "max-age=600"
                $0.statusOfOtherMethods = 200
            }
            _ = try await proxy.get("/a")
            _ = try await proxy.get("/a", ["Content-Length: 0"], method: "POST")
            try await proxy.bench.reopened(configure: { $0.clock = clock.cacheClock }) { cache async throws in
                let read = try await cache.resource(for: proxy.bench.origin.url("/a")).read()
                #expect(read.disposition == .validated)
                #expect(try await read.collect().count == 1000)
            }
        }
    }

    @Test("an answer without media is reused for its lifetime (RFC 9111 §4)", arguments: [404, 410, 403, 503])
    func negativeAnswers(status: Int) async throws {
        try await Site.run { site async throws in
            site.publish("max-age=60") {
                $0.status = status
                $0.statusBody = Array("no".utf8)
            }
            let count = site.requests
            #expect(try await site.get().head.status == status)
            let first = site.requests
            site.clock.shift(by: .seconds(50))
            let hit = try await site.get()
            #expect(hit.head.status == status)
            #expect(hit.body == Array("no".utf8))
            #expect(hit.status == "reprise; hit")
            #expect(hit.head.fields["age"] == "50")
            #expect(site.requests == first)
            site.clock.shift(by: .seconds(20))
            _ = try await site.get()
            #expect(site.requests > first)
            #expect(count == 0)
        }
    }

    @Test("HEAD freshens the stored response, or invalidates it (RFC 9111 §4.3.5)")
    func headUpdates() async throws {
        try await Site.run { site async throws in
            site.publish("max-age=60")
            _ = try await site.get()
            site.clock.shift(by: .seconds(61))
            #expect(try await site.get(method: "HEAD").status == "reprise; fwd=stale; fwd-status=200")
            #expect(try await site.get().status == "reprise; hit")
            site.clock.shift(by: .seconds(61))
            site.publish("max-age=60", seed: 2, etag: "\"v2\"")
            _ = try await site.get(method: "HEAD")
            #expect(try await site.get().isPattern(2))
        }
    }

    // MARK: - Vary

    @Test("each variant is a separate stored response (RFC 9111 §4.1)") func vary() async throws {
        let clock = ShiftableClock()
        try await ProxyBench.run(configure: { $0.clock = clock.cacheClock }) { proxy async throws in
            func publish(_ seed: UInt64) {
                proxy.bench.publish("/a", length: 1000, seed: seed, etag: "\"v\(seed)\"") {
                    $0.fields = [.vary: "X-Room, Accept-Encoding", .cacheControl: "max-age=600"]
                }
            }
            func get(_ room: String?, _ server: ProxyServer? = nil) async throws -> Reply {
                let (head, body) = try await RawClient.exchange(
                    port: (server ?? proxy.server).port, proxy.target("/a"), room.map { ["X-Room: \($0)"] } ?? [])
                return Reply(head: head, body: body)
            }
            publish(1)
            #expect(try await get("red").isPattern(1))
            publish(2)
            let blue = try await get("blue")
            #expect(blue.isPattern(2))
            #expect(blue.status == "reprise; fwd=vary-miss; fwd-status=200; stored")
            publish(3)
            #expect(try await get(nil).isPattern(3))
            for (room, seed) in [("red", 1), (" red ", 1), ("blue", 2), (nil, 3)] as [(String?, UInt64)] {
                let reply = try await get(room)
                #expect(reply.isPattern(seed))
                #expect(reply.status == "reprise; hit")
            }
            #expect(proxy.bench.origin.snapshot.requestCount == 3)
            await proxy.server.stop()
            try await proxy.bench.reopened(configure: { $0.clock = clock.cacheClock }) { cache async throws in
                let server = try await ProxyServer.start(cache, configuration: ProxyConfiguration())
                #expect(try await get("red", server).isPattern(1))
                #expect(try await get("blue", server).isPattern(2))
                #expect(proxy.bench.origin.snapshot.requestCount == 3)
                #expect(try await cache.remove(CacheKey(proxy.bench.origin.url("/a"))) == 3000)
                #expect(try await get("red", server).isPattern(3))
                await server.stop()
            }
        }
    }
}
