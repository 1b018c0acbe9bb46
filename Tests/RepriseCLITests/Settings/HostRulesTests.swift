import ArgumentParser
import Foundation
import HTTPTypes
import Reprise
import RepriseHTTPClient
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseCLI

/// What a configuration says of single hosts, and what follows from it.
@Suite(.limit(minutes: 1)) struct HostRulesTests {
    private static func rules(_ text: String) throws -> HostRules {
        HostRules(try ConfigurationFile(Array(text.utf8), named: "/r.conf"))
    }

    @Test("The most specific section that names a setting counts") func specificity() throws {
        let rules = try Self.rules(
            """
            [host .example]
            connections = 1
            force-cache
            [host a.b.example]
            connections = 3
            [host .b.example]
            connections = 2
            [host plain.example]
            force-cache = no
            """)
        for (host, count) in [
            ("a.b.example", 3), ("c.b.example", 2), ("b.example", 2), ("c.example", 1), ("example", 1),
            ("plain.example", 1), ("ab.example", 1), ("example.com", nil), ("xexample", nil),
        ] as [(String, Int?)] {
            #expect(rules.value(.hostConnections, for: host) == count, "\(host)")
        }
        #expect(rules.value(.hostForceCache, for: "a.b.example") == true)
        #expect(rules.value(.hostForceCache, for: "plain.example") == false)
        #expect(rules.value(.hostForceCache, for: "other") == nil)
        var configuration = MediaCache.Configuration()
        rules.apply(to: &configuration, forcesCache: { $0 == "plain.example" || $0 == "other" })
        for (host, isForced) in [("a.b.example", true), ("plain.example", false), ("other", true), ("xexample", false)]
        {
            #expect(configuration.reuse.forces(host) == isForced, "\(host)")
        }
    }

    @Test("A host has a rate, a lifetime and a distance to read ahead of its own") func ratesAndTimes() throws {
        let rules = try Self.rules(
            """
            [host .a.example]
            rate = 8Mbit
            fresh-for = 2h
            read-ahead = 32MB
            [host b.a.example]
            rate = 2MB
            read-ahead = none
            """)
        var client = NIOOrigin.Configuration()
        try rules.apply(to: &client)
        var configuration = MediaCache.Configuration()
        rules.apply(to: &configuration, readAhead: .toEnd)
        let (rate, readAhead) = (try #require(client.rateOfHost), try #require(configuration.readAhead))
        for (host, bytes, lifetime, ahead) in [
            ("c.a.example", 1_000_000, .seconds(7200), .bytes(32_000_000)),
            ("b.a.example", 2_000_000, .seconds(7200), .asRequested), ("example", nil, nil, .toEnd),
        ] as [(String, Int64?, Duration?, ReadAhead)] {
            #expect(rate(host) == bytes, "\(host)")
            #expect(configuration.reuse.lifetimes(host) == lifetime, "\(host)")
            #expect(readAhead(host) == ahead, "\(host)")
        }
        var (other, plain) = (NIOOrigin.Configuration(), MediaCache.Configuration())
        let connections = try Self.rules("[host a.example]\nconnections = 4")
        try connections.apply(to: &other)
        connections.apply(to: &plain)
        #expect(other.rateOfHost == nil && plain.readAhead == nil)
    }

    @Test("IPv6 addresses are compared as addresses (RFC 4291 §2.2)") func addresses() throws {
        let rules = try Self.rules("[host 2001:DB8::7]\nconnections = 3")
        for (host, count) in [
            ("2001:db8::7", 3), ("2001:db8:0:0:0:0:0:7", 3), ("2001:0db8::0007", 3), ("2001:db8::0.0.0.7", 3),
            ("2001:db8::8", nil), ("2001:db8::7:", nil), ("192.0.2.7", nil),
        ] as [(String, Int?)] {
            #expect(rules.value(.hostConnections, for: host) == count, "\(host)")
        }
        let error = #expect(throws: (any Error).self) {
            try Self.rules("[host 2001:db8::7]\nforce-cache\n[host 2001:db8:0::7]\nforce-cache")
        }
        #expect(error.map { "\($0)" }?.contains("stands in line 1 already") == true)
    }

    @Test("A host's own query items are dropped in place of the others'") func keys() throws {
        let settings = Settings(
            environment: [:],
            file: try ConfigurationFile(
                Array(
                    "[host a.example]\ndrop-query-item = x\ndrop-query-item = y\n[host .b.example]\ndrop-query-item = z"
                        .utf8),
                named: "/r.conf"))
        let policy = try Names(["w"], from: settings).policy
        func key(_ url: String) throws -> String { policy.key(for: try ResourceURL(url)).text }
        #expect(try key("https://a.example/f?w=1&x=2&y=3&z=4") == "https://a.example/f?w=1&z=4")
        #expect(try key("https://c.b.example/f?w=1&x=2&y=3&z=4") == "https://c.b.example/f?w=1&x=2&y=3")
        #expect(try key("https://c.example/f?w=1&x=2") == "https://c.example/f?x=2")
        #expect(try Names([], from: Settings(environment: [:])).isEmpty)
        #expect(try !Names([], from: settings).isEmpty)
    }

    @Test("Sections name tokens in paths, and hosts that share entries") func pathsAndHosts() throws {
        let settings = Settings(
            environment: [:],
            file: try ConfigurationFile(
                Array(
                    """
                    [host .cdn.example]
                    same-as = cdn.example
                    drop-path-segment = 1
                    [host b.cdn.example]
                    drop-path-segment = token=*
                    """.utf8), named: "/r.conf"))
        let policy = try Names([], from: settings).policy
        func key(_ url: String) throws -> String { policy.key(for: try ResourceURL(url)).text }
        #expect(try key("https://a.cdn.example/x/token=1/f") == "https://cdn.example/token=1/f")
        #expect(try key("https://b.cdn.example/x/token=1/f") == "https://cdn.example/x/f")
    }

    @Test(
        "Wrong path segments and hosts are refused",
        arguments: [
            "drop-path-segment = 0", "drop-path-segment = *", "drop-path-segment = a", "drop-path-segment = a/*",
            "same-as = http://a.example", "same-as = a/b", "same-as =",
        ])
    func wrongKeyRules(line: String) {
        #expect(throws: (any Error).self) { try Self.rules("[host a.example]\n\(line)\n") }
    }

    @Test("Names go into operations and back") func namesAreCoded() throws {
        for names in [Names(), Names(dropQueryItem: ["a"]), Names(hosts: ["b.example": .init(items: ["c"])])] {
            #expect(try JSONDecoder().decode(Names.self, from: JSONEncoder().encode(names)) == names)
        }
        #expect(try JSONDecoder().decode(Names.self, from: Data("{\"dropQueryItem\":[]}".utf8)).isEmpty)
    }

    @Test("Fields that log in go to their host, and in the clear only if the file says so") func credentials() throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let path = try directory.write(Array("Authorization: Bearer s3cret\n".utf8), to: "fields")
        #expect(chmod(path, 0o600) == 0)
        let rules = try Self.rules(
            """
            [host .a.example]
            header-file = \(path)
            [host clear.a.example]
            header-over-http = yes
            """)
        var client = NIOOrigin.Configuration()
        try rules.apply(to: &client)
        let credentials = try #require(client.credentials)
        for (url, isSent) in [
            ("https://a.example/f", true), ("https://b.a.example:8443/f", true), ("http://b.a.example/f", false),
            ("http://clear.a.example/f", true), ("https://b.example/f", false), ("https://xa.example/f", false),
            ("https://a.example.evil.example/f", false),
        ] {
            let expected: HTTPFields = isSent ? [.authorization: "Bearer s3cret"] : [:]
            #expect(credentials(try ResourceURL(url)) == expected, "\(url)")
        }
        #expect(client.connectionsToHost == nil && client.allowsPrivateAddresses == nil)
    }

    @Test("What a section says of private addresses counts before the option of all hosts")
    func privateOrigins() throws {
        var client = NIOOrigin.Configuration()
        let origins = PrivateOrigins(["NAS.lan", ".home.example", "192.168.1.0/24", "10.0.0.7", "fd00:1::/64"])
        origins.apply(to: &client)
        let sections = "[host old.home.example]\nallow-private = no\n[host tv.example]\nallow-private"
        try Self.rules(sections).apply(to: &client)
        let ranges = ["192.168.1.0/24", "10.0.0.7", "fd00:1::/64"].compactMap { AddressRange($0) }
        #expect(client.privateAddresses == ranges)
        let allows = try #require(client.allowsPrivateAddresses)
        for (host, isAllowed) in [
            ("nas.lan", true), ("home.example", true), ("a.home.example", true), ("old.home.example", false),
            ("tv.example", true), ("example", nil), ("xnas.lan", nil), ("10.0.0.7", nil),
        ] as [(String, Bool?)] {
            #expect(allows(host) == isAllowed, "\(host)")
        }
        for (entry, advice) in [
            ("http://nas.lan", "such as"), ("nas.lan:80", "port"), ("*.lan", "subdomains"),
            ("10.0.0.1/8", "10.0.0.0/8"), ("10.0.0", "whole"), ("yes", "[host nas.lan]"),
        ] {
            #expect(PrivateOrigins.objection(to: entry)?.contains(advice) == true, "\(entry)")
        }
    }

    @Test("A file of fields that others may read, or that is wrong, is refused without being shown")
    func headerFiles() throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        func problem(_ text: String, mode: mode_t = 0o600) throws -> String? {
            let path = try directory.write(Array(text.utf8), to: "fields")
            #expect(chmod(path, mode) == 0)
            do { _ = try HeaderFile.read(path) } catch let reason as Failure.Reason {
                #expect(reason.code.rawValue == 64 && !reason.message.contains("s3cret"), "\(reason.message)")
                return reason.message
            }
            return nil
        }
        let field = "X-Key: s3cret"
        for mode: mode_t in [0o600, 0o400, 0o640, 0o440] { #expect(try problem(field, mode: mode) == nil) }
        for mode: mode_t in [0o604, 0o602, 0o601, 0o620, 0o660, 0o644, 0o666] {
            #expect(try problem(field, mode: mode)?.contains("chmod 600") == true, "\(mode)")
        }
        #expect(try problem("# comment\n\n  X-Key: s3cret  \r\nCookie: a=s3cret") == nil)
        for text in ["s3cret", "X-Key s3cret", "", "# none\n", "X Key: s3cret", "X-Key: a\u{1}s3cret", ": s3cret"] {
            #expect(try problem(text) != nil, "\(text)")
        }
        for name in [
            "Host", "RANGE", "If-Range", "Connection", "Content-Length", "Transfer-Encoding", "Accept-Encoding",
        ] {
            #expect(try problem("X-Key: a\n\(name): s3cret")?.contains("fields:2: \(name)") == true, "\(name)")
        }
        #expect(try problem(String(repeating: "#", count: (64 << 10) + 1))?.contains("longer than 64 KiB") == true)
        for path in [directory.path(of: "none"), directory.path, "/dev/null"] {
            #expect(throws: Failure.Reason.self) { try HeaderFile.read(path) }
        }
    }
}
