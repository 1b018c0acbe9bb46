import Foundation
import NIOCore
import Reprise
import RepriseTesting
import TestLimits
import Testing

@testable import RepriseHTTPClient

@Suite("TLS", .limit(minutes: 1), .enabled(if: TestCertificates.shared != nil))
struct TLSTests {
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    private func certificates() throws -> TestCertificates { try #require(TestCertificates.shared) }

    @Test("An authority that was added is trusted", arguments: ["localhost", "127.0.0.1"])
    func anAuthorityThatWasAddedIsTrusted(_ host: String) async throws {
        let certificates = try certificates()
        let length = 1_500_000
        let bytes = ByteBuffer(bytes: TestPattern.bytes(in: 0..<Int64(length), seed: 4))
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n"
        try await ScriptedServer.run(tls: certificates.serverContext, { _, _ in [.send(head), .sendBytes(bytes)] }) {
            server in
            try await withClient {
                $0.additionalTrustRoots = [certificates.root]
            } _: { client async throws in
                for _ in 0..<2 {
                    let response = try await client.get("https://\(host):\(server.port)/")
                    #expect(try await response.body.bytes() == Array(buffer: bytes))
                }
                #expect(server.connections == 1)
            }
        }
    }

    @Test func anUnknownAuthorityIsNotTrustedAndTheSettingIsNamed() async throws {
        try await ScriptedServer.run(tls: try certificates().serverContext, { _, _ in [.send(Self.ok)] }) { server in
            try await withClient { client in
                let url = "https://localhost:\(server.port)/"
                let error = await #expect(throws: RepriseError.self) { try await client.get(url) }
                #expect(error?.code == .originNotTrusted)
                #expect(error?.message.contains("trust-roots, or SSL_CERT_FILE") == true)
                #expect(server.requests.isEmpty)
            }
        }
    }

    @Test("An authority of a file, or of a directory, is trusted by all hosts or by one", arguments: [true, false])
    func trustedFiles(isDirectory: Bool) async throws {
        let certificates = try certificates()
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("reprise-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("root.pem")
        try Data(certificates.root.utf8).write(to: file)
        try Data("no certificate".utf8).write(to: folder.appendingPathComponent("README"))
        let variables = isDirectory ? ["SSL_CERT_DIR": "/nowhere/x:\(folder.path)"] : ["SSL_CERT_FILE": file.path]
        let trusted = TrustedFile.named(in: variables).suffix(1)
        try await ScriptedServer.run(tls: certificates.serverContext, { _, _ in [.send(Self.ok)] }) { server in
            let url = "https://localhost:\(server.port)/"
            try await withClient {
                $0.trustedFiles = Array(trusted)
            } _: { client async throws in
                #expect(try await client.get(url).body.text() == "ok")
            }
            try await withClient {
                $0.trustedFilesOfHost = { $0 == "localhost" ? Array(trusted) : nil }
            } _: { client async throws in
                #expect(try await client.get(url).body.text() == "ok")
                #expect(
                    await failureCode { try await client.get("https://127.0.0.1:\(server.port)/") } == .originNotTrusted
                )
            }
        }
    }

    @Test func aFileOfRootsThatIsNotThereIsNamed() async throws {
        try await withClient {
            $0.trustedFiles = TrustedFile.named(in: ["SSL_CERT_FILE": "/nowhere/roots.pem", "SSL_CERT_DIR": ""])
        } _: { client async throws in
            let error = await #expect(throws: RepriseError.self) { try await client.get("https://localhost:1/") }
            #expect(error?.message.hasPrefix("/nowhere/roots.pem, which SSL_CERT_FILE names, does not exist.") == true)
        }
    }

    @Test("A certificate for other names is refused, and they are named")
    func otherNames() async throws {
        let certificates = try certificates()
        try await ScriptedServer.run(tls: certificates.addressContext, { _, _ in [.send(Self.ok)] }) { server in
            try await withClient {
                $0.additionalTrustRoots = [certificates.root]
            } _: { client async throws in
                for host in ["localhost", "127.0.0.1"] {
                    let url = "https://\(host):\(server.port)/"
                    let error = await #expect(throws: RepriseError.self) { try await client.get(url) }
                    #expect(error?.code == .originNotTrusted)
                    #expect(error?.message.contains("is for other names: 192.0.2.7.") == true)
                }
            }
        }
    }

    @Test func aCertificateForAnotherNameIsNotTrusted() async throws {
        let certificates = try certificates()
        try await ScriptedServer.run(tls: certificates.serverContext, { _, _ in [.send(Self.ok)] }) { server in
            try await withClient {
                $0.additionalTrustRoots = [certificates.root]
            } _: { client async throws in
                // The loopback block, but not the address in the certificate.
                let url = "https://127.0.0.2:\(server.port)/"
                let code = await failureCode { try await client.get(url) }
                #expect(code == .originNotTrusted || code == .originUnreachable)
                #expect(server.requests.isEmpty)
            }
        }
    }

    @Test(
        "A star in a certificate is one whole label, the first (RFC 9525 §6.3)",
        arguments: [
            ("media.test", "media.test", true), ("MEDIA.test", "media.test", true), ("media.test.", "media.test", true),
            ("media.test", "media.test.", true), ("media.test", "a.media.test", false),
            ("*.media.test", "a.media.test", true),
            ("*.media.test", "a.b.media.test", false), ("*.media.test", "media.test", false),
            ("*.media.test", ".media.test", false), ("*.test", "media.test", false), ("*", "media", false),
            ("a*.media.test", "ab.media.test", false), ("media.*.test", "media.a.test", false), ("", "", false),
        ])
    func certificateNames(pattern: String, host: String, isCovered: Bool) {
        #expect(CertificateName.matches(pattern, host) == isCovered)
    }

    @Test func plainHTTPOnATLSPortIsNotTrusted() async throws {
        try await ScriptedServer.run({ _, _ in [] }) { server in
            try await withClient {
                // A busy machine may take longer to answer than a player would wait.
                $0.connectTimeout = .seconds(600)
            } _: { client async throws in
                async let code = failureCode { try await client.get("https://localhost:\(server.port)/") }
                await eventually { server.connections > 0 }
                try await server.send("HTTP/1.1 400 Bad Request\r\n\r\n", on: 0)
                #expect(await code == .originNotTrusted)
            }
        }
    }

    @Test("A redirect to plain http is followed for a host for which that is allowed")
    func aRedirectToPlainHTTP() async throws {
        let certificates = try certificates()
        try await ScriptedServer.run({ _, _ in [.send(Self.ok)] }) { plain in
            let redirect = "HTTP/1.1 302 Found\r\nLocation: \(plain.url("/"))\r\nContent-Length: 0\r\n\r\n"
            try await ScriptedServer.run(tls: certificates.serverContext, { _, _ in [.send(redirect)] }) { server in
                try await withClient {
                    $0.additionalTrustRoots = [certificates.root]
                    $0.mayLeaveTLS = { $0 == "localhost" }
                } _: { client async throws in
                    let text = try await client.get("https://localhost:\(server.port)/", [.cookie: "a=b"]).body.text()
                    #expect(text == "ok")
                    #expect(plain.requests.first?.contains("Cookie") == false)
                    let refused = "https://127.0.0.1:\(server.port)/"
                    #expect(await failureCode { try await client.get(refused) } == .originRedirectRefused)
                }
            }
        }
    }

    @Test func aRedirectToPlainHTTPIsRefused() async throws {
        let certificates = try certificates()
        let redirect = "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"
        try await ScriptedServer.run(tls: certificates.serverContext, { _, _ in [.send(redirect)] }) { server in
            try await withClient {
                $0.additionalTrustRoots = [certificates.root]
            } _: { client async throws in
                let code = await failureCode { try await client.get("https://localhost:\(server.port)/") }
                #expect(code == .originRedirectRefused)
            }
        }
    }

    @Test("A close-delimited body ends cleanly only if TLS does (RFC 9112 §9.8)", arguments: [true, false])
    func aCloseDelimitedBodyEndsCleanlyOnlyIfTLSDoes(_ isClean: Bool) async throws {
        let certificates = try certificates()
        let steps: [ScriptedServer.Step] = [.send("HTTP/1.1 200 OK\r\n\r\nabc"), isClean ? .close : .cutTLS]
        try await ScriptedServer.run(tls: certificates.serverContext, { _, _ in steps }) { server in
            try await withClient {
                $0.additionalTrustRoots = [certificates.root]
            } _: { client async throws in
                let body = try await client.get("https://localhost:\(server.port)/").body
                let code = await failureCode { try await body.bytes() }
                #expect(code == (isClean ? nil : .originBodyTruncated))
            }
        }
    }

    @Test func cancelingKeepsWhatTheSystemHasReceived() async throws {
        let certificates = try certificates()
        let part = TestPattern.bytes(in: 0..<40_000, seed: 4)
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"
        let steps: [ScriptedServer.Step] = [.send(head), .sendBytes(ByteBuffer(bytes: part))]
        try await ScriptedServer.run(tls: certificates.serverContext, { _, _ in steps }) { server in
            try await withClient {
                $0.additionalTrustRoots = [certificates.root]
                $0.readAhead = 16_384
            } _: { client async throws in
                let body = try await client.get("https://localhost:\(server.port)/").body
                try await server.settle()
                body.cancel()
                let bytes = try await body.bytes()
                #expect(bytes == part)
                try await server.waitForClose(of: 0)
            }
        }
    }

    @Test func rootsThatAreNoCertificatesAreReported() async throws {
        try await withClient {
            $0.additionalTrustRoots = ["no certificate"]
        } _: { client async throws in
            #expect(await failureCode { try await client.get("https://localhost:1/") } == .originNotTrusted)
        }
    }
}
