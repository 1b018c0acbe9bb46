import HTTPTypes
import Reprise
import RepriseTesting
import TestLimits
import Testing

@testable import RepriseHTTPClient

@Suite("The NIO client and a real origin", .limit(minutes: 1))
struct NIOOriginTests {
    private func withOrigin<R>(_ body: (TestOrigin, NIOOrigin) async throws -> R) async throws -> R {
        let origin = try await TestOrigin.start()
        do {
            let result = try await withClient { try await body(origin, $0) }
            await origin.stop()
            return result
        } catch {
            await origin.stop()
            throw error
        }
    }

    private func resource(
        _ length: Int64, _ configure: (inout TestOrigin.Personality) -> Void = { _ in }
    ) -> TestOrigin.Resource {
        .init(.pattern(seed: 1, length: length), personality: .init(configure))
    }

    private func pattern(_ range: Range<Int64>) -> [UInt8] { TestPattern.bytes(in: range, seed: 1) }

    @Test func requestsOneAfterTheOtherUseOneConnection() async throws {
        try await withOrigin { origin, client in
            origin.set(resource(300_000), at: "/a")
            for _ in 0..<5 {
                let response = try await client.get(origin.url("/a"))
                #expect(response.head.status == .ok)
                #expect(try await response.body.bytes() == pattern(0..<300_000))
            }
            #expect(await origin.settledSnapshot().connectionsAccepted == 1)
        }
    }

    @Test(
        "Chunked and close-delimited bodies end cleanly (RFC 9112 §6.3)",
        arguments: [
            TestOrigin.Personality.Framing.chunked, .closeDelimited, .contentLength,
        ])
    func everyFramingEndsCleanly(_ framing: TestOrigin.Personality.Framing) async throws {
        try await withOrigin { origin, client in
            origin.set(resource(3_000_000) { $0.framing = framing }, at: "/a")
            for _ in 0..<2 {
                let bytes = try await client.get(origin.url("/a")).body.bytes()
                #expect(bytes == pattern(0..<3_000_000))
            }
            let snapshot = await origin.settledSnapshot()
            #expect(snapshot.connectionsAccepted == (framing == .closeDelimited ? 2 : 1))
        }
    }

    @Test func headAnd304And204HaveNoBodyAndKeepTheConnection() async throws {
        try await withOrigin { origin, client in
            origin.set(resource(1_000), at: "/a")
            let head = try await client.get(origin.url("/a"), method: .head)
            #expect(head.head.headerFields[.contentLength] == "1000")
            #expect(try await head.body.next() == nil)
            let notModified = try await client.get(origin.url("/a"), [.ifNoneMatch: "\"v1\""])
            #expect(notModified.head.status == .notModified)
            #expect(try await notModified.body.next() == nil)
            let bytes = try await client.get(origin.url("/a")).body.bytes()
            #expect(bytes.count == 1_000)
            #expect(await origin.settledSnapshot().connectionsAccepted == 1)
        }
    }

    @Test func rangesAndStatusesArePassedOn() async throws {
        try await withOrigin { origin, client in
            origin.set(resource(1_000), at: "/a")
            let part = try await client.get(origin.url("/a"), [.range: "bytes=100-199"])
            #expect(part.head.status == .partialContent)
            #expect(try await part.body.bytes() == pattern(100..<200))
            #expect(try await client.get(origin.url("/missing")).head.status == .notFound)
        }
    }

    @Test func aBodyThatEndsBeforeItsLengthIsTruncatedAfterItsBytes() async throws {
        try await withOrigin { origin, client in
            origin.set(resource(100_000) { $0.truncateAfter = 40_000 }, at: "/a")
            let body = try await client.get(origin.url("/a")).body
            var bytes: [UInt8] = []
            let code = await failureCode {
                while let chunk = try await body.next() { chunk.withUnsafeBytes { bytes.append(contentsOf: $0) } }
            }
            #expect(code == .originBodyTruncated)
            #expect(bytes == pattern(0..<40_000))
        }
    }

    @Test(
        "A reset is never a clean end, whatever the framing",
        arguments: [
            TestOrigin.Personality.Framing.chunked, .closeDelimited, .contentLength,
        ])
    func aResetIsNeverACleanEnd(_ framing: TestOrigin.Personality.Framing) async throws {
        try await withOrigin { origin, client in
            let faulty = resource(10_000_000) {
                $0.framing = framing
                $0.resetAfter = 40_000
            }
            origin.set(faulty, at: "/a")
            #expect(await failureCode { try await client.get(origin.url("/a")).body.bytes() } == .originBodyTruncated)
        }
    }

    @Test func redirectsAreFollowedOnOneConnection() async throws {
        try await withOrigin { origin, client in
            origin.set(resource(10), at: "/media/a")
            origin.set(resource(0) { $0.redirect = "media/a" }, at: "/here")
            origin.set(resource(0) { $0.redirect = origin.url("/here") }, at: "/start")
            let response = try await client.get(origin.url("/start"))
            #expect(response.url.description == origin.url("/media/a"))
            #expect(try await response.body.bytes() == pattern(0..<10))
            #expect(await origin.settledSnapshot().connectionsAccepted == 1)
        }
    }

    @Test func aCircleOfRedirectsIsRefused() async throws {
        try await withOrigin { origin, client in
            origin.set(resource(10) { $0.redirectLoop = true }, at: "/a")
            #expect(await failureCode { try await client.get(origin.url("/a")) } == .originRedirectRefused)
            #expect(await origin.settledSnapshot().requestCount == 2)
        }
    }

    @Test func credentialsDoNotFollowARedirectToAnotherHost() async throws {
        try await withOrigin { origin, client in
            origin.set(resource(10), at: "/a")
            origin.set(resource(0) { $0.redirect = "http://localhost:\(origin.port)/a" }, at: "/away")
            origin.set(resource(0) { $0.redirect = "/a" }, at: "/near")
            let key = try #require(HTTPField.Name("X-Api-Key"))
            let secret: HTTPFields = [.authorization: "Bearer x", .cookie: "a=b", key: "x"]
            _ = try await client.get(origin.url("/near"), secret).body.bytes()
            _ = try await client.get(origin.url("/away"), secret).body.bytes()
            let requests = await origin.settledSnapshot()["/a"].requests
            #expect(requests.map { $0.fields[.authorization] } == ["Bearer x", nil])
            #expect(requests.map { $0.fields[.cookie] } == ["a=b", nil])
            #expect(requests.map { $0.fields[key] } == ["x", nil])
        }
    }

    @Test func aRedirectWithALongBodyCostsItsConnectionOnly() async throws {
        try await withOrigin { origin, client in
            origin.set(resource(10), at: "/a")
            var long = resource(50_000_000)
            long.personality.status = 302
            long.personality.statusBody = [UInt8](repeating: 1, count: 1_000_000)
            long.personality.fields = [.location: "/a"]
            origin.set(long, at: "/long")
            let bytes = try await client.get(origin.url("/long")).body.bytes()
            #expect(bytes == pattern(0..<10))
            #expect(await origin.settledSnapshot().connectionsAccepted == 2)
        }
    }

    @Test func moreRequestsThanConnectionsQueueInOrder() async throws {
        let origin = try await TestOrigin.start()
        origin.set(resource(100_000), at: "/a")
        origin.holdHeads("/a")
        try await withClient {
            $0.maximumConnectionsPerHost = 2
        } _: { client in
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<8 {
                    group.addTask { try await client.get(origin.url("/a")).body.bytes().count }
                }
                await origin.waitUntil { $0.requestCount >= 2 }
                #expect(origin.snapshot.connectionsAccepted == 2)
                origin.release("/a")
                var total = 0
                for try await count in group { total += count }
                #expect(total == 800_000)
            }
        }
        #expect(await origin.settledSnapshot().connectionsAccepted == 2)
        await origin.stop()
    }

    @Test func aQueuedRequestCanBeCanceled() async throws {
        let origin = try await TestOrigin.start()
        origin.set(resource(10), at: "/a")
        origin.holdHeads("/a")
        try await withClient {
            $0.maximumConnectionsPerHost = 1
        } _: { client in
            async let first = client.get(origin.url("/a")).body.bytes()
            await origin.waitUntil { $0.requestCount >= 1 }
            let queued = Task { try await client.get(origin.url("/a")) }
            queued.cancel()
            await #expect(throws: CancellationError.self) { _ = try await queued.value }
            origin.release("/a")
            let bytes = try await first
            #expect(bytes.count == 10)
        }
        await origin.stop()
    }

    @Test func aResetBeforeTheHeadMeansUnreachable() async throws {
        try await withOrigin { origin, client in
            origin.set(resource(10) { $0.resetBeforeHead = true }, at: "/a")
            #expect(await failureCode { try await client.get(origin.url("/a")) } == .originUnreachable)
            #expect(await origin.settledSnapshot().requestCount == 1)
        }
    }
}
