import Foundation
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseCLI

/// The command behind a proxy: by variables, options and files.
///
/// `media.test` exists only for the proxy.
@Suite(.limit(minutes: 3)) struct OutgoingProxyCommandTests {
    private func run(login: String? = nil, _ body: (Site, TestProxy, String) async throws -> Void) async throws {
        try await Site.run { site async throws in
            site.publish("/film.mp4", length: 2_000_000)
            try await TestProxy.run(login: login) { proxy async throws in
                try await body(site, proxy, "http://media.test:\(site.origin.port)/film.mp4")
            }
        }
    }

    @Test("Variables of other programs count, unless the option says none") func variables() async throws {
        try await run { site, proxy, url async throws in
            let environment = ["http_proxy": "127.0.0.1:\(proxy.port)"]
            let none = try await Command.run(
                "fetch", site.directory, ["--outgoing-proxy", "none", url], environment: environment)
            #expect(none.exit == .status(69) && proxy.connections == 0, "\(none)")
            let fetched = try await Command.run("fetch", site.directory, [url], environment: environment)
            #expect(fetched.exit == .status(0), "\(fetched)")
            #expect(proxy.asked.allSatisfy { $0 == "GET \(url)" } && !proxy.asked.isEmpty)
            // Stored bytes need neither.
            let again = try await Command.run("fetch", site.directory, [url])
            #expect(again.exit == .status(0), "\(again)")
        }
    }

    @Test("A server asks through the proxy of its file, and the hosts that it excepts directly")
    func serving() async throws {
        try await run(login: "u:s3cret") { site, proxy, url async throws in
            let text = """
                port = 0
                cache-dir = \(site.directory.path(of: "cache"))
                outgoing-proxy = socks5h://u:s3cret@127.0.0.1:\(proxy.port)
                log-level = trace
                [host direct.invalid]
                outgoing-proxy = none
                """
            let path = try site.directory.write(Array(text.utf8), to: "r.conf")
            let serving = try await Serving.run(["--config", path], environment: ["NO_PROXY": "other.invalid"]) {
                serving async throws in
                let answer = try await serving.get("/http/" + url.dropFirst("http://".count), ["Range: bytes=9-18"])
                #expect(answer.head.status == 206 && answer.body == TestPattern.bytes(in: 9..<19, seed: 1))
                for host in ["direct.invalid", "other.invalid"] {
                    #expect(try await serving.get("/http/\(host)/a").head.status == 502)
                }
                #expect(Set(proxy.asked) == ["SOCKS name media.test:\(site.origin.port)"])
            }
            #expect(serving.exit == .status(0), "\(serving)")
            #expect(!serving.errors.contains("s3cret") && !serving.output.contains("s3cret"))
            let config = try await Command.run(["config", "--config", path, "--json"])
            let shown = "u:<hidden>@127.0.0.1:\(proxy.port)"
            #expect(config.output.contains(shown) && !config.output.contains("s3cret"), "\(config)")
        }
    }

    @Test("A refused log-in is told with what helps, and without the password") func refusedLogin() async throws {
        try await run(login: "Basic no") { site, proxy, url async throws in
            let variable = ["REPRISE_OUTGOING_PROXY": "http://u:s3cret@127.0.0.1:\(proxy.port)"]
            let fetched = try await Command.run("fetch", site.directory, [url], environment: variable)
            #expect(fetched.exit == .status(69), "\(fetched)")
            let message = "The proxy http://127.0.0.1:\(proxy.port) refuses the user name or the password"
            #expect(fetched.errors.contains(message) && !fetched.errors.contains("s3cret"), "\(fetched)")
        }
    }

    @Test("config says which variables count, without a password") func config() async throws {
        let environment = [
            "HTTP_PROXY": "http://u:s3cret@a.example:1", "all_proxy": "socks5://b.example", "NO_PROXY": ".lan",
        ]
        func lines(_ options: [String]) async throws -> [String] {
            let outcome = try await Command.run(["config"] + options, environment: environment)
            #expect(outcome.exit == .status(0) && !outcome.output.contains("s3cret"), "\(outcome)")
            return outcome.output.components(separatedBy: "\n")
        }
        let unset = try await lines([])
        #expect(unset.contains("# Proxy for http URLs: http://u:<hidden>@a.example:1 (HTTP_PROXY)"), "\(unset)")
        #expect(unset.contains("# Proxy for https URLs: socks5://b.example (all_proxy)"))
        #expect(unset.contains("# Without a proxy: .lan (NO_PROXY)"))
        let given = try await lines(["--outgoing-proxy", "http://v:s3cret@c.example"])
        #expect(given.contains { $0.hasPrefix("outgoing-proxy = http://v:<hidden>@c.example ") }, "\(given)")
        #expect(given.contains("# Without a proxy: .lan (NO_PROXY)") && !given.contains { $0.contains("a.example") })
        let none = try await lines(["--outgoing-proxy", "none"])
        #expect(!none.contains { $0.hasPrefix("# Without a proxy") || $0.contains("a.example") }, "\(none)")
    }

    @Test("A wrong URL is wrong usage in each place, and is not shown with a password") func wrong() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let wrong = "ftp://u:s3cret@a.example"
        let url = "http://media.test/a"
        for (options, environment, name) in [
            (["--outgoing-proxy", wrong], [:], "--outgoing-proxy"),
            ([], ["REPRISE_OUTGOING_PROXY": wrong], "REPRISE_OUTGOING_PROXY"),
            ([], ["http_proxy": wrong], "http_proxy"),
        ] as [([String], [String: String], String)] {
            let outcome = try await Command.run("fetch", directory, options + [url], environment: environment)
            #expect(outcome.exit == .status(64) && outcome.errors.contains(name), "\(outcome)")
            #expect(!outcome.errors.contains("s3cret"), "\(outcome)")
        }
    }

    @Test("A player asks this machine itself, whatever proxy its variables name") func players() throws {
        func variables(_ environment: [String: String], _ url: String = "http://127.0.0.1:8090/") throws -> [String:
            String]
        {
            Player.variables(environment, for: try ResourceURL(url))
        }
        #expect(try variables(["PATH": "/bin"]) == [:])
        #expect(try variables(["https_proxy": "a"]) == [:])
        #expect(try variables(["http_proxy": "a"]) == ["no_proxy": "127.0.0.1"])
        #expect(try variables(["ALL_PROXY": "a", "NO_PROXY": ".lan"]) == ["no_proxy": ".lan,127.0.0.1"])
        #expect(try variables(["https_proxy": "a"], "https://media.lan:8443/") == ["no_proxy": "media.lan"])
    }

    @Test("The program of --authorize-command does not get the proxy's password") func authorizing() {
        let variables = ["REPRISE_OUTGOING_PROXY": "http://u:s3cret@a.example", "PATH": "/bin"]
        #expect(AuthorizeCommand.environment(variables) == ["PATH": "/bin"])
    }
}
