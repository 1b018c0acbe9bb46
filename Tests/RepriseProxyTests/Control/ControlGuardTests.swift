import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// Who is refused what tells of the cache or changes it, whatever its target is.
@Suite(.limit(minutes: 2)) struct ControlGuardTests {
    static let targets = [
        "/metrics", "/-/metrics", "/-/status.json", "/-/titles.json", "/-/events", "/-/api/entries", "/-/",
    ]

    @Test(
        "a page of another site reads and changes nothing, not even one that may read media",
        arguments: ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"]) func foreignPages(method: String)
        async throws
    {
        try await ProxyBench.run(configureProxy: { $0.allowedPages = ["http://localhost:8000"] }) {
            proxy async throws in
            for target in Self.targets {
                for page in ["http://evil.example", "http://localhost:8000", "null"] {
                    for type in ["text/plain", "application/x-www-form-urlencoded", "application/json"] {
                        let fields = [
                            "Origin: \(page)", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: empty",
                            "Content-Type: \(type)",
                        ]
                        let answer = try await RawClient.exchange(
                            port: proxy.server.port, target, fields, method: method)
                        #expect(answer.head.status == 403, "\(target) \(page) \(type)")
                        #expect(answer.head.fields["access-control-allow-origin"] == nil)
                        #expect(answer.head.fields["access-control-allow-methods"] == nil)
                        #expect(!String(decoding: answer.body, as: UTF8.self).contains("reprise_"))
                    }
                }
            }
            #expect(proxy.server.listeners == 0)
        }
    }

    @Test("no element of a page of a neighboring site loads it", arguments: targets) func elements(target: String)
        async throws
    {
        try await ProxyBench.run { proxy async throws in
            for destination in ["script", "image", "iframe", "video"] {
                let fields = ["Sec-Fetch-Site: same-site", "Sec-Fetch-Dest: \(destination)"]
                let answer = try await RawClient.exchange(port: proxy.server.port, target, fields)
                #expect(answer.head.status == 403, "\(destination)")
            }
        }
    }

    @Test("a name that points at this machine is refused (DNS rebinding)", arguments: targets) func rebinding(
        target: String
    ) async throws {
        try await ProxyBench.run { proxy async throws in
            let text = try await proxy.server.raw(
                ["GET \(target) HTTP/1.1", "Host: evil.example:\(proxy.server.port)", "Connection: close"])
            #expect(text.hasPrefix("HTTP/1.1 403 "))
        }
    }

    @Test(
        "a Host that only begins as this machine's is refused",
        arguments: ["[::1].evil", "localhost:abc", "127.0.0.1:99999", "[::1", "localhost:80.evil.example"])
    func hostsThatBeginSo(host: String) async throws {
        try await ProxyBench.run { proxy async throws in
            for target in Self.targets {
                let text = try await proxy.server.raw(["GET \(target) HTTP/1.1", "Host: \(host)", "Connection: close"])
                #expect(text.hasPrefix("HTTP/1.1 403 "), "\(target) \(text)")
            }
        }
    }

    @Test(arguments: targets) func withoutTheTokenNothingIsTold(target: String) async throws {
        try await ProxyBench.run(configureProxy: { $0.token = "secret" }) { proxy async throws in
            for prefix in ["", "/wrong", "/secre", "/secret2"] {
                let answer = try await RawClient.exchange(port: proxy.server.port, prefix + target)
                #expect(answer.head.status == 401, "\(prefix)")
                #expect(!String(decoding: answer.body, as: UTF8.self).contains("reprise_reads"))
            }
        }
    }

    @Test func withTheTokenAllIsTold() async throws {
        try await ProxyBench.run(configureProxy: { $0.token = "secret" }) { proxy async throws in
            for (target, status, words) in [
                ("/secret/metrics", 200, "reprise_reads"), ("/secret/-/metrics", 200, "reprise_reads"),
                ("/secret/-/status.json", 200, "sinceStart"), ("/secret/-/titles.json", 200, "titles"),
                ("/secret/metricsx", 400, "reprise_reads"),
            ] {
                let answer = try await RawClient.exchange(port: proxy.server.port, target)
                #expect(answer.head.status == status, "\(target)")
                let isTold = String(decoding: answer.body, as: UTF8.self).contains(words)
                #expect(isTold == (status == 200), "\(target)")
            }
        }
    }

    @Test(arguments: targets) func beyondThisMachineNothingIsToldWithoutAToken(target: String) async throws {
        try await ProxyBench.run(configureProxy: { configuration in
            configuration.host = "0.0.0.0"
            configuration.allowedHosts = ["127.0.0.1"]
        }) { proxy async throws in
            #expect(try await RawClient.exchange(port: proxy.server.port, target).head.status == 403)
            #expect(try await RawClient.exchange(port: proxy.server.port, "/").head.status == 200)
        }
    }
}
