import ByteRanges
import HTTPSemantics
import HTTPTypes
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// A file without a strong validator that is being read: no other response may be joined to its response (RFC 9110
/// §15.3.7.3), and none that shows nothing new may break it off.
@Suite(.limit(minutes: 2)) struct OtherResponseTests {
    private static let length: Int64 = 8 << 20

    private static func publish(_ bench: Bench, weak: Bool, seed: UInt64 = 1, date: String? = nil) {
        bench.origin.set(
            TestOrigin.Resource(
                .pattern(seed: seed, length: length), mediaType: "video/mp4", etag: weak ? "W/\"v\(seed)\"" : nil,
                lastModified: date), at: "/film")
    }

    private static func check(_ bytes: [UInt8], from start: Int64, seed: UInt64 = 1) -> Bool {
        bytes == TestPattern.bytes(in: start..<start + Int64(bytes.count), seed: seed)
    }

    @Test(arguments: [true, false]) func aFarSeekIsAnsweredAndTheFirstReadGoesOn(weak: Bool) async throws {
        try await Bench.run(configure: { $0.generationPolicy = .strict }) { bench in
            Self.publish(bench, weak: weak)
            let film = try bench.cache.resource(for: bench.origin.url("/film"))
            let first = try await film.read()
            var bytes = try #require(try await first.nextBytes())
            let seek = try await film.read(.bounded(6 << 20..<6 << 20 + 100_000))
            #expect(try await Self.check(seek.collect(), from: 6 << 20))
            bytes += try await first.collect()
            #expect(bytes.count == Int(Self.length))
            #expect(Self.check(bytes, from: 0))
            let sent = await bench.origin.settledSnapshot()
            #expect(sent.requestCount == 2)
            // The seek's bytes belong to another response; the first one is kept complete.
            #expect(await Array(film.storedProgress().ranges) == [0..<Self.length])
        }
    }

    @Test("the stored bytes of a file that changed are stale for every process")
    func aChangeIsRecorded() async throws {
        try await Bench.run { bench in
            // Fresh, so that nothing else makes the next process ask.
            bench.publish("/film", length: 300_000) { $0.fields[.cacheControl] = "max-age=600" }
            let film = try bench.cache.resource(for: bench.origin.url("/film"))
            _ = try await film.read(.bounded(0..<100_000)).collect()
            let generation = try #require(bench.cache.engine.liveResource(film.key)?.liveGeneration)
            #expect(generation.record.responseTime > 0)
            generation.replace(reason: "")
            #expect(generation.record.responseTime == 0)
        }
    }

    @Test func aWeakTagWithAStrongDateLetsResponsesBeJoined() async throws {
        try await Bench.run(configure: { $0.generationPolicy = .strict }) { bench in
            Self.publish(bench, weak: true, date: "Wed, 01 Jan 2025 00:00:00 GMT")
            let film = try bench.cache.resource(for: bench.origin.url("/film"))
            for range in [0..<100_000, Int64(6 << 20)..<6 << 20 + 100_000, 0..<Self.length] {
                #expect(try await Self.check(film.read(.bounded(range)).collect(), from: range.lowerBound))
                await bench.cache.becomeIdle()
            }
            #expect(await Array(film.storedProgress().ranges) == [0..<Self.length])
            let sent = await bench.origin.settledSnapshot()
            #expect(sent["/film"].requests.allSatisfy { $0.fields[.ifRange] == nil })
            #expect(sent["/film"].distinctBytesSent.byteCount == Self.length)
            #expect(sent.bytesSentMoreThanOnce < 1 << 20)
        }
    }

    @Test func aShortSkipWaitsForTheRunningResponse() async throws {
        try await Bench.run(configure: { $0.generationPolicy = .strict }) { bench in
            Self.publish(bench, weak: true)
            let film = try bench.cache.resource(for: bench.origin.url("/film"))
            let first = try await film.read()
            let start = Int64(try #require(try await first.nextBytes()).count) + 40_000
            let skip = try await film.read(.bounded(start..<start + 10_000))
            #expect(try await Self.check(skip.collect(), from: start))
            first.cancel()
            #expect(await bench.origin.settledSnapshot().requestCount == 1)
        }
    }

    @Test func aFarSeekAfterTheReaderLeftReplacesWhatIsStored() async throws {
        try await Bench.run(configure: { $0.generationPolicy = .strict }) { bench in
            Self.publish(bench, weak: true)
            let film = try bench.cache.resource(for: bench.origin.url("/film"))
            let first = try await film.read()
            _ = try await first.nextBytes()
            first.cancel()
            let seek = try await film.read(.from(6 << 20))
            #expect(try await Self.check(seek.collect(), from: 6 << 20))
            #expect(await Array(film.storedProgress().ranges) == [6 << 20..<Self.length])
        }
    }

    @Test func aSeekThatFindsAnotherFileBreaksTheFirstReadOff() async throws {
        try await Bench.run(configure: { $0.generationPolicy = .strict }) { bench in
            Self.publish(bench, weak: true)
            let film = try bench.cache.resource(for: bench.origin.url("/film"))
            let first = try await film.read()
            _ = try await first.nextBytes()
            Self.publish(bench, weak: true, seed: 2)
            let seek = try await film.read(.bounded(6 << 20..<6 << 20 + 100_000))
            #expect(try await Self.check(seek.collect(), from: 6 << 20, seed: 2))
            await #expect { _ = try await first.collect() } throws: { ($0 as? RepriseError)?.code == .validatorChanged }
        }
    }

    @Test("a response that cannot be used is described in words")
    func wordsForUnusableResponses() async throws {
        let answers: [ScriptedOrigin.Answer] = [
            .init(206, [.contentType: "video/mp4"], body: [1, 2, 3]),
            .init(
                206, [.contentType: "video/mp4", .contentRange: "bytes 7-9/10", .contentLength: "3"], body: [1, 2, 3]),
            .init(206, [.contentType: "video/mp4", .contentRange: "bytes nonsense"], body: [1, 2, 3]),
        ]
        for answer in answers {
            for range in [nil, RangeSpec.from(0)] {
                let origin = ScriptedOrigin { _, _ in answer }
                try await origin.run { cache async throws in
                    let error = await #expect(throws: RepriseError.self) {
                        try await cache.resource(for: "http://media.example/a.mp4").read(range).collect()
                    }
                    #expect(error?.code == .originMisbehaved)
                    #expect(error?.message.contains("reject") == false && error?.message.contains("206") == true)
                }
            }
        }
    }

    @Test("a body that breaks off without validators is not called a change, and the next read gets the whole")
    func noValidatorToResumeWith() async throws {
        let bytes = TestPattern.bytes(in: 0..<200_000, seed: 1)
        let origin = ScriptedOrigin { request, number in
            var answer = ScriptedOrigin.Answer(
                200, [.contentType: "video/mp4", .contentLength: "200000"], body: bytes)
            if number < 2 { answer.breaksAfter = 100_000 }
            return answer
        }
        try await origin.run { cache async throws in
            let film = try cache.resource(for: "http://media.example/a.mp4")
            let error = await #expect(throws: RepriseError.self) { try await film.read().collect() }
            #expect(error?.code == .originBodyTruncated)
            #expect(error?.message.contains("changed") == false, "\(error as Any)")
            #expect(origin.requests.count == 1)
            #expect(try await film.read().collect() == bytes)
        }
    }

    @Test("416 to the range of a hole, from an origin that serves the whole: the whole is requested")
    func unsatisfiableHole() async throws {
        let bytes = TestPattern.bytes(in: 0..<200_000, seed: 1)
        let origin = ScriptedOrigin { request, number in
            if number > 1, request.fields[.range] != nil { return ScriptedOrigin.Answer(416) }
            return .media(request, bytes)
        }
        try await origin.run { cache async throws in
            let film = try cache.resource(for: "http://media.example/a.mp4")
            #expect(try await film.read(.bounded(0..<100_000)).collect().count == 100_000)
            await cache.becomeIdle()
            #expect(try await film.read().collect() == bytes)
        }
    }
}
