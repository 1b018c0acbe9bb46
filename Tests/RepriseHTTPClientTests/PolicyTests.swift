import Foundation
import HTTPTypes
import NIOCore
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

    private func lines(of request: OriginRequest, _ userAgent: String) throws -> [String] {
        let head = try RequestHead(request, configuration: .named(userAgent))
        return String(buffer: head.bytes).components(separatedBy: "\r\n")
    }

    @Test("A field value leaves as the bytes that it is")
    func valuesOfOtherAlphabets() throws {
        var request = OriginRequest(url: try ResourceURL("http://example.org/"))
        request.fields.append(HTTPField(name: .referer, value: [0x61, 0xE9]))
        let head = try RequestHead(request, configuration: .named(""))
        #expect(Array(head.bytes.readableBytesView).contains(0xE9))
        #expect(String(buffer: head.bytes).hasSuffix("\r\n\r\n"))
    }

    @Test("Host comes first, hop-by-hop fields are removed (RFC 9110 §7.6.1)")
    func hostComesFirstAndHopByHopFieldsStayBehind() throws {
        var request = OriginRequest(url: try ResourceURL("http://example.org:8080/a%20b?sig=%2F"))
        request.fields = [.range: "bytes=0-1", .connection: "keep-alive, X-Hop", .te: "gzip", .expect: "100-continue"]
        request.fields[try #require(.init("X-Hop"))] = "1"
        request.fields[try #require(.init("Host"))] = "evil.example"
        #expect(
            try lines(of: request, "reprise/test") == [
                "GET /a%20b?sig=%2F HTTP/1.1", "Host: example.org:8080", "Range: bytes=0-1", "User-Agent: reprise/test",
                "Accept-Encoding: identity", "", "",
            ])
    }

    @Test func fieldsThatAreThereAreNotAdded() throws {
        var request = OriginRequest(url: try ResourceURL("http://example.org/"), method: .head)
        request.fields = [.userAgent: "player", .acceptEncoding: "gzip"]
        #expect(
            try lines(of: request, "reprise/test") == [
                "HEAD / HTTP/1.1", "Host: example.org", "User-Agent: player", "Accept-Encoding: gzip", "", "",
            ])
    }

    @Test func lineBreaksInValuesNeverReachTheWire() throws {
        var request = OriginRequest(url: try ResourceURL("http://example.org/"))
        request.fields[.referer] = "a\r\nX-Injected: 1"
        #expect(try lines(of: request, "reprise/test").count { $0.hasPrefix("X-Injected") } == 0)
    }

    @Test func otherMethodsArePassedOnExceptThoseThatProxiesMustNotRepeat() throws {
        var request = OriginRequest(url: try ResourceURL("http://example.org/"), method: .post)
        request.body = [1, 2, 3]
        #expect(try lines(of: request, "").first == "POST / HTTP/1.1")
        #expect(try lines(of: request, "").contains("Content-Length: 3"))
        for method in [HTTPRequest.Method.connect, .trace] {
            request.method = method
            #expect(throws: RepriseError.self) { try RequestHead(request, configuration: .named("")) }
        }
    }

    @Test(
        "Credentials stay with their host and port",
        arguments: [
            ("http://a/x", "/y", true), ("http://a/x", "http://a:81/y", false), ("http://a/x", "http://b/y", false),
            ("http://a/x", "https://a/y", true), ("http://a:81/x", "https://a/y", false),
            ("http://a/x", "//b/y", false), ("https://a/x", "http://a/y", false),
        ])
    func credentialsStayWithTheirHostAndPort(_ from: String, _ location: String, _ kept: Bool) throws {
        var request = OriginRequest(url: try ResourceURL(from))
        request.fields = [.authorization: "Basic eA==", .cookie: "a=b", .range: "bytes=5-"]
        let next = try Redirect.following(location, from: request, mayLeaveTLS: true)
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

    @Test("White space and bytes beyond ASCII in Location are percent-encoded byte by byte, as browsers do")
    func aLocationThatIsNoURI() throws {
        let request = OriginRequest(url: try ResourceURL("https://a/d/x"))
        for (location, target) in [
            (Array("/lo c/l.m3u8".utf8), "https://a/lo%20c/l.m3u8"),
            (Array("/lo\u{e9}/%20?q=\t.".utf8), "https://a/lo%C3%A9/%20?q=%09."),
            (Array("y z".utf8), "https://a/d/y%20z"), ([0x2F, 0xE9], "https://a/%E9"),
        ] {
            var head = HTTPResponse(status: .found)
            head.headerFields.append(HTTPField(name: .location, value: location))
            let visible = try #require(Redirect.location(of: head))
            #expect(try Redirect.following(visible, from: request).url.description == target)
        }
    }
}
