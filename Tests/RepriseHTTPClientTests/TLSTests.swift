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
            } _: { client in
                for _ in 0..<2 {
                    let response = try await client.get("https://\(host):\(server.port)/")
                    #expect(try await response.body.bytes() == Array(buffer: bytes))
                }
                #expect(server.connections == 1)
            }
        }
    }

    @Test func anUnknownAuthorityIsNotTrusted() async throws {
        try await ScriptedServer.run(tls: try certificates().serverContext, { _, _ in [.send(Self.ok)] }) { server in
            try await withClient { client in
                #expect(
                    await failureCode { try await client.get("https://localhost:\(server.port)/") } == .originNotTrusted
                )
                #expect(server.requests.isEmpty)
            }
        }
    }

    @Test func aCertificateForAnotherNameIsNotTrusted() async throws {
        let certificates = try certificates()
        try await ScriptedServer.run(tls: certificates.serverContext, { _, _ in [.send(Self.ok)] }) { server in
            try await withClient {
                $0.additionalTrustRoots = [certificates.root]
            } _: { client in
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
            } _: { client in
                async let code = failureCode { try await client.get("https://localhost:\(server.port)/") }
                await eventually { server.connections > 0 }
                try await server.send("HTTP/1.1 400 Bad Request\r\n\r\n", on: 0)
                #expect(await code == .originNotTrusted)
            }
        }
    }

    @Test func aRedirectToPlainHTTPIsRefused() async throws {
        let certificates = try certificates()
        let redirect = "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"
        try await ScriptedServer.run(tls: certificates.serverContext, { _, _ in [.send(redirect)] }) { server in
            try await withClient {
                $0.additionalTrustRoots = [certificates.root]
            } _: { client in
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
            } _: { client in
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
            } _: { client in
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
        } _: { client in
            #expect(await failureCode { try await client.get("https://localhost:1/") } == .originNotTrusted)
        }
    }
}
