import Foundation
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseCLI

/// `serve` with a certificate, as the real curl sees it.
@Suite(.limit(minutes: 3)) struct CertificateTests {
    /// Files of a certificate and its key, made by `openssl`.
    private struct Files {
        let folder: TemporaryDirectory
        var certificate: String { folder.path(of: "cert.pem") }
        var key: String { folder.path(of: "key.pem") }
        var options: [String] { ["--tls-certificate", certificate, "--tls-key", key] }

        /// Makes a certificate of its own authority, with a new key, in the place of the one before.
        func make(_ name: String = "cert.pem", key: String = "key.pem", also: [String] = ["-nodes"]) async throws {
            let outcome = try await ChildProcess.run(
                "/usr/bin/env",
                ["openssl", "req", "-x509", "-days", "2", "-subj", "/CN=localhost", "-newkey", "ec"]
                    + ["-pkeyopt", "ec_paramgen_curve:prime256v1", "-addext", "subjectAltName=IP:127.0.0.1"]
                    + ["-keyout", folder.path(of: key), "-out", folder.path(of: name)] + also)
            try #require(outcome.exit == .status(0), "\(outcome)")
            #expect(chmod(folder.path(of: key), 0o600) == 0)
        }
    }

    private static func curl(_ serving: Serving, _ target: String, _ options: [String]) async throws
        -> ChildProcess.Outcome
    {
        try await ChildProcess.run(
            "/usr/bin/env",
            ["curl", "-sS", "--noproxy", "*", "--max-time", "200"] + options
                + ["https://127.0.0.1:\(serving.port)\(target)"])
    }

    private static func run(_ body: (Site, Files) async throws -> Void) async throws {
        guard ChildProcess.path(of: "openssl") != nil, ChildProcess.path(of: "curl") != nil else {
            return print("skipped: openssl or curl is not installed")
        }
        try await Site.run { site async throws in
            let folder = try TemporaryDirectory()
            defer { folder.remove() }
            let files = Files(folder: folder)
            try await files.make()
            try await body(site, files)
        }
    }

    @Test("curl gets whole files, ranges and hits with TLS 1.2 and 1.3, and nothing without") func bytes() async throws
    {
        try await Self.run { site, files async throws in
            let length: Int64 = 3 << 20
            site.publish("/a.mp4", length: length)
            let whole = TestPattern.bytes(in: 0..<length, seed: 1)
            let outcome = try await Serving.run(site.directory, files.options) { serving async throws in
                let target = site.target("/a.mp4")
                let file = files.folder.path(of: "body")
                for options in [["--tlsv1.3"], ["--tls-max", "1.2"], ["-r", "1000-"], ["-r", "5-9"]] {
                    let got = try await Self.curl(
                        serving, target, ["--cacert", files.certificate, "-o", file] + options)
                    #expect(got.exit == .status(0), "\(got)")
                    let bytes = try Array(Data(contentsOf: URL(fileURLWithPath: file)))
                    let start = options == ["-r", "1000-"] ? 1000 : 0
                    #expect(bytes == (options == ["-r", "5-9"] ? Array(whole[5...9]) : Array(whole[start...])))
                }
                // Both on one connection.
                let again = "https://127.0.0.1:\(serving.port)\(target)"
                let two = try await Self.curl(
                    serving, target,
                    ["--cacert", files.certificate, "-o", file, "-o", file, "-w", "%{num_connects}", again])
                #expect(two.output == "10", "\(two)")
                let old = try await Self.curl(serving, target, ["--cacert", files.certificate, "--tls-max", "1.1"])
                #expect(old.exit != .status(0))
                let stranger = try await Self.curl(serving, target, [])
                #expect(stranger.exit == .status(60), "\(stranger)")
                // Plain HTTP gets a word, and the next connection is served.
                let plain = try await RawClient.exchange(port: serving.port, target)
                #expect(plain.head.status == 400)
                #expect(String(decoding: plain.body, as: UTF8.self) == "This port speaks TLS: use https://…\n")
                let last = try await Self.curl(serving, "/", ["--cacert", files.certificate])
                #expect(last.output.contains("  https://127.0.0.1:\(serving.port)/https/example.com/"), "\(last)")
            }
            #expect(outcome.exit == .status(0) && !outcome.errors.contains("TLS"), "\(outcome)")
            #expect(outcome.output.contains("mpv https://127.0.0.1:"), "\(outcome)")
        }
    }

    @Test("health asks with https and trusts the configured certificate and no other") func health() async throws {
        try await Self.run { site, files async throws in
            try await files.make("other.pem", key: "other.key")
            try await Serving.run(site.directory, files.options) { serving async throws in
                func health(_ certificate: String?, _ arguments: [String] = []) async throws -> ChildProcess.Outcome {
                    var environment = ["REPRISE_PORT": "\(serving.port)", "REPRISE_HOST": "0.0.0.0"]
                    environment["REPRISE_TLS_CERTIFICATE"] = certificate.map { files.folder.path(of: $0) }
                    return try await Command.run(["health", "--ready"] + arguments, environment: environment)
                }
                let url = ["--url", "https://127.0.0.1:\(serving.port)"]
                for arguments in [[], url] {
                    let ready = try await health("cert.pem", arguments)
                    #expect(ready.exit == .status(0) && ready.output == "ready\n", "\(ready)")
                    let other = try await health("other.pem", arguments)
                    #expect(other.exit == .status(1) && other.output.isEmpty, "\(other)")
                }
                #expect(try await health(nil, url).exit == .status(1))
                #expect(try await health(nil).exit == .status(1), "plain HTTP")
                #expect(try await health("none.pem").exit == .status(64))
            }
        }
    }

    @Test("a hang-up reads the certificate again; one that is wrong leaves the old, and says so") func hangUp()
        async throws
    {
        try await Self.run { site, files async throws in
            site.publish("/a.mp4", length: 1000)
            let outcome = try await Serving.run(site.directory, files.options) { serving async throws in
                let target = site.target("/a.mp4")
                func exits() async throws -> [ChildProcess.Exit] {
                    var exits: [ChildProcess.Exit] = []
                    for name in ["first.pem", "second.pem"] {
                        let options = ["--cacert", files.folder.path(of: name), "-o", "/dev/null"]
                        exits.append(try await Self.curl(serving, target, options).exit)
                    }
                    return exits
                }
                let manager = FileManager.default
                try manager.copyItem(atPath: files.certificate, toPath: files.folder.path(of: "first.pem"))
                // The key of another certificate.
                try await files.make("second.pem")
                let before = try await exits()
                #expect(before == [.status(0), .status(60)])
                serving.child.send(SIGHUP)
                _ = await serving.child.errors.wait { $0.contains("read before stays") }
                let between = try await exits()
                #expect(between == before)
                try manager.removeItem(atPath: files.certificate)
                try manager.copyItem(atPath: files.folder.path(of: "second.pem"), toPath: files.certificate)
                serving.child.send(SIGHUP)
                _ = await serving.child.errors.wait { $0.contains("hang-up: read again") }
                let after = try await exits()
                #expect(after == [.status(60), .status(0)])
            }
            #expect(outcome.errors.contains("is not the key of the first certificate"), "\(outcome)")
        }
    }

    @Test("files that cannot be used are refused before anything is served, with words") func objections() async throws
    {
        try await Self.run { site, files async throws in
            try await files.make("other.pem", key: "other.key")
            try await files.make("sealed.pem", key: "sealed.key", also: ["-passout", "pass:sekret"])
            let text = try files.folder.write(Array("no PEM".utf8), to: "text")
            #expect(chmod(text, 0o600) == 0)
            func path(_ name: String) -> String { files.folder.path(of: name) }
            for (certificate, key, words) in [
                (files.certificate, path("other.key"), "is not the key of the first certificate"),
                (path("sealed.pem"), path("sealed.key"), "is encrypted"),
                (files.certificate, path("none"), "tls-key: Cannot read"),
                (path("none"), files.key, "tls-certificate: Cannot read"), (text, files.key, "has no certificate"),
                (files.certificate, text, "has no private key"),
            ] {
                let outcome = try await Command.run(
                    "serve", site.directory, ["--port", "0", "--tls-certificate", certificate, "--tls-key", key])
                #expect(outcome.exit == .status(64) && outcome.errors.contains(words), "\(words): \(outcome)")
            }
            let alone = try await Command.run("serve", site.directory, ["--tls-key", files.key])
            #expect(alone.exit == .status(64) && alone.errors.contains("give both"), "\(alone)")
            #expect(chmod(files.key, 0o644) == 0)
            let open = try await Command.run("serve", site.directory, ["--port", "0"] + files.options)
            #expect(open.exit == .status(64) && open.errors.contains("chmod 600"), "\(open)")
        }
    }
}
