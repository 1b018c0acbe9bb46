import NIOCore
import TestLimits
import Testing

@testable import RepriseProxy

/// Which requests of browsers are answered, by their fields alone: Fetch Metadata, RFC 6454, Fetch standard §4.8.
@Suite(.limit(minutes: 1)) struct BrowserRulesTests {
    private static let page = "http://localhost:8000"
    private static let app = "capacitor://localhost"
    private static let mozilla = "User-Agent: Mozilla/5.0 (X11; Linux x86_64)"

    private func judge(
        _ fields: [String], method: String = "GET", host: String = "127.0.0.1:8090", isEncrypted: Bool = false
    ) throws -> BrowserRules.Verdict {
        var parser = RequestParser()
        let lines = ["\(method) /https/host/a HTTP/1.1", "Host: \(host)"] + fields
        parser.append(ByteBuffer(string: lines.joined(separator: "\r\n") + "\r\n\r\n"))
        var head = try #require(try parser.next())
        head.isEncrypted = isEncrypted
        return BrowserRules(allowedPages: [Self.page, Self.app]).judge(head)
    }

    private func isRefused(_ fields: [String], method: String = "GET") throws -> Bool {
        if case .refuse = try judge(fields, method: method) { true } else { false }
    }

    @Test(
        "players are not affected",
        arguments: [
            [], ["User-Agent: Lavf/60.3.100", "Range: bytes=0-", "Icy-MetaData: 1"],
            ["User-Agent: VLC/3.0.20 LibVLC/3.0.20"],
            ["User-Agent: AppleCoreMedia/1.0.0"], ["User-Agent: node", "Sec-Fetch-Mode: cors"], ["Referer: https://x/"],
        ])
    func players(fields: [String]) throws {
        #expect(try judge(fields) == .answer(.player))
        #expect(try judge(fields, method: "POST") == .answer(.player))
    }

    @Test(
        "a program is one whatever it calls itself and whichever page it names, where browsers would say what they are",
        arguments: [
            [mozilla], [mozilla, "Origin: https://tv.example"], ["Origin: https://tv.example"], ["Origin: null"],
        ])
    func programs(fields: [String]) throws {
        for host in ["127.0.0.1:8090", "localhost", "LOCALHOST:8090", "[::1]:8090", "127.9.9.9"] {
            #expect(try judge(fields, host: host) == .answer(.player), "\(host)")
        }
        #expect(try judge(fields, host: "media.lan:8090", isEncrypted: true) == .answer(.player))
    }

    @Test(
        "elsewhere the name in User-Agent decides",
        arguments: ["media.lan:8090", "192.168.1.2", "localhost.evil.example"])
    func elsewhere(host: String) throws {
        #expect(try judge([Self.mozilla], host: host) == .answer(.browser))
        #expect(try judge(["Origin: https://tv.example"], host: host) == .answer(.player))
        guard case .refuse = try judge([Self.mozilla, "Origin: https://tv.example"], host: host) else {
            return #expect(Bool(false), "a page of another site")
        }
        #expect(try judge([Self.mozilla, "Origin: \(Self.page)"], host: host) == .answer(.page(Self.page)))
    }

    @Test(
        "a user's tab gets the media and the requests of its element",
        arguments: [
            ["Sec-Fetch-Site: none", "Sec-Fetch-Dest: document", mozilla],
            ["Sec-Fetch-Site: same-origin", "Sec-Fetch-Dest: video", mozilla],
            ["Sec-Fetch-Site: same-origin", "Sec-Fetch-Dest: image"], ["Sec-Fetch-Site: none"],
        ])
    func aTab(fields: [String]) throws { #expect(try judge(fields) == .answer(.browser)) }

    @Test(
        "content other than media is refused, wherever the request comes from",
        arguments: [
            "worker", "serviceworker", "sharedworker", "script", "style", "iframe", "frame", "object", "embed", "font",
            "manifest", "audioworklet", "xslt", "report", "fencedframe", "anything-new",
        ], ["none", "same-origin", "same-site", "cross-site"])
    func destinations(destination: String, site: String) throws {
        #expect(try isRefused(["Sec-Fetch-Site: \(site)", "Sec-Fetch-Dest: \(destination)", "Origin: \(Self.page)"]))
    }

    @Test("a service worker's script is refused, also from an allowed page")
    func serviceWorker() throws {
        #expect(try isRefused(["Service-Worker: script"]))
        #expect(
            try isRefused(["Service-Worker: script", "Sec-Fetch-Site: same-origin", "Sec-Fetch-Dest: serviceworker"]))
        #expect(try isRefused(["Service-Worker: script", "Origin: \(Self.page)"]))
    }

    @Test(
        "pages of other sites are refused",
        arguments: [
            ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: empty", "Origin: http://evil.example"],
            ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: video", "Referer: http://evil.example/a"],
            ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: video"],
            ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: document", "Referer: http://evil.example/"],
            ["Sec-Fetch-Site: same-site", "Sec-Fetch-Dest: video", "Referer: http://127.0.0.1:9000/"],
            ["Sec-Fetch-Site: cross-site", "Origin: null", "Referer: \(page)/"], ["Sec-Fetch-Site: nonsense"],
            ["Sec-Fetch-Site: same-origin", "Sec-Fetch-Dest: empty"],
            ["Sec-Fetch-Site: cross-site", "Referer: \(page).evil.example/"],
            ["Sec-Fetch-Site: cross-site", "Referer: http://evil.example/\(page)"],
            ["Sec-Fetch-Site: cross-site", "Referer: http://localhost:8000@evil.example/"],
        ])
    func otherSites(fields: [String]) throws { #expect(try isRefused(fields)) }

    @Test(
        "an allowed page reads",
        arguments: [
            ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: empty", "Origin: \(page)"],
            ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: video", "Referer: \(page)/player/index.html?x=1"],
            ["Sec-Fetch-Site: same-site", "Sec-Fetch-Dest: audio", "Referer: \(page)/"], ["Origin: \(page)"],
            ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: document", "Referer: \(page)/"],
            [mozilla, "Origin: \(page)"],
        ])
    func allowedPages(fields: [String]) throws {
        #expect(try judge(fields) == .answer(.page(Self.page)))
        #expect(try isRefused(fields + ["Origin: \(Self.page)"], method: "POST"), "reading is all that it may")
    }

    @Test("a page of an app is allowed by its origin, which it gets back as it spells it")
    func apps() throws {
        for origin in [Self.app, "Capacitor://localhost"] {
            #expect(try judge(["Sec-Fetch-Site: cross-site", "Origin: \(origin)"]) == .answer(.page(origin)))
            #expect(try judge(["Origin: \(origin)"]) == .answer(.page(origin)))
        }
        #expect(try isRefused(["Sec-Fetch-Site: cross-site", "Origin: tauri://localhost"]))
        #expect(try isRefused(["Sec-Fetch-Site: cross-site", "Origin: capacitor://localhost.evil"]))
    }

    @Test("no page changes anything", arguments: ["POST", "PUT", "DELETE", "PATCH"])
    func otherMethods(method: String) throws {
        for fields in [
            ["Origin: http://127.0.0.1:8090"], ["Origin: null"], ["Origin: http://evil.example"],
            ["Sec-Fetch-Site: same-origin"], ["Sec-Fetch-Site: none"],
        ] { #expect(try isRefused(fields, method: method)) }
    }

    @Test("a preflight succeeds for an allowed page only")
    func preflight() throws {
        let asked = ["Access-Control-Request-Method: GET", "Access-Control-Request-Headers: range"]
        #expect(try judge(asked + ["Origin: \(Self.page)"], method: "OPTIONS") == .preflight(page: Self.page))
        #expect(try isRefused(asked + ["Origin: http://evil.example"], method: "OPTIONS"))
        #expect(try isRefused(asked + ["Origin: null"], method: "OPTIONS"))
    }

    @Test(
        "origins are compared as browsers spell them (RFC 6454 §6.2)",
        arguments: [
            ("http://localhost:8000", "http://localhost:8000"), ("HTTPS://App.Example/", "https://app.example"),
            ("http://a:80", "http://a"), ("https://a:443", "https://a"), ("https://a:80", "https://a:80"),
            ("http://[::1]:3000", "http://[::1]:3000"), ("http://a:", "http://a"), ("http://a:08000", "http://a:8000"),
            ("null", nil), ("*", nil), ("", nil), ("localhost:8000", nil), ("http://", nil), ("ftp://a", nil),
            ("http://a/b", nil), ("http://a?b", nil), ("http://u@a", nil), ("http://a b", nil), ("http://*.a", nil),
            ("http://a:0", nil), ("http://a:65536", nil), ("http://a:x", nil), ("http://ä.example", nil),
            ("http://[::1", nil), ("capacitor://localhost", "capacitor://localhost"),
            ("tauri://localhost/", "tauri://localhost"), ("Ionic://Localhost", "ionic://localhost"),
            ("chrome-extension://abcdef", "chrome-extension://abcdef"),
            ("moz-extension://0a1b-2c", "moz-extension://0a1b-2c"), ("app://a:80", "app://a:80"), ("file://", nil),
            ("data://a", nil), ("capacitor:localhost", nil), ("1x://a", nil), ("a b://c", nil), ("://a", nil),
        ] as [(String, String?)])
    func pageOrigins(text: String, expected: String?) { #expect(PageOrigin(text)?.text == expected) }
}
