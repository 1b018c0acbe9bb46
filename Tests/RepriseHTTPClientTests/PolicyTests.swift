import HTTPTypes
import NIOCore
import NIOHTTP1
import Reprise
import TestLimits
import Testing

@testable import RepriseHTTPClient

@Suite("Addresses, requests and redirects", .limit(minutes: 1))
struct PolicyTests {
    @Test(
        "Addresses inside are not public (RFC 6890)",
        arguments: [
            "127.0.0.1", "127.255.0.9", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254",
            "100.64.0.1", "100.127.255.255", "0.0.0.0", "224.0.0.1", "255.255.255.255", "192.0.0.8", "198.18.0.1", "::",
            "::1", "fe80::1", "fc00::1", "fd12:3456::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::10.0.0.1",
            "64:ff9b::a00:1", "2002:c0a8:101::1", "fec0::1",
            // Documentation, relays of 6to4, protocol assignments.
            "192.0.2.0", "192.0.2.255", "198.51.100.7", "203.0.113.255", "192.88.99.1", "::ffff:203.0.113.7",
            "2001:db8::7", "2001:db8:ffff::1", "3fff::1", "3fff:fff::1", "2001:20::1", "2001:2f:ffff::1",
            "2001:0:808:808::1", "2001::1", "2001:1ff:ffff::1",
        ])
    func addressesInsideAreNotPublic(_ text: String) throws {
        #expect(!AddressPolicy(for: text).permits(try SocketAddress(ipAddress: text, port: 80)))
    }

    @Test(
        "Addresses of the internet are public",
        arguments: [
            "8.8.8.8", "172.15.0.1", "172.32.0.1", "100.63.0.1", "100.128.0.1", "192.0.66.1", "223.255.255.255",
            "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808", "192.0.1.255", "192.0.3.0", "192.88.98.1",
            "192.88.100.1", "198.51.99.1", "198.51.101.1", "203.0.112.1", "203.0.114.1", "2001:200::1", "2001:db7::1",
            "2001:db9::1", "3ffe::1", "3fff:1000::1", "2000::1",
        ])
    func addressesOfTheInternetArePublic(_ text: String) throws {
        #expect(AddressPolicy(for: text).permits(try SocketAddress(ipAddress: text, port: 80)))
    }

    @Test("Host comes first, hop-by-hop fields are removed (RFC 9110 §7.6.1)")
    func hostComesFirstAndHopByHopFieldsStayBehind() throws {
        var request = OriginRequest(url: try ResourceURL("http://example.org:8080/a%20b?sig=%2F"))
        request.fields = [.range: "bytes=0-1", .connection: "keep-alive, X-Hop", .te: "gzip", .expect: "100-continue"]
        request.fields[try #require(.init("X-Hop"))] = "1"
        request.fields[try #require(.init("Host"))] = "evil.example"
        let head = try RequestHead.make(request, configuration: .named("reprise/test"))
        #expect(head.uri == "/a%20b?sig=%2F")
        #expect(
            head.headers.map { "\($0.name): \($0.value)" } == [
                "Host: example.org:8080", "Range: bytes=0-1", "User-Agent: reprise/test", "Accept-Encoding: identity",
            ])
    }

    @Test func fieldsThatAreThereAreNotAdded() throws {
        var request = OriginRequest(url: try ResourceURL("http://example.org/"), method: .head)
        request.fields = [.userAgent: "player", .acceptEncoding: "gzip"]
        let head = try RequestHead.make(request, configuration: .named("reprise/test"))
        #expect(head.method == .HEAD)
        #expect(
            head.headers.map { "\($0.name): \($0.value)" } == [
                "Host: example.org", "User-Agent: player", "Accept-Encoding: gzip",
            ])
    }

    @Test func lineBreaksInValuesNeverReachTheWire() throws {
        var request = OriginRequest(url: try ResourceURL("http://example.org/"))
        request.fields[.referer] = "a\r\nX-Injected: 1"
        let head = try? RequestHead.make(request, configuration: .named("reprise/test"))
        for (name, value) in head?.headers ?? [:] {
            #expect(!name.utf8.contains { $0 < 0x20 } && !value.utf8.contains { $0 < 0x20 })
        }
    }

    @Test func otherMethodsArePassedOnExceptThoseThatProxiesMustNotRepeat() throws {
        var request = OriginRequest(url: try ResourceURL("http://example.org/"), method: .post)
        request.body = [1, 2, 3]
        let head = try RequestHead.make(request, configuration: .named(""))
        #expect(head.method == .POST)
        #expect(head.headers["content-length"] == ["3"])
        for method in [HTTPRequest.Method.connect, .trace] {
            request.method = method
            #expect(throws: RepriseError.self) { try RequestHead.make(request, configuration: .named("")) }
        }
    }

    @Test(
        "Credentials stay with their host and port",
        arguments: [
            ("http://a/x", "/y", true), ("http://a/x", "http://a:81/y", false), ("http://a/x", "http://b/y", false),
            ("http://a/x", "https://a/y", true), ("http://a:81/x", "https://a/y", false),
            ("http://a/x", "//b/y", false),
        ])
    func credentialsStayWithTheirHostAndPort(_ from: String, _ location: String, _ kept: Bool) throws {
        var request = OriginRequest(url: try ResourceURL(from))
        request.fields = [.authorization: "Basic eA==", .cookie: "a=b", .range: "bytes=5-"]
        let next = try Redirect.following(location, from: request)
        #expect((next.fields[.authorization] != nil) == kept)
        #expect((next.fields[.cookie] != nil) == kept)
        #expect(next.fields[.range] == "bytes=5-")
    }

    @Test(
        "Only harmless fields are sent on to another host or port",
        arguments: [("http://a/x", "http://b/y"), ("http://a/x", "http://a:81/y"), ("http://a/x", "https://a:8443/y")])
    func onlyHarmlessFieldsGoOnToAnotherHost(_ from: String, _ location: String) throws {
        let harmless = [
            "Accept", "Accept-Language", "User-Agent", "Range", "If-Range", "If-None-Match", "Cache-Control", "Via",
            "Icy-MetaData",
        ]
        let secret = ["X-Api-Key", "X-Plex-Token", "Referer", "Origin", "Cookie", "Authorization", "Access-Token"]
        var request = OriginRequest(url: try ResourceURL(from))
        for name in harmless + secret { request.fields[try #require(HTTPField.Name(name))] = "1" }
        let away = try Redirect.following(location, from: request)
        #expect(away.fields.map(\.name.rawName) == harmless)
        #expect(try Redirect.following("/y", from: request).fields.count == harmless.count + secret.count)
    }

    @Test func ofAMixedNameOnlyThePublicAddressesAreConnectedTo() throws {
        let endpoint = Endpoint(try ResourceURL("http://mixed.example/"))
        let policy = AddressPolicy(for: "mixed.example")
        let inside = try SocketAddress(ipAddress: "10.0.0.1", port: 80)
        let outside = try SocketAddress(ipAddress: "2606:4700::1111", port: 80)
        #expect(try PublicResolver.allowed([inside, outside], by: policy, for: endpoint) == [outside])
        #expect(throws: RepriseError.self) { try PublicResolver.allowed([inside], by: policy, for: endpoint) }
        #expect(try PublicResolver.allowed([], by: policy, for: endpoint).isEmpty)
        let ranges = AddressPolicy(for: "mixed.example", ranges: [try #require(AddressRange("10.0.0.0/8"))])
        #expect(try PublicResolver.allowed([inside, outside], by: ranges, for: endpoint) == [inside, outside])
    }

    @Test(arguments: ["http://a/y", "ftp://a/y", "http://user@a/", "file:///etc/passwd", "https://a:99999/"])
    func redirectsFromTLSToAnythingElseAreRefused(_ location: String) throws {
        let request = OriginRequest(url: try ResourceURL("https://a/x"))
        do {
            let next = try Redirect.following(location, from: request)
            // Without an authority this is a relative reference, resolved against the same host.
            #expect(next.url.host == "a" && next.url.scheme == .https)
        } catch {
            #expect(error.code == .originRedirectRefused)
        }
    }

    @Test("White space and bytes beyond ASCII in Location are percent-encoded, as browsers do")
    func aLocationThatIsNoURI() throws {
        let request = OriginRequest(url: try ResourceURL("https://a/d/x"))
        for (location, target) in [
            ("/lo c/l.m3u8", "https://a/lo%20c/l.m3u8"), ("/lo\u{e9}/%20?q=\t", "https://a/lo%C3%A9/%20?q=%09"),
            ("y z", "https://a/d/y%20z"),
        ] {
            #expect(try Redirect.following(location, from: request).url.description == target)
        }
    }

    @Test(
        "The end of a body is determined by RFC 9112 §6.3",
        arguments: [
            ("GET", 200, ["content-length": "5"], BodyFraming.length(5)),
            ("GET", 200, ["transfer-encoding": "chunked"], .chunked), ("GET", 200, [:], .untilClose),
            ("HEAD", 200, ["content-length": "5"], .none), ("GET", 304, ["content-length": "5"], .none),
            ("GET", 204, [:], .none), ("GET", 206, ["transfer-encoding": "identity"], .untilClose),
        ])
    func theEndOfABodyShows(_ method: String, _ status: Int, _ fields: [String: String], _ framing: BodyFraming) throws
    {
        let headers = HTTPHeaders(fields.map { ($0.key, $0.value) })
        #expect(try BodyFraming(method: .init(rawValue: method), status: status, headers: headers) == framing)
    }

    @Test func transferCodingsThatNobodyAskedForAreRefused() {
        #expect(throws: RepriseError.self) {
            try BodyFraming(method: .GET, status: 200, headers: ["transfer-encoding": "gzip, chunked"])
        }
    }
}
