import HTTPTypes
import TestLimits
import Testing

@testable import HTTPSemantics

/// Cookies go back to where they belong: RFC 6265 §5.1.3, §5.1.4, §5.2 to §5.4.
@Suite(.limit(minutes: 1)) struct CookieJarTests {
    private static let now: Int64 = 1_800_000_000

    private static func place(_ url: String) -> CookieJar.Place {
        let isSecure = url.hasPrefix("https://")
        let rest = url.dropFirst(isSecure ? 8 : 7)
        let host = rest.prefix { $0 != "/" }
        return CookieJar.Place(host: String(host), target: String(rest.dropFirst(host.count)), isSecure: isSecure)
    }

    private static func jar(_ values: [String], from url: String, at time: Int64 = now) -> CookieJar {
        var jar = CookieJar()
        jar.take(HTTPFields(values.map { HTTPField(name: .setCookie, value: $0) }), from: place(url), at: time)
        return jar
    }

    @Test(
        "a cookie is sent to hosts, paths and schemes that it is for",
        arguments: [
            ("a=b", "http://h.test/x", "a=b"), ("a=b", "http://other.test/x", nil), ("a=b", "http://s.h.test/x", nil),
            ("a=b; Domain=h.test", "http://s.h.test/x", "a=b"), ("a=b; Domain=.H.test", "http://s.h.test/x", "a=b"),
            ("a=b; Domain=h.test", "http://evilh.test/x", nil), ("a=b; Domain=test", "http://h.test/x", nil),
            ("a=b; Domain=other.test", "http://other.test/x", nil), ("a=b; Domain=other.test", "http://h.test/x", nil),
            ("a=b; Path=/live", "http://h.test/live", "a=b"), ("a=b; Path=/live", "http://h.test/live/1.ts?q", "a=b"),
            ("a=b; Path=/live", "http://h.test/lively", nil), ("a=b; Path=live", "http://h.test/x", "a=b"),
            ("a=b; Secure", "http://h.test/x", nil), ("a=b; Secure", "https://h.test/x", nil),
            ("a=b; HttpOnly; SameSite=None", "http://h.test/x", "a=b"), ("a=", "http://h.test/x", "a="),
            (" a = b=c ", "http://h.test/x", "a=b=c"), ("=b", "http://h.test/x", nil), ("b", "http://h.test/x", nil),
        ] as [(String, String, String?)])
    func places(value: String, url: String, expected: String?) {
        let jar = Self.jar([value], from: "http://h.test/list.m3u8")
        #expect(jar.field(for: Self.place(url), at: Self.now) == expected)
    }

    @Test("only an encrypted response sets a cookie that is sent over TLS only")
    func secure() {
        let jar = Self.jar(["a=b; Secure", "__Host-c=d; Path=/; Secure"], from: "https://h.test/")
        #expect(jar.field(for: Self.place("https://h.test/x"), at: Self.now) == "a=b; __Host-c=d")
        #expect(jar.field(for: Self.place("http://h.test/x"), at: Self.now) == nil)
    }

    @Test(
        "the prefixes of a name are promises (RFC 6265bis §4.1.3)",
        arguments: [
            ("__Secure-a=b", nil), ("__Secure-a=b; Secure", "__Secure-a=b"), ("__Host-a=b; Secure", nil),
            ("__Host-a=b; Secure; Path=/; Domain=h.test", nil), ("__Host-a=b; Secure; Path=/", "__Host-a=b"),
        ] as [(String, String?)])
    func prefixes(value: String, expected: String?) {
        let jar = Self.jar([value], from: "https://h.test/x/y")
        #expect(jar.field(for: Self.place("https://h.test/x/z"), at: Self.now) == expected)
    }

    @Test("newer cookies of the jar replace and remove those of the request")
    func newer() {
        let jar = Self.jar(["a=2", "b=; Max-Age=0"], from: "http://h.test/")
        let place = Self.place("http://h.test/x")
        #expect(jar.field(for: place, at: Self.now, besides: "a=1; b=1; c=1", isNewer: true) == "a=2; c=1")
        #expect(jar.field(for: place, at: Self.now, besides: "b=1", isNewer: true) == "a=2")
        #expect(jar.field(for: place, at: Self.now, besides: "a=1; c=1") == "a=1; c=1")
    }

    @Test("the folder of the response is the default path")
    func folder() {
        let jar = Self.jar(["a=b"], from: "http://h.test/live/list.m3u8?x=/y/z")
        #expect(jar.field(for: Self.place("http://h.test/live/1.ts"), at: Self.now) == "a=b")
        #expect(jar.field(for: Self.place("http://h.test/1.ts"), at: Self.now) == nil)
    }

    @Test("no host sets a cookie for all of a registry, and no address for another one")
    func publicSuffixes() {
        let jar = Self.jar(["a=b; Domain=co.uk"], from: "http://h.co.uk/")
        #expect(jar.field(for: Self.place("http://bank.co.uk/"), at: Self.now) == nil)
        #expect(jar.field(for: Self.place("http://h.co.uk/"), at: Self.now) == nil)
        let address = Self.jar(["a=b; Domain=0.0.1"], from: "http://127.0.0.1/")
        #expect(address.field(for: Self.place("http://127.0.0.1/"), at: Self.now) == nil)
        let own = Self.jar(["a=b; Domain=127.0.0.1"], from: "http://127.0.0.1/")
        #expect(own.field(for: Self.place("http://127.0.0.1/"), at: Self.now) == "a=b")
    }

    @Test(
        "a cookie ends when it says",
        arguments: [
            ("a=b", true, true), ("a=b; Max-Age=60", true, false), ("a=b; Max-Age=0", false, false),
            ("a=b; Max-Age=-1", false, false), ("a=b; Max-Age=x", true, true),
            ("a=b; Max-Age=9223372036854775807", true, true),
            ("a=b; Expires=Fri, 15 Jan 2027 08:00:30 GMT", true, false),
            ("a=b; Expires=Fri, 15-Jan-2027 08:00:30 GMT", true, false),
            ("a=b; Expires=Thu, 01 Jan 1970 00:00:00 GMT", false, false),
            ("a=b; Max-Age=3600; Expires=Thu, 01 Jan 1970 00:00:00 GMT", true, true),
            ("a=b; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=3600", true, true), ("a=b; Expires=soon", true, true),
        ])
    func times(value: String, isSent: Bool, isSentLater: Bool) {
        let place = Self.place("http://h.test/x")
        let jar = Self.jar([value], from: "http://h.test/")
        #expect(jar.field(for: place, at: Self.now) == (isSent ? "a=b" : nil))
        #expect(jar.field(for: place, at: Self.now + 120) == (isSentLater ? "a=b" : nil))
    }

    @Test("the last response counts, and an old one from a store does not take its cookie back")
    func replacement() {
        let place = Self.place("http://h.test/x")
        var jar = Self.jar(["a=new", "b=1"], from: "http://h.test/")
        jar.take([.setCookie: "a=old"], from: place, at: Self.now - 60)
        #expect(jar.field(for: place, at: Self.now) == "a=new; b=1")
        jar.take([.setCookie: "a=newer"], from: place, at: Self.now + 1)
        #expect(jar.field(for: place, at: Self.now + 1) == "a=newer; b=1")
    }

    @Test("longer paths come first, and what the client sends counts more")
    func order() {
        let jar = Self.jar(["a=1; Path=/", "b=2; Path=/x", "c=3; Path=/"], from: "http://h.test/")
        let place = Self.place("http://h.test/x/y")
        #expect(jar.field(for: place, at: Self.now) == "b=2; a=1; c=3")
        #expect(jar.field(for: place, at: Self.now, besides: "c=own; d=4") == "c=own; d=4; b=2; a=1")
        #expect(CookieJar().field(for: place, at: Self.now, besides: "c=own") == "c=own")
    }

    @Test("the number of cookies is bounded")
    func bounds() {
        var jar = CookieJar()
        for number in 0..<3000 {
            jar.take(
                [.setCookie: "n\(number)=1"], from: Self.place("http://\(number % 40).test/"), at: Self.now)
        }
        let counts = (0..<40).map { host in
            jar.field(for: Self.place("http://\(host).test/"), at: Self.now)?.split(separator: ";").count ?? 0
        }
        #expect(counts.allSatisfy { $0 <= 64 } && counts.reduce(0, +) <= 1024)
        let long = Self.jar(["a=" + String(repeating: "x", count: 5000)], from: "http://h.test/")
        #expect(long.field(for: Self.place("http://h.test/"), at: Self.now) == nil)
    }
}
