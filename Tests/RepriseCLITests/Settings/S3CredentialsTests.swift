import ArgumentParser
import Foundation
import HTTPTypes
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseCLI

/// Credentials for S3 of single hosts, and the commands that sign with them.
@Suite(.limit(minutes: 2)) struct S3CredentialsTests {
    private typealias Credentials = SigningOrigin.Credentials

    private static let environment = [
        "AWS_ACCESS_KEY_ID": "AKENV", "AWS_SECRET_ACCESS_KEY": "s3cret-env", "AWS_REGION": "eu-west-1",
    ]
    private static let file = """
        # comment
        [default]
        aws_access_key_id=AKDEFAULT
        aws_secret_access_key = s3cret/default+=

        [ media ]
          AWS_ACCESS_KEY_ID = AKMEDIA  # media only
        aws_secret_access_key = s3cret-media
        aws_session_token = t0ken==
        region = us-east-1
        [half]
        aws_access_key_id = AKHALF
        """

    private static func credentials(
        _ text: String, environment: [String: String] = [:], for url: String
    ) async throws -> Credentials? {
        let rules = HostRules(try ConfigurationFile(Array(text.utf8), named: "/r.conf"))
        guard let find = try rules.s3Credentials(environment: environment) else { return nil }
        return await find(try ResourceURL(url))
    }

    private static func withFile(_ text: String = file, _ body: (String) async throws -> Void) async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let path = try directory.write(Array(text.utf8), to: "credentials")
        #expect(chmod(path, 0o600) == 0)
        try await body(path)
    }

    @Test("Only hosts that opt in have credentials: of a file and profile, or of the environment") func hosts()
        async throws
    {
        try await Self.withFile { path async throws in
            let text = """
                [host .s3.example]
                s3-region = eu-central-1
                [host .media.s3.example]
                s3-credentials-file = \(path)
                s3-profile = media
                [host b.media.s3.example]
                connections = 2
                [host other.example]
                s3-credentials-file = \(path)
                """
            let media = Credentials(
                accessKeyID: "AKMEDIA", secretAccessKey: "s3cret-media", sessionToken: "t0ken==",
                region: "eu-central-1")
            for (url, expected) in [
                ("https://media.s3.example/f", media), ("http://b.media.s3.example:9000/f", media),
                (
                    "https://s3.example/f",
                    Credentials(accessKeyID: "AKENV", secretAccessKey: "s3cret-env", region: "eu-central-1")
                ),
                (
                    "https://other.example/f",
                    Credentials(accessKeyID: "AKDEFAULT", secretAccessKey: "s3cret/default+=", region: "eu-west-1")
                ), ("https://a.other.example/f", nil), ("https://xs3.example/f", nil),
                ("https://media.s3.example.evil.example/f", nil),
            ] as [(String, Credentials?)] {
                #expect(
                    try await Self.credentials(text, environment: Self.environment, for: url) == expected, "\(url)")
            }
            let none = "[host a.example]\nconnections = 2"
            #expect(try await Self.credentials(none, environment: Self.environment, for: "https://a.example/") == nil)
        }
    }

    @Test("What is missing is named with its line, without secrets") func problems() async throws {
        try await Self.withFile { path async throws in
            let file = "s3-credentials-file = \(path)"
            for (lines, environment, problem) in [
                (
                    "s3-region = eu-west-1", [:],
                    "/r.conf:1: [host a.example] has no credentials. Add s3-credentials-file, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
                ),
                (
                    "s3-region = eu-west-1", ["AWS_ACCESS_KEY_ID": "AK", "AWS_SECRET_ACCESS_KEY": ""],
                    "/r.conf:1: [host a.example] has no credentials."
                ),
                (file, [:], "/r.conf:1: [host a.example] has no region. Add s3-region, or set AWS_REGION."),
                (file, ["AWS_REGION": "a/b"], "/r.conf:1: [host a.example] has no region."),
                (
                    "s3-region = r\n\(file)\ns3-profile = none", [:],
                    "/r.conf:4: s3-profile: \(path) has no profile [none]."
                ),
                (
                    "s3-region = r\n\(file)\ns3-profile = half", [:],
                    "/r.conf:4: s3-profile: The profile [half] of \(path) needs aws_access_key_id and aws_secret_access_key."
                ),
                (
                    "s3-region = r\ns3-profile = media", Self.environment,
                    "/r.conf:3: s3-profile is of no use without s3-credentials-file."
                ),
                (
                    "s3-region = r\ns3-credentials-file = \(path).none", [:],
                    "/r.conf:3: s3-credentials-file: Cannot read \(path).none"
                ),
            ] as [(String, [String: String], String)] {
                let error = await #expect(throws: Failure.Reason.self, "\(lines)") {
                    try await Self.credentials(
                        "[host a.example]\n\(lines)", environment: environment, for: "https://a.example/")
                }
                #expect(
                    error?.code.rawValue == 64 && error?.message.hasPrefix(problem) == true, "\(error?.message ?? "")")
                #expect(error?.message.contains("s3cret") == false)
            }
            #expect(chmod(path, 0o644) == 0)
            let error = await #expect(throws: Failure.Reason.self) {
                try await Self.credentials(
                    "[host a.example]\ns3-region = r\n\(file)", for: "https://a.example/")
            }
            #expect(error?.message.contains("chmod 600") == true)
        }
    }

    @Test("A changed file is read again after 5 s, and a wrong one changes nothing") func rotation() async throws {
        func text(_ number: Int) -> [UInt8] {
            Array("[default]\naws_access_key_id = AK\(number)\naws_secret_access_key = s\(number)".utf8)
        }
        try await Self.withFile(String(decoding: text(1), as: UTF8.self)) { path async throws in
            let clock = ShiftableClock()
            let credentials = try S3Credentials(
                file: (path, "s3-credentials-file"), profile: nil, region: ("r", "s3-region"), section: "",
                environment: [:], clock: clock.cacheClock)
            for (bytes, shift, expected) in [
                (text(2), 4, "AK1"), (text(2), 1, "AK2"), (Array("[other]".utf8), 5, "AK2"), (text(3), 4, "AK2"),
                (text(3), 1, "AK3"),
            ] as [([UInt8], Int, String)] {
                try Data(bytes).write(to: URL(fileURLWithPath: path))
                clock.shift(by: .seconds(shift))
                #expect(await credentials.current().accessKeyID == expected)
            }
        }
    }

    @Test("fetch and serve sign requests to the host of a section, and show no secret") func commands() async throws {
        try await Site.run { site async throws in
            var verifier = SignatureVerifier()
            verifier.sessionToken = "t0ken-of-session"
            let content = TestPattern.bytes(in: 0..<300_000, seed: 1)
            let film = TestOrigin.Resource(.pattern(seed: 1, length: 300_000), mediaType: "video/mp4")
            for path in ["/film.mp4", "/b/film%202.mp4"] { site.origin.set(verifier.guarding(film), at: path) }
            let text = """
                cache-dir = cache
                log-level = trace
                [host 127.0.0.1]
                s3-region = \(verifier.region)
                s3-credentials-file = keys
                s3-profile = media
                """
            let path = try site.directory.write(Array(text.utf8), to: "r.conf")
            func write(_ secret: String) throws {
                let keys = """
                    [media]
                    aws_access_key_id = \(verifier.accessKeyID)
                    aws_secret_access_key = \(secret)
                    aws_session_token = t0ken-of-session
                    """
                #expect(chmod(try site.directory.write(Array(keys.utf8), to: "keys"), 0o600) == 0)
            }
            func expectNoSecret(_ text: String) {
                #expect(!text.contains(verifier.secret) && !text.contains("wr0ng-secret"), "\(text)")
                #expect(!text.contains("t0ken-of-session") && !text.contains("Signature="), "\(text)")
            }
            let url = site.origin.url("/film.mp4")
            try write("wr0ng-secret")
            let refused = try await Command.run(["fetch", "--json", "--config", path, url])
            #expect(refused.exit != .status(0) && refused.output.contains("\"status\":403"), "\(refused)")
            expectNoSecret(refused.output + refused.errors)
            let empty = try await Command.run(["list", "--config", path])
            #expect(empty.exit == .status(0) && !empty.output.contains("film"), "\(empty)")
            try write(verifier.secret)
            let file = site.directory.path(of: "film.mp4")
            let fetched = try await Command.run(["fetch", "--config", path, url, "--output", file])
            #expect(fetched.exit == .status(0), "\(fetched)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == Data(content))
            let config = try await Command.run(["config", "--config", path])
            #expect(config.output.contains("s3-profile = media") && config.exit == .status(0), "\(config)")
            expectNoSecret(config.output + config.errors + fetched.output + fetched.errors)
            let serving = try await Serving.run(["--config", path, "--port", "0"]) { serving async throws in
                #expect(try await serving.get(site.target("/b/film%202.mp4")).body == content)
                #expect(try await serving.get(site.target("/film.mp4")).body == content)
            }
            expectNoSecret(serving.output + serving.errors)
            let statuses = site.origin.snapshot.requests.map(\.status)
            #expect(statuses.filter { $0 == 403 }.count == 1 && statuses.filter { $0 == 200 }.count == 2)
            // Other commands find the files without credentials.
            let list = try await Command.run(["list", "--cache-dir", site.directory.path(of: "cache")])
            #expect(list.output.contains("/film.mp4") && list.output.contains("/b/film%202.mp4"), "\(list)")
        }
    }
}
