import Crypto
import Foundation
import NIOCore
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// The page as browsers and attackers get it.
@Suite(.limit(minutes: 2)) struct PageTests {
    private static let browser = [
        "Accept: text/html,application/xhtml+xml,*/*;q=0.8", "Sec-Fetch-Site: none", "Sec-Fetch-Mode: navigate",
        "Sec-Fetch-Dest: document", "User-Agent: Mozilla/5.0",
    ]

    /// The page at `target`.
    private static func page(_ proxy: ProxyBench, _ target: String = "/") async throws -> (RawClient.Head, String) {
        let answer = try await RawClient.exchange(port: proxy.server.port, target, browser)
        return (answer.head, String(decoding: answer.body, as: UTF8.self))
    }

    /// What stands between the tags called `name`, which must be there once.
    private static func content(_ name: String, of html: String) throws -> String {
        let parts = html.components(separatedBy: "<\(name)>")
        try #require(parts.count == 2, "\(parts.count - 1) of <\(name)>")
        return try #require(parts[1].components(separatedBy: "</\(name)>").first)
    }

    @Test func aBrowserGetsThePageAndOthersTheText() async throws {
        try await ProxyBench.run { proxy async throws in
            let (head, html) = try await Self.page(proxy)
            #expect(head.status == 200)
            #expect(head.fields["content-type"] == "text/html; charset=utf-8")
            #expect(head.fields["vary"] == "Accept" && head.fields["cache-control"] == "no-store")
            #expect(html.hasPrefix("<!DOCTYPE html>") && html.hasSuffix("</html>\n"))
            let text = try await RawClient.exchange(port: proxy.server.port, "/", ["Accept: */*"])
            #expect(text.head.fields["content-type"] == "text/plain; charset=utf-8")
            #expect(String(decoding: text.body, as: UTF8.self).hasPrefix("Reprise media cache\n"))
            #expect(text.head.fields["vary"]?.contains("Accept") == true)
            let empty = try await RawClient.exchange(port: proxy.server.port, "/", Self.browser, method: "HEAD")
            #expect(empty.head.status == 200 && empty.head.length ?? 0 > 1000)
        }
    }

    @Test("the text shows the address at which it was reached", arguments: [nil, "secret"])
    func address(token: String?) async throws {
        try await ProxyBench.run(configureProxy: { $0.token = token }) { proxy async throws in
            let path = token.map { "/\($0)/" } ?? "/"
            let hosts =
                ["127.0.0.1:\(proxy.server.port)", "localhost:8", "[::1]:9"] + (token == nil ? [] : ["media.lan"])
            for host in hosts {
                let text = try await Self.text(proxy, path, host: host, accept: "*/*")
                #expect(text.contains("\n  http://\(host)\(path)https/example.com/song.mp3\n"), "\(text)")
            }
        }
    }

    /// The page as those see it who show that token for control.
    private static func page(showing token: String) -> String {
        let players = AccessToken(token, name: nil, mayControl: true).forPlayers?.text
        return PageDocument.page.html.replacing("PLAYER_TOKEN", with: players ?? "")
    }

    @Test("nothing of a request is in the page, however hostile its Host is") func hostileHost() async throws {
        try await ProxyBench.run(configureProxy: { $0.token = "secret" }) { proxy async throws in
            for host in ["a.example'&lt;b&gt;", "a&amp;b", "a'onclick='b"] {
                let html = try await Self.text(proxy, "/secret/", host: host, accept: "text/html")
                #expect(html.hasSuffix("\r\n\r\n" + Self.page(showing: "secret")), "\(host)")
            }
            for host in ["<script>", "a\"b", "a b", "a/b", "a\\b"] {
                let answer = try await Self.text(proxy, "/secret/", host: host, accept: "text/html")
                #expect(answer.hasPrefix("HTTP/1.1 400 ") && !answer.contains("<title"), "\(host): \(answer)")
            }
        }
    }

    private static func text(
        _ proxy: ProxyBench, _ target: String, host: String, accept: String
    ) async throws -> String {
        try await proxy.server.raw([
            "GET \(target) HTTP/1.1", "Host: \(host)", "Accept: \(accept)", "Connection: close",
        ])
    }

    @Test("its policy names exactly its own script and style (CSP Level 3 §2.3.1)") func policy() async throws {
        try await ProxyBench.run { proxy async throws in
            let (head, html) = try await Self.page(proxy)
            let policy = try #require(head.fields["content-security-policy"]).components(separatedBy: "; ")
            for (element, directive) in [("script", "script-src"), ("style", "style-src")] {
                let digest = SHA256.hash(data: Data(try Self.content(element, of: html).utf8))
                #expect(policy.contains("\(directive) 'sha256-\(Data(digest).base64EncodedString())'"))
            }
            for directive in [
                "default-src 'none'", "connect-src 'self'", "base-uri 'none'", "form-action 'none'",
                "frame-ancestors 'none'", "require-trusted-types-for 'script'",
            ] { #expect(policy.contains(directive)) }
            #expect(!policy.joined().contains("unsafe"))
            #expect(head.fields["referrer-policy"] == "no-referrer")
            #expect(head.fields["x-content-type-options"] == "nosniff")
            #expect(head.fields["cross-origin-resource-policy"] == "same-origin")
            #expect(head.fields["access-control-allow-origin"] == nil)
            // No attribute runs a script, and the style stands in its element only.
            let markup = html.replacing(try Self.content("script", of: html), with: "")
            #expect(markup.firstMatch(of: /\son[a-z]+\s*=/) == nil)
            #expect(!markup.contains(" style="))
        }
    }

    @Test("it is 60 KB at most with its form, and nothing of it comes from elsewhere") func size() async throws {
        try await ProxyBench.run { proxy async throws in
            let (_, html) = try await Self.page(proxy)
            #expect(html.utf8.count + PackageResources.login_js.count <= 60_000, "\(html.utf8.count)")
            for word in ["//cdn", "<link rel=\"stylesheet\"", "src=\"http", "url(", "@import", "import("] {
                #expect(!html.contains(word), "\(word)")
            }
            // Without its script, it says what shows the same.
            #expect(try Self.content("noscript", of: html).contains("reprise list"))
        }
    }

    @Test(
        "a page of another site does not get it, not even one that may read media",
        arguments: [
            ["Sec-Fetch-Site: cross-site"], ["Sec-Fetch-Site: same-site"],
            ["Sec-Fetch-Site: cross-site", "Origin: http://localhost:8000"], ["Origin: http://evil.example"],
            ["Origin: null", "Sec-Fetch-Site: same-origin"], ["Service-Worker: script"],
        ]) func foreignPages(fields: [String]) async throws
    {
        for token in [nil, "secret"] {
            try await ProxyBench.run(configureProxy: { configuration in
                configuration.token = token
                configuration.allowedPages = ["http://localhost:8000"]
            }) { proxy async throws in
                let target = token.map { "/\($0)/" } ?? "/"
                let answer = try await RawClient.exchange(
                    port: proxy.server.port, target, ["Accept: text/html"] + fields)
                #expect(answer.head.status == 403)
                #expect(answer.head.fields["access-control-allow-origin"] == nil)
            }
        }
    }

    @Test("a name that points at this machine is refused (DNS rebinding)") func rebinding() async throws {
        try await ProxyBench.run { proxy async throws in
            let text = try await proxy.server.raw([
                "GET / HTTP/1.1", "Host: evil.example:\(proxy.server.port)", "Accept: text/html", "Connection: close",
            ])
            #expect(text.hasPrefix("HTTP/1.1 403 "))
        }
    }

    @Test func itLiesBehindTheToken() async throws {
        try await ProxyBench.run(configureProxy: { $0.token = "secret" }) { proxy async throws in
            #expect(try await Self.page(proxy).0.status == 403)
            #expect(try await Self.page(proxy, "/secre/").0.status == 403)
            let (head, html) = try await Self.page(proxy, "/secret/")
            #expect(head.status == 200 && html == Self.page(showing: "secret") && html.contains("data-player=\""))
            let (redirect, _) = try await Self.page(proxy, "/secret")
            #expect(redirect.status == 308 && redirect.fields["location"] == "/secret/")
        }
    }

    @Test("a browser without the right token is asked for it; others get the hint as text") func login() async throws {
        try await ProxyBench.run(configureProxy: { $0.token = "secret" }) { proxy async throws in
            for target in ["/", "/wrong/", "/wrong"] {
                let (head, html) = try await Self.page(proxy, target)
                #expect(head.status == 403 && html == PageDocument.login.html)
                #expect(head.fields["content-security-policy"] == PageDocument.login.policy)
                #expect(head.fields["access-control-allow-origin"] == nil)
            }
            for target in ["/wrong/https/example.com/film.mp4", "/-/status.json"] {
                #expect(try await !Self.page(proxy, target).1.hasPrefix("<"), "\(target)")
            }
            let text = try await RawClient.exchange(port: proxy.server.port, "/", ["Accept: */*"])
            #expect(text.head.status == 401 && String(decoding: text.body, as: UTF8.self).contains("wants a token"))
        }
        try await ProxyBench.run(configureProxy: { ($0.token, $0.servesPage) = ("secret", false) }) {
            proxy async throws in
            #expect(try await Self.page(proxy).1.hasPrefix("The address must begin"))
        }
    }

    @Test("where the server cannot be controlled, and where it is switched off, there is only the text")
    func onlyText() async throws {
        try await ProxyBench.run(configureProxy: { configuration in
            configuration.host = "0.0.0.0"
            configuration.allowedHosts = ["127.0.0.1"]
        }) { proxy async throws in
            #expect(!proxy.server.hasPage)
            for (address, loopback) in [("::", "::1"), ("::1", nil), ("192.0.2.7", nil)] as [(String, String?)] {
                #expect(ProxyServer.loopback(insteadOf: try SocketAddress(ipAddress: address, port: 1)) == loopback)
            }
            #expect(proxy.server.address == "http://127.0.0.1:\(proxy.server.port)" && proxy.server.isOnAllAddresses)
            let (head, text) = try await Self.page(proxy)
            #expect(head.status == 200 && text.hasPrefix("Reprise media cache\n"))
        }
        try await ProxyBench.run(configureProxy: { $0.servesPage = false }) { proxy async throws in
            #expect(!proxy.server.hasPage)
            #expect(try await Self.page(proxy).1.hasPrefix("Reprise media cache\n"))
        }
    }

    @Test("it comes also when the cache is closed") func closedCache() async throws {
        try await ProxyBench.run { proxy async throws in
            #expect(proxy.server.hasPage)
            await proxy.bench.cache.close()
            #expect(try await Self.page(proxy).0.status == 200)
        }
    }
}
