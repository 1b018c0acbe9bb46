import HTTPSemantics
import HTTPTypes
import Testing

@testable import Reprise

/// Redirects of one exchange: cookies by RFC 6265, circles and chains.
@Suite struct RedirectFollowerTests {
    /// In seconds since 1970.
    private static let now = 1_800_000_000.0

    private func follower(
        _ url: String, _ fields: HTTPFields = [:], limit: Int = 20, mayLeaveTLS: Bool = false
    ) throws -> RedirectFollower {
        RedirectFollower(
            OriginRequest(url: try ResourceURL(url), fields: fields), limit: limit, mayLeaveTLS: mayLeaveTLS,
            now: Self.now)
    }

    private func redirect(_ location: String, _ cookies: String...) -> HTTPResponse {
        var head = HTTPResponse(status: .found, headerFields: [.location: location])
        head.headerFields[values: .setCookie] = cookies
        return head
    }

    /// The cookies of a request to `location`, after a redirect from `url` that sets `cookies`.
    private func cookies(_ cookies: String..., from url: String, to location: String, own: String? = nil) throws
        -> String?
    {
        var follower = try follower(url, own.map { [.cookie: $0] } ?? [:], mayLeaveTLS: true)
        var head = redirect(location)
        head.headerFields[values: .setCookie] = cookies
        #expect(try follower.follows(head))
        return follower.request.fields[.cookie]
    }

    @Test(
        "A cookie is sent where RFC 6265 §5.1.3 and §5.1.4 say",
        arguments: [
            ("s=1", "/b", "s=1"), ("s=1", "http://b.test/", nil), ("s=1", "http://a.test:81/d/x", "s=1"),
            ("s=1; Path=/", "/", "s=1"), ("s=1; Path=/e", "/b", nil), ("s=1; Path=/e", "/e/f", "s=1"),
            ("s=1; Path=/e", "/ef", nil), ("s=1; Path=/e/", "/e", nil), ("s=1; path=e", "/d/x", "s=1"),
            ("s=1", "/", nil), ("s=1", "/d?again=1", "s=1"),
            ("s=1; Domain=.a.test; Path=/", "http://x.a.test/", "s=1"),
            ("s=1; domain=a.test; Path=/", "http://a.test/", "s=1"),
            ("s=1; Domain=b.test; Path=/", "http://b.test/", nil), ("s=1; Domain=test; Path=/", "http://b.test/", nil),
            ("s=1; Domain=a.test; Path=/", "http://xa.test/", nil),
            ("s=1; Domain=x.a.test; Path=/", "http://x.a.test/", nil),
            ("s=1; Secure; Path=/", "https://a.test/", nil), ("s", "/d/b", nil), ("=1", "/d/b", nil),
            (" s = 1 ; Path=/", "/d/b", "s=1"), ("s=\"a b\"; Path=/", "/", "s=\"a b\""),
        ] as [(String, String, String?)])
    func matching(_ cookie: String, _ location: String, _ expected: String?) throws {
        let location = location == "/b" ? "/d/b" : location
        #expect(try cookies(cookie, from: "http://a.test/d/x", to: location) == expected)
    }

    @Test(
        "The log-in is that of the URL which answers",
        arguments: [
            (["http://me:pw@b.test/"], "Basic bWU6cHc="), (["http://me:pw@b.test/", "/x"], "Basic bWU6cHc="),
            (["http://me:pw@b.test/", "http://c.test/"], nil),
            (["http://me:pw@b.test/", "http://me:pw@c.test/"], "Basic bWU6cHc="), (["http://b.test/"], nil),
            (["/x"], nil),
        ] as [([String], String?)])
    func login(_ locations: [String], _ expected: String?) throws {
        var follower = try follower("http://a.test/", [.authorization: "Bearer 1"])
        for location in locations { #expect(try follower.follows(redirect(location))) }
        #expect(follower.login == expected)
        #expect(follower.request.fields[.authorization] == (locations == ["/x"] ? "Bearer 1" : expected))
    }

    @Test func secureCookiesStayInTLS() throws {
        #expect(try cookies("s=1; Secure", from: "https://a.test/", to: "/b") == "s=1")
        #expect(try cookies("s=1; Secure", from: "https://a.test/", to: "http://a.test/b") == nil)
    }

    @Test func cookiesReplaceAndRemoveThoseOfTheClient() throws {
        let from = "http://a.test/"
        #expect(try cookies("s=1", "t=2; Path=/b", from: from, to: "/b", own: "s=0; u=3") == "t=2; s=1; u=3")
        #expect(try cookies("s=1", "s=2", from: from, to: "/b") == "s=2")
        #expect(try cookies("s=; Max-Age=0", from: from, to: "/b", own: "s=0; u=3") == "u=3")
        #expect(try cookies("s=; Max-Age=-1", from: from, to: "/b", own: "s=0") == nil)
        #expect(try cookies("s=1; Max-Age=9", from: from, to: "/b") == "s=1")
        for date in ["Thu, 01 Jan 1970 00:00:00 GMT", "Thu, 01-Jan-1970 00:00:01 GMT"] {
            #expect(try cookies("s=1", "s=x; Expires=\(date)", from: from, to: "/b", own: "s=0; u=3") == "u=3")
        }
        #expect(try cookies("s=1; Expires=Thu, 01 Jan 2099 00:00:00 GMT", from: from, to: "/b") == "s=1")
    }

    @Test("The client's own cookies stay with their host; those of redirects come back")
    func wayBack() throws {
        var follower = try follower("http://a.test/", [.cookie: "own=1"])
        #expect(try follower.follows(redirect("http://b.test/", "a=1")))
        #expect(follower.request.fields[.cookie] == nil && follower.hasLeftHost)
        #expect(try follower.follows(redirect("http://a.test/x", "b=1")))
        #expect(follower.request.fields[.cookie] == "a=1")
    }

    @Test("the last response sets what redirects set for its host, and its own cookies after that")
    func lastResponse() throws {
        var follower = try follower("https://a.test/go/ch", mayLeaveTLS: true)
        let cookies = ["s=1", "d=2; Domain=.a.test; Path=/; Max-Age=60", "gone=1; Max-Age=0", "tls=3; Path=/; Secure"]
        var head = redirect("https://cdn.a.test/list.m3u8")
        head.headerFields[values: .setCookie] = cookies
        #expect(try follower.follows(head))
        let own = HTTPResponse(status: .ok, headerFields: [.setCookie: "d=own"])
        #expect(
            follower.completed(own).headerFields[values: .setCookie]
                == ["d=2; Path=/; HttpOnly; Domain=a.test; Max-Age=60", "d=own"])
        #expect(try follower.follows(redirect("https://a.test/list.m3u8")))
        #expect(
            follower.completed(own).headerFields[values: .setCookie] == [
                "s=1; Path=/go; HttpOnly", "d=2; Path=/; HttpOnly; Domain=a.test; Max-Age=60",
                "gone=1; Path=/go; HttpOnly; Max-Age=0", "tls=3; Path=/; HttpOnly; Secure", "d=own",
            ])
        let plain = try self.follower("http://a.test/")
        #expect(plain.completed(own).headerFields[values: .setCookie] == ["d=own"])
    }

    @Test(
        "a response is private if other users may be redirected elsewhere",
        arguments: [
            ([:], [:], false), ([.cookie: "a=1"], [:], true), ([.authorization: "Basic eA=="], [:], true),
            ([.cookie: "a=1"], [.cacheControl: "public"], false),
            ([.cookie: "a=1"], [.cacheControl: "s-maxage=9"], false),
            ([.cookie: "a=1"], [.cacheControl: "max-age=9"], false),
            ([.authorization: "Basic eA=="], [.cacheControl: "max-age=9"], true),
            ([.cookie: "a=1"], [.cacheControl: "public, no-store"], true),
            ([:], [.cacheControl: "private"], true), ([:], [.cacheControl: "no-store"], false),
            ([:], [.vary: "Cookie"], true),
            ([:], [.vary: "*"], true), ([:], [.vary: "Origin"], false),
        ] as [(HTTPFields, HTTPFields, Bool)])
    func personal(fields: HTTPFields, answer: HTTPFields, isPersonal: Bool) throws {
        var follower = try follower("http://a.test/", fields)
        var head = redirect("/b")
        head.headerFields.append(contentsOf: answer)
        #expect(try follower.follows(head))
        let control: HTTPFields = [.cacheControl: "public", HTTPField.Name("CDN-Cache-Control")!: "max-age=9"]
        let final = follower.completed(HTTPResponse(status: .ok, headerFields: control))
        #expect(CacheControl(final.headerFields, isShared: true).isPrivate == isPersonal)
    }

    @Test("a permanent redirect is the same for all users, unless it says something else")
    func permanent() throws {
        for (fields, isPersonal) in [([.cookie: "a=1"], false), ([.authorization: "Basic eA=="], true)]
            as [(HTTPFields, Bool)]
        {
            var follower = try follower("http://a.test/", fields)
            let head = HTTPResponse(status: .movedPermanently, headerFields: [.location: "https://a.test/"])
            #expect(try follower.follows(head))
            let final = follower.completed(HTTPResponse(status: .ok))
            #expect(CacheControl(final.headerFields).isPrivate == isPersonal)
        }
    }

    @Test("a cookie that is removed by a redirect without Date is gone")
    func noDate() throws {
        let removed = "s=deleted; Expires=Wed, 01 Jan 2020 00:00:00 GMT"
        #expect(try cookies(removed, from: "http://a.test/", to: "/b") == nil)
    }

    @Test("a name and a password in a location are sent to its host, and to no other")
    func logins() throws {
        var follower = try follower("http://a.test/")
        #expect(try follower.follows(redirect("http://me:p%40ss@b.test/film?x=@")))
        #expect(follower.request.url.description == "http://b.test/film?x=@")
        #expect(follower.request.fields[.authorization] == "Basic bWU6cEBzcw==")
        #expect(try follower.follows(redirect("//you@b.test/other")))
        #expect(follower.request.fields[.authorization] == "Basic eW91Og==")
        #expect(try follower.follows(redirect("http://c.test/user@place")))
        #expect(follower.request.url.description == "http://c.test/user@place")
        #expect(follower.request.fields[.authorization] == nil)
    }

    @Test func aCircleIsRefusedWhenARequestIsSentForTheThirdTime() throws {
        var follower = try follower("http://a.test/1")
        for location in ["/2", "/1", "/2"] { #expect(try follower.follows(redirect(location))) }
        let error = #expect(throws: RepriseError.self) { try follower.follows(redirect("/1")) }
        #expect(error?.code == .originRedirectRefused && error?.message.contains("circle") == true)
    }

    @Test func theSameURLWithAnotherCookieIsNoCircle() throws {
        var follower = try follower("http://a.test/1")
        for number in 1...20 { #expect(try follower.follows(redirect("/1", "s=\(number)"))) }
        let error = #expect(throws: RepriseError.self) { try follower.follows(redirect("/1", "s=21")) }
        #expect(error?.message.contains("more than 20 times") == true)
    }

    @Test("TLS is left only if that is allowed, and without credentials")
    func leavingTLS() throws {
        var strict = try follower("https://a.test/")
        let error = #expect(throws: RepriseError.self) { try strict.follows(redirect("http://a.test/")) }
        #expect(error?.message.contains("redirect-to-http") == true)
        var lax = try follower(
            "https://a.test/", [.authorization: "Basic eA==", .cookie: "a=b", .range: "bytes=0-"], mayLeaveTLS: true)
        #expect(try lax.follows(redirect("http://a.test/")))
        #expect(lax.request.fields == [.range: "bytes=0-"] && lax.hasLeftHost)
    }
}
