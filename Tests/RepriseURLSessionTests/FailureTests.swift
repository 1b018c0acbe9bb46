import Foundation
import HTTPTypes
import Reprise
import RepriseTesting
import TestLimits
import Testing

@testable import RepriseURLSession

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Failures of the URLSession client", .limit(minutes: 1))
struct FailureTests {
    @Test("A body that ends before its declared end is an error (RFC 9112 §8)", arguments: [true, false])
    func aTruncatedBodyIsAnError(_ isReset: Bool) async throws {
        try await withOrigin { origin, client in
            origin.set(
                resource(3_000_000) {
                    $0.truncateAfter = isReset ? nil : 1_000_000
                    $0.resetAfter = isReset ? 1_000_000 : nil
                }, at: "/a")
            let body = try await client.get(origin.url("/a")).body
            var bytes: [UInt8] = []
            let code = await failureCode {
                while let chunk = try await body.next() { chunk.withUnsafeBytes { bytes.append(contentsOf: $0) } }
            }
            #expect(code == .originBodyTruncated)
            #expect(bytes == pattern(0..<Int64(bytes.count)))
            #expect(bytes.count == 1_000_000 || isReset)
        }
    }

    @Test("A Content-Length above 2^53 is refused, one of 2^53 is short", arguments: [(1 << 53) + 1, 1 << 53])
    func aContentLengthHasALimit(length: Int64) async throws {
        try await withOrigin { origin, client in
            origin.set(
                resource(10) {
                    $0.statedContentLength = length
                    $0.keepsAlive = false
                }, at: "/a")
            let code = await failureCode { try await client.get(origin.url("/a")).body.bytes() }
            #expect(code == (length > 1 << 53 ? .originMisbehaved : .originBodyTruncated))
        }
    }

    @Test func aChunkedBodyWithoutItsLastChunkIsAnError() async throws {
        try await withOrigin { origin, client in
            origin.set(
                resource(100_000) {
                    $0.framing = .chunked
                    $0.truncateAfter = 50_000
                }, at: "/a")
            let body = try await client.get(origin.url("/a")).body
            #expect(await failureCode { try await body.bytes() } == .originBodyTruncated)
        }
    }

    @Test func aConnectionThatDiesBeforeTheHeadMeansUnreachable() async throws {
        try await withOrigin { origin, client in
            origin.set(resource(10) { $0.resetBeforeHead = true }, at: "/a")
            #expect(await failureCode { try await client.get(origin.url("/a")) } == .originUnreachable)
        }
    }

    @Test func aRefusedConnectionNamesTheHostAndNoSecret() async throws {
        let stopped = try await TestOrigin.start()
        await stopped.stop()
        try await withOrigin { _, client in
            do {
                _ = try await client.get(stopped.url("/a?token=secret"))
                Issue.record("nothing listens there")
            } catch let error as RepriseError {
                #expect(error.code == .originUnreachable)
                #expect(error.message.contains("127.0.0.1:\(stopped.port)"))
                #expect(!"\(error)".contains("secret"))
            }
        }
    }

    @Test func aNameThatDoesNotExistIsNotFound() async throws {
        try await withOrigin { _, client in
            #expect(await failureCode { try await client.get("http://reprise-test.invalid/") } == .originNotFound)
        }
    }

    @Test func anOriginThatSpeaksNoTLSIsNotTrusted() async throws {
        try await withOrigin { origin, client in
            let code = await failureCode { try await client.get("https://127.0.0.1:\(origin.port)/") }
            #expect(code == .originNotTrusted)
            #expect(await origin.settledSnapshot().requestCount == 0)
        }
    }

    @Test("A body that the system decodes is refused", arguments: ["gzip", "br", "deflate", "GZIP"])
    func aBodyThatTheSystemDecodesIsRefused(_ coding: String) async throws {
        try await withOrigin { origin, client in
            origin.set(resource(100_000) { $0.contentEncoding = coding }, at: "/a")
            #expect(await failureCode { try await client.get(origin.url("/a")) } == .originMisbehaved)
        }
    }

    @Test func anAddressThatFoundationWouldRewriteIsInvalid() async throws {
        try await withOrigin { origin, client in
            for target in ["/a|b", "/a?x={1}", "/%zz", "/a\"b"] {
                let code = await failureCode { try await client.get(origin.url(target)) }
                #expect(code == .invalidURL, "\(target)")
            }
            #expect(await origin.settledSnapshot().requestCount == 0)
        }
    }

    @Test func methodsOfTheConnectionItselfAreRefused() async throws {
        try await withOrigin { origin, client in
            let code = await failureCode { try await client.get(origin.url("/a"), method: .trace) }
            #expect(code == .invalidArgument)
        }
    }

    @Test func anOriginThatDoesNotAnswerTimesOut() async throws {
        try await withOrigin {
            $0.responseTimeout = .milliseconds(50)
        } _: { origin, client in
            origin.set(resource(10), at: "/a")
            origin.holdHeads("/a")
            #expect(await failureCode { try await client.get(origin.url("/a")) } == .originTimedOut)
            await origin.waitUntil { $0.openConnections == 0 }
        }
    }

    @Test func anOriginThatStopsInItsBodyTimesOut() async throws {
        try await withOrigin {
            $0.idleTimeout = .milliseconds(500)
        } _: { origin, client in
            origin.set(resource(100_000), at: "/a")
            origin.hold("/a", at: 60_000)
            let body = try await client.get(origin.url("/a")).body
            var count = 0
            let code = await failureCode { while let chunk = try await body.next() { count += chunk.count } }
            #expect(code == .originTimedOut)
            #expect(count == 60_000)
            await origin.waitUntil { $0.openConnections == 0 }
        }
    }

    @Test(
        "The system's errors mean what the engine understands",
        arguments: [
            (URLError.Code.cannotFindHost, RepriseError.Code.originNotFound), (.dnsLookupFailed, .originNotFound),
            (.cannotConnectToHost, .originUnreachable), (.notConnectedToInternet, .networkUnavailable),
            (.networkConnectionLost, .originUnreachable), (.dataNotAllowed, .networkUnavailable),
            (.timedOut, .originTimedOut), (.secureConnectionFailed, .originNotTrusted),
            (.serverCertificateUntrusted, .originNotTrusted), (.serverCertificateHasBadDate, .originNotTrusted),
            (.badServerResponse, .originMisbehaved), (.cannotParseResponse, .originMisbehaved),
            (.appTransportSecurityRequiresSecureConnection, .originForbidden),
        ])
    func errorsAreMapped(_ code: URLError.Code, _ expected: RepriseError.Code) throws {
        let url = try ResourceURL("http://example.org/a?token=secret")
        let leaky = URLError(code, userInfo: ["NSErrorFailingURLStringKey": url.description])
        let error = Failures.head(leaky, from: url)
        #expect(error.code == expected)
        #expect(!"\(error)".contains("secret"))
    }
}
