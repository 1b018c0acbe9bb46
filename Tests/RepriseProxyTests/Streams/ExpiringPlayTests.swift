import HTTPTypes
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// Tokens and signatures that expire in the middle of a play through the proxy.
@Suite("Expiring tokens of plays", .limit(minutes: 2)) struct ExpiringPlayTests {
    private typealias Site = StreamSite

    private static let segments = (1...6).map { "/show/\($0).ts" }

    private static func publish(_ site: Site, token: String) {
        site.publish(
            Site.list((1...6).map { "\($0).ts" }, ended: true, more: "#EXT-X-KEY:METHOD=AES-128,URI=\"key\"\n"),
            at: "/show/list.m3u8"
        ) { $0.demandedAuthorization = token }
        for (number, path) in segments.enumerated() {
            site.publishSegment(path, seed: UInt64(number)) { $0.demandedAuthorization = token }
        }
        site.publish("0123456789abcdef", at: "/show/key", type: "application/octet-stream") {
            $0.demandedAuthorization = token
        }
    }

    @Test("a stream whose token expires plays on: one question for each token, none for each segment")
    func stream() async throws {
        let program = TokenProgram("1")
        try await Site.run(configure: { $0.authorize = { await program.answer($0) } }) { site async throws in
            Self.publish(site, token: "1")
            for path in ["/show/list.m3u8", "/show/key"] + Self.segments[..<2] {
                #expect(try await site.get(path).status == 200, "\(path)")
            }
            #expect(program.reasons == [.refused(status: 401)])
            program.give("2") { [origin = site.origin] in
                _ = await origin.waitUntil { counters in
                    Self.segments[2..<5].allSatisfy { counters[$0].requests.contains { $0.status == 401 } }
                }
            }
            Self.publish(site, token: "2")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 2..<5 {
                    group.addTask {
                        let reply = try await site.get(Self.segments[number])
                        #expect(reply.body == TestPattern.bytes(in: 0..<1000, seed: UInt64(number)))
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await site.get(Self.segments[5]).status == 200)
            #expect(program.reasons == [.refused(status: 401), .refused(status: 401)])
            let requests = await site.origin.settledSnapshot().requests
            // The list, and the three segments that were under way together.
            #expect(requests.filter { $0.status == 401 }.count == 1 + 3)
        }
    }

    @Test("a response that has begun goes on although the token expires in the middle of it")
    func file() async throws {
        let program = TokenProgram("2")
        let length: Int64 = 3_000_000
        try await Site.run(configure: { $0.authorize = { await program.answer($0) } }) { site async throws in
            func publish(_ token: String, brokenAt most: Int64? = nil) {
                site.proxy.bench.publish("/film.mp4", length: length) {
                    ($0.demandedAuthorization, $0.truncateAfter) = (token, most)
                }
            }
            publish("1", brokenAt: 1_000_000)
            site.origin.hold("/film.mp4", at: 500_000)
            async let reply = site.get("/film.mp4", ["Authorization: 1"])
            await site.origin.waitUntil { $0["/film.mp4"].bodyBytesSent >= 500_000 }
            publish("2")
            site.origin.release("/film.mp4")
            #expect(try await reply.status == 200)
            #expect(try await reply.body == TestPattern.bytes(in: 0..<length, seed: 1))
            #expect(program.reasons == [.refused(status: 401)])
            let snapshot = await site.origin.settledSnapshot()
            let starts = snapshot["/film.mp4"].requests.map { $0.requestedRange?.lowerBound ?? 0 }
            #expect(starts == [0, 1_000_000, 1_000_000])
            #expect(snapshot.bytesSentMoreThanOnce == 0)
        }
    }

    @Test("a signed URL that expires is renewed for its segment, and stored under the one that the list names")
    func signedSegments() async throws {
        try await Site.run(configure: { configuration in
            configuration.keyPolicy = .droppingQueryItems(["sig"])
            configuration.authorize = { question in
                guard question.reason == .refused(status: 403) else { return nil }
                return Authorization(url: try ResourceURL("\(question.url)".replacing("sig=1", with: "sig=2")))
            }
        }) { site async throws in
            site.publish(Site.list(["1.ts?sig=1", "2.ts?sig=1"], ended: true), at: "/list.m3u8")
            for number in 1...2 {
                site.publishSegment("/\(number).ts?sig=2", seed: UInt64(number))
                site.fail("/\(number).ts?sig=1", with: 403)
            }
            _ = try await site.get("/list.m3u8")
            for number in 1...2 {
                for _ in 0..<2 {
                    let reply = try await site.get("/\(number).ts?sig=1")
                    #expect(reply.body == TestPattern.bytes(in: 0..<1000, seed: UInt64(number)))
                }
                #expect(site.requests("/\(number).ts?sig=1") == 1 && site.requests("/\(number).ts?sig=2") == 1)
            }
        }
    }

    @Test("a token that stays refused: the player gets the origin's refusal, and nothing is asked in a circle")
    func staysRefused() async throws {
        let program = TokenProgram("0")
        try await Site.run(configure: { $0.authorize = { await program.answer($0) } }) { site async throws in
            Self.publish(site, token: "1")
            #expect(try await site.get("/show/1.ts").status == 401)
            #expect(program.reasons == [.refused(status: 401)])
            #expect(site.requests("/show/1.ts") == 2)
        }
    }
}
