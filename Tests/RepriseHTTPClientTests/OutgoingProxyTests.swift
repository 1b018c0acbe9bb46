import Reprise
import TestLimits
import Testing

@testable import RepriseHTTPClient

/// URLs of proxies, the variables that name them, and hosts that are asked directly.
@Suite(.limit(minutes: 1)) struct OutgoingProxyTests {
    private func endpoint(_ url: String) throws -> Endpoint { Endpoint(try ResourceURL(url)) }

    @Test(
        "A proxy's URL says how it is spoken to and where it is",
        arguments: [
            ("http://proxy.example:3128", "http://proxy.example:3128"),
            ("proxy.example:8080", "http://proxy.example:8080"),
            ("HTTP://Proxy.example/", "http://proxy.example:80"),
            ("https://proxy.example", "https://proxy.example:443"),
            ("https://proxy.example:80", "https://proxy.example:80"),
            ("http://proxy.example:80", "http://proxy.example:80"),
            ("socks5://127.0.0.1", "socks5://127.0.0.1:1080"), ("socks5h://[::1]:9050", "socks5h://[::1]:9050"),
            ("socks5h://[fd00::1]", "socks5h://[fd00::1]:1080"), ("http://u:p@[::1]:80", "http://[::1]:80"),
        ])
    func urls(text: String, name: String) throws {
        #expect(try OutgoingProxy(text).description == name)
    }

    @Test("User name and password are decoded (RFC 3986 §2.1), and sent as RFC 7617 §2 says")
    func logins() throws {
        let proxy = try OutgoingProxy("http://Aladdin:open%20sesame@proxy.example:3128")
        #expect(proxy.login == .init(user: "Aladdin", password: "open sesame"))
        #expect(proxy.authorization == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        #expect(try OutgoingProxy("http://u:p%40:%2F@h").login == .init(user: "u", password: "p@:/"))
        #expect(try OutgoingProxy("http://u@h").login == .init(user: "u", password: ""))
        #expect(try OutgoingProxy("http://h:1").login == nil)
    }

    @Test(
        "What is no URL of a proxy is refused, and the error has nothing of it",
        arguments: [
            "", "ftp://h", "socks4://h:1", "http://", "http://h:0", "http://h:x", "http://u:s3/cret@h",
            "http://u:s3 cret@h",
            "http://u:%0as3cret@h", "http://u:s3cret%zz@h", "http://a%3Ab:s3cret@h", "http://h/path", "http://h?s3cret",
            "socks5://u@h", "socks5://:s3cret@h", "http://[::1", "http://h h",
        ])
    func refused(text: String) {
        let error = #expect(throws: RepriseError.self) { try OutgoingProxy(text) }
        #expect(error?.code == .invalidURL)
        #expect(error?.description.contains("s3") == false)
    }

    @Test(
        "A password is hidden where a URL is shown",
        arguments: [
            ("http://u:secret@h:1", "http://u:<hidden>@h:1"), ("u:sec@ret@h", "u:<hidden>@h"),
            ("http://h:1", "http://h:1"),
            ("socks5://u@h", "socks5://u@h"), ("none", "none"), ("http://u:a://b@h", "http://u:<hidden>@h"),
        ])
    func hiding(text: String, shown: String) {
        #expect(OutgoingProxy.withoutPassword(text) == shown)
        if shown != text { #expect(throws: RepriseError.self) { try OutgoingProxy(shown) } }
    }

    // MARK: - Variables

    @Test("Names in small letters count before capitals, and those of a scheme before all_proxy")
    func variables() throws {
        func names(_ environment: [String: String]) -> [String?] {
            let variables = ProxyVariables(environment)
            return [variables.http?.name, variables.https?.name, variables.exceptions?.name]
        }
        #expect(names([:]) == [nil, nil, nil])
        #expect(names(["http_proxy": "a", "HTTP_PROXY": "b"]) == ["http_proxy", nil, nil])
        #expect(names(["http_proxy": "", "HTTP_PROXY": "b"]) == ["HTTP_PROXY", nil, nil])
        #expect(names(["HTTPS_PROXY": "a", "ALL_PROXY": "b"]) == ["ALL_PROXY", "HTTPS_PROXY", nil])
        #expect(
            names(["all_proxy": "a", "ALL_PROXY": "b", "NO_PROXY": "c"]) == ["all_proxy", "all_proxy", "NO_PROXY"])
    }

    @Test("HTTP_PROXY does not count in a CGI program (CVE-2016-5385)") func cgi() {
        let environment = ["HTTP_PROXY": "evil.example", "HTTPS_PROXY": "b", "REQUEST_METHOD": "GET"]
        #expect(ProxyVariables(environment).http == nil)
        #expect(ProxyVariables(environment).https?.value == "b")
        #expect(ProxyVariables(environment.merging(["http_proxy": "a"]) { $1 }).http?.value == "a")
    }

    @Test("A wrong variable is named, and its text is not") func wrongVariable() {
        let error = #expect(throws: RepriseError.self) {
            try OutgoingProxies(environment: ["HTTPS_PROXY": "gopher://u:secret@h"])
        }
        #expect(error?.message.hasPrefix("HTTPS_PROXY is wrong") == true)
        #expect(error?.description.contains("secret") == false)
    }

    @Test("Each scheme of URLs has its own proxy") func schemes() throws {
        let proxies = try OutgoingProxies(environment: ["http_proxy": "a:1", "https_proxy": "socks5h://b:2"])
        #expect(proxies.proxy(for: try endpoint("http://x.example/"))?.description == "http://a:1")
        #expect(proxies.proxy(for: try endpoint("https://x.example/"))?.description == "socks5h://b:2")
        #expect(try OutgoingProxies(environment: ["http_proxy": "a"]).proxy(for: endpoint("https://x.example/")) == nil)
    }

    // MARK: - Directly

    @Test(
        "This machine is never asked through a proxy",
        arguments: [
            "localhost", "LOCALHOST", "a.localhost", "localhost.", "127.0.0.1", "127.9.9.9", "[::1]",
            "[0:0:0:0:0:0:0:1]",
            "127.1", "0x7f000001", "2130706433", "[::ffff:127.0.0.1]", "017700000001",
        ])
    func thisMachine(host: String) throws {
        let proxies = OutgoingProxies(try OutgoingProxy("http://proxy.example"))
        #expect(proxies.proxy(for: try endpoint("http://\(host)/")) == nil)
        #expect(proxies.proxy(for: try endpoint("http://notlocalhost/")) != nil)
    }

    @Test(
        "NO_PROXY names hosts, domains, addresses and networks, with a port or without, as in curl and Go",
        arguments: [
            ("foo.example", "http://foo.example/", true), ("foo.example", "http://a.foo.example/", true),
            ("foo.example", "http://afoo.example/", false), (".foo.example", "http://a.foo.example/", true),
            (".foo.example", "http://foo.example/", true), ("*.foo.example", "http://a.foo.example/", true),
            ("FOO.example", "http://foo.EXAMPLE/", true), ("foo.example.", "http://foo.example/", true),
            ("foo.example", "http://foo.example./", true), ("foo.example:80", "http://foo.example/", true),
            ("foo.example:80", "https://foo.example/", false), ("foo.example:443", "https://a.foo.example/", true),
            ("*", "http://foo.example/", true), ("a.example, b.example", "http://b.example/", true),
            ("a.example b.example", "http://b.example/", true), ("192.168.1.7", "http://192.168.1.7/", true),
            ("192.168.1.7", "http://192.168.1.70/", false), ("192.168.0.0/16", "http://192.168.9.9/", true),
            ("192.168.1.5/24", "http://192.168.1.200/", true), ("192.168.1.0/24", "http://192.168.2.1/", false),
            ("10.0.0.0/8", "http://10.example/", false), ("192.168.1.7:8080", "http://192.168.1.7:8080/", true),
            ("192.168.1.7:8080", "http://192.168.1.7/", false), ("fd00::/8", "http://[fd12::1]/", true),
            ("[fd00::1]:80", "http://[fd00::1]/", true), ("[fd00::1]:81", "http://[fd00::1]/", false),
            ("fd00::1", "http://[fd00:0::1]/", true), ("0.0.0.0/0", "http://203.0.113.9/", true),
            ("0.0.0.0/0", "http://foo.example/", false), ("10.0.0.0/8", "http://[::ffff:10.1.1.1]/", true),
            ("10.0.0.0/8", "http://167838211/", true), (",,", "http://foo.example/", false),
            ("10.0.0.0/33", "http://10.0.0.1/", false), ("foo.example:x", "http://foo.example/", false),
        ])
    func exceptions(text: String, url: String, isDirect: Bool) throws {
        let proxies = OutgoingProxies(try OutgoingProxy("http://proxy.example"), exceptions: text)
        #expect((proxies.proxy(for: try endpoint(url)) == nil) == isDirect)
    }

    @Test("What a host has of its own counts before NO_PROXY, for that host") func hosts() throws {
        var configuration = NIOOrigin.Configuration()
        let (all, own) = (try OutgoingProxy("http://all.example"), try OutgoingProxy("http://own.example"))
        configuration.proxies = OutgoingProxies(all, exceptions: "own.test")
        configuration.proxiesOfHost = { host in
            switch host {
            case "own.test": OutgoingProxies(own)
            case "direct.test": OutgoingProxies()
            default: nil
            }
        }
        #expect(configuration.proxy(for: try endpoint("http://own.test/")) == own)
        #expect(configuration.proxy(for: try endpoint("http://direct.test/")) == nil)
        #expect(configuration.proxy(for: try endpoint("http://other.test/")) == all)
    }
}
