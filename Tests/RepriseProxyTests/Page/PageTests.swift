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

    @Test("it shows the address at which it was reached, and so does the text", arguments: [nil, "secret"])
    func address(token: String?) async throws {
        try await ProxyBench.run(configureProxy: { $0.token = token }) { proxy async throws in
            let path = token.map { "/\($0)/" } ?? "/"
            let hosts =
                ["127.0.0.1:\(proxy.server.port)", "localhost:8", "[::1]:9"] + (token == nil ? [] : ["media.lan"])
            for host in hosts {
                let address = "http://\(host)\(path)"
                let html = try await Self.text(proxy, path, host: host, accept: "text/html")
                #expect(html.contains("<code id=\"address\">\(address)</code>"), "\(host)")
                #expect(html.contains("<code id=\"example\">\(address)https/example.com/film.mp4</code>"), "\(host)")
                let text = try await Self.text(proxy, path, host: host, accept: "*/*")
                #expect(text.contains("\n  \(address)https/example.com/song.mp3\n"), "\(text)")
            }
            let old = try await proxy.server.raw(["GET \(path) HTTP/1.0", "Accept: text/html"])
            #expect(old.contains("<code id=\"address\">http://127.0.0.1:\(proxy.server.port)\(path)</code>"))
        }
    }

    @Test("a hostile Host stays text") func hostileHost() async throws {
        try await ProxyBench.run(configureProxy: { $0.token = "secret" }) { proxy async throws in
            for host in ["a.example'&lt;b&gt;", "a&amp;b", "a'onclick='b"] {
                let html = try await Self.text(proxy, "/secret/", host: host, accept: "text/html")
                let escaped = host.replacing("&", with: "&amp;").replacing("'", with: "&#39;")
                #expect(html.contains("<code id=\"address\">http://\(escaped)/secret/</code>"), "\(host)")
            }
            for host in ["<script>", "a\"b", "a b", "a/b", "a\\b"] {
                let answer = try await Self.text(proxy, "/secret/", host: host, accept: "text/html")
                #expect(answer.hasPrefix("HTTP/1.1 400 ") && !answer.contains("<code"), "\(host): \(answer)")
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

    @Test("it is 40 KB at most, and nothing of it comes from elsewhere") func size() async throws {
        try await ProxyBench.run { proxy async throws in
            let (_, html) = try await Self.page(proxy)
            #expect(html.utf8.count <= 40_000, "\(html.utf8.count)")
            for word in ["//cdn", "<link rel=\"stylesheet\"", "src=\"http", "url(", "@import", "import("] {
                #expect(!html.contains(word), "\(word)")
            }
        }
    }

    @Test("without its script it shows the numbers, and asks again") func withoutScript() async throws {
        try await ProxyBench.run(configure: { $0.limit = 50_000_000 }) { proxy async throws in
            proxy.bench.publish("/films/one%20two.mp4", length: 100_000)
            for _ in 0..<4 { #expect(try await proxy.get("/films/one%20two.mp4").head.status == 200) }
            await proxy.becomeIdle()
            let (_, html) = try await Self.page(proxy)
            #expect(html.contains("<noscript><meta http-equiv=\"refresh\" content=\"10\"></noscript>"))
            #expect(html.contains("id=\"saved\">300<small>kB</small>"))
            #expect(html.contains("<b id=\"store\">300 kB</b>"))
            #expect(html.contains("<b id=\"ratio\">75 %</b>"))
            #expect(html.contains("<bdi>one two.mp4</bdi>"))
            #expect(html.contains("100 kB, all stored · played 1 time"))
            #expect(html.contains("of 50.0 MB used"))
            let host = "<bdi>127.0.0.1:\(proxy.bench.origin.port)</bdi></th><td>400 kB</td><td>100 kB</td>"
            #expect(html.contains(host))
        }
    }

    @Test("names and addresses of hostile origins stay text") func hostileTitles() async throws {
        try await ProxyBench.run { proxy async throws in
            let names = [
                "/%3Cscript%3Ealert(1)%3C/script%3E", "/%22%3E%3Cimg%20src=x%20onerror=alert(1)%3E.mp4",
                "/a'b.mp4", "/%E2%80%AEgpj.exe.mp4", "/%00%1B%5B2J.mp4",
            ]
            for (number, name) in names.enumerated() {
                proxy.bench.publish(name, length: 10)
                #expect(try await proxy.get(name).head.status == 200)
                let resource = try proxy.bench.cache.resource(for: proxy.bench.origin.url(name))
                guard number % 2 == 0 else { continue }
                try await proxy.bench.cache.nameTitle(
                    of: resource, name: "</bdi><script src=//evil.example></script>", tag: "\" onclick=\"x")
            }
            let (_, html) = try await Self.page(proxy)
            #expect(html.components(separatedBy: "<script").count == 2)
            #expect(html.components(separatedBy: "</script").count == 2)
            #expect(!html.contains("<img"))
            #expect(!html.contains("\" onclick"))
            #expect(html.components(separatedBy: "&lt;/bdi&gt;&lt;script src=//evil.example&gt;").count == 4)
            #expect(!html.utf8.contains(0) && !html.utf8.contains(0x1B))
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
            #expect(head.status == 200 && html.hasPrefix("<!DOCTYPE html>"))
            // Its links are relative, and the token is part of the addresses alone that it shows.
            let address = "http://localhost/secret/"
            #expect(!html.replacing(">\(address)", with: ">").contains("secret"))
            let (redirect, _) = try await Self.page(proxy, "/secret")
            #expect(redirect.status == 308 && redirect.fields["location"] == "/secret/")
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

    @Test("it shows what it can when the cache is closed") func closedCache() async throws {
        try await ProxyBench.run { proxy async throws in
            #expect(proxy.server.hasPage)
            await proxy.bench.cache.close()
            let (head, html) = try await Self.page(proxy)
            #expect(head.status == 200)
            #expect(html.contains("<li>"))
        }
    }
}
