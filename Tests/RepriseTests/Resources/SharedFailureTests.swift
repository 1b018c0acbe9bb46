import Foundation
import HTTPSemantics
import HTTPTypes
import Primitives
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// Errors belong to the client that caused them: the origin's answer to one client's request is not another client's
/// answer.
@Suite(.limit(minutes: 1)) struct SharedFailureTests {
    private static let film = "http://origin/film.mp4"
    private static let bytes = TestPattern.bytes(in: 0..<300_000, seed: 1)
    private static let good: HTTPFields = [.authorization: "Bearer good"]
    private static let bad: HTTPFields = [.authorization: "Bearer bad"]

    private static func isGood(_ request: OriginRequest) -> Bool { request.fields[.authorization] == "Bearer good" }

    private static func refused(_ status: Int = 401) -> ScriptedOrigin.Answer {
        ScriptedOrigin.Answer(
            status, [.setCookie: "session=of-the-first-user", .cacheControl: "private, no-store"],
            body: Array("no".utf8))
    }

    private static func request(_ fields: HTTPFields, _ url: String = film) throws -> OriginRequest {
        OriginRequest(url: try ResourceURL(url), fields: fields)
    }

    private static func refusal(_ status: Int, _ fields: HTTPFields = [:]) -> RepriseError {
        RepriseError(
            .originRefused, "no",
            refusal: OriginRefusal(
                head: HTTPResponse(status: .init(code: status), headerFields: fields), body: [], age: nil))
    }

    /// The result for followers of an opening that failed with `error`.
    private static func isShared(
        _ error: RepriseError, from leader: OriginRequest, with follower: OriginRequest, isShared: Bool = false
    ) async throws -> Bool {
        let opening = Lookup(asking: leader, isShared: isShared)
        let early = Task { try await opening.wait(follower) }
        opening.finish(.failure(error))
        var shares: [Bool] = []
        for result in [await early.result, await Task { try await opening.wait(follower) }.result] {
            switch result {
            case .success(.failed): shares.append(false)
            case .success: Issue.record("the opening came to nothing else")
            case .failure: shares.append(true)
            }
        }
        #expect(shares[0] == shares[1])
        return shares[0]
    }

    // MARK: - Waiting for the head

    @Test(
        "a refusal does not apply to a request with other fields or another URL",
        arguments: [401, 403, 404, 407, 410, 429, 500, 503])
    func refusalsOfOthers(status: Int) async throws {
        let error = Self.refusal(status)
        let one = try Self.request(Self.bad)
        #expect(try await Self.isShared(error, from: one, with: one))
        #expect(try await !Self.isShared(error, from: one, with: Self.request(Self.good)))
        #expect(try await !Self.isShared(error, from: one, with: Self.request([:])))
        #expect(try await !Self.isShared(error, from: one, with: Self.request(Self.bad, Self.film + "?signature=2")))
        var part = one
        part.fields[.range] = "bytes=5-"
        #expect(try await Self.isShared(error, from: one, with: part))
    }

    @Test("a shared cache gives a refusal to another client only if it may store it (RFC 9111 §3, §3.5)")
    func refusalsInASharedCache() async throws {
        let one = try Self.request([:])
        func isShared(_ fields: HTTPFields, _ request: OriginRequest) async throws -> Bool {
            try await Self.isShared(Self.refusal(403, fields), from: request, with: request, isShared: true)
        }
        #expect(try await isShared([:], one))
        #expect(try await !isShared([.cacheControl: "no-store"], one))
        #expect(try await !isShared([.cacheControl: "private"], one))
        #expect(try await !isShared([.setCookie: "a=b"], one))
        #expect(try await !isShared([:], Self.request(Self.good)))
        #expect(try await isShared([.cacheControl: "public"], Self.request(Self.good)))
    }

    @Test("a range beyond the end is one reader's own, and no reason to bypass the store")
    func rangesBeyondTheEnd() async throws {
        let opening = Lookup(asking: try Self.request([:]), isShared: false)
        opening.finish(.failure(RepriseError(.rangeNotSatisfiable, "beyond")))
        guard case .changed = try await opening.wait(Self.request([:])) else {
            Issue.record("it counts as a failure of the origin")
            return
        }
    }

    @Test func anUnreachableHostIsThatOfEverybodyWhoWantsIt() async throws {
        let error = RepriseError(.originUnreachable, "refused")
        let one = try Self.request(Self.bad)
        #expect(try await Self.isShared(error, from: one, with: Self.request(Self.good)))
        #expect(try await !Self.isShared(error, from: one, with: Self.request(Self.bad, "http://mirror/film.mp4")))
        var restricted = one
        restricted.networkPolicy = .inexpensive
        let noNetwork = RepriseError(.networkUnavailable, "")
        #expect(try await !Self.isShared(noNetwork, from: restricted, with: one))
    }

    @Test(arguments: [false, true]) func readersWithOtherCredentialsAskForThemselves(isShared: Bool) async throws {
        let mayAnswer = Happening()
        let origin = ScriptedOrigin { request, number in
            if number == 1 { await mayAnswer.wait() }
            return Self.isGood(request)
                ? .media(request, Self.bytes, [.cacheControl: "public, max-age=60"]) : Self.refused()
        }
        try await origin.run(configure: { $0.reuse.isShared = isShared }) { cache async throws in
            let first = Task { try await cache.resource(for: Self.film, fields: Self.bad).read().collect() }
            await origin.wasAsked(1)
            try await withThrowingTaskGroup(of: [UInt8].self) { group in
                for _ in 0..<10 {
                    group.addTask { try await cache.resource(for: Self.film, fields: Self.good).read().collect() }
                }
                for _ in 0..<2000 { await Task.yield() }
                mayAnswer.happen()
                for try await bytes in group { #expect(bytes == Self.bytes) }
            }
            await #expect {
                _ = try await first.value
            } throws: {
                ($0 as? RepriseError)?.refusal?.head.status == .unauthorized
            }
            #expect(origin.requests.filter(Self.isGood).count == 1, "equal requests are one")
        }
    }

    @Test func hundredDifferentClientsDoNotWaitForEachOther() async throws {
        let (first, others) = (Happening(), Happening())
        let origin = ScriptedOrigin { _, number in
            if number == 1 { await first.wait() } else { await others.wait() }
            return Self.refused()
        }
        try await origin.run { cache async throws in
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<100 {
                    group.addTask {
                        let fields: HTTPFields = [.cookie: "client=\(number)"]
                        await #expect(throws: RepriseError.self) {
                            try await cache.resource(for: Self.film, fields: fields).read()
                        }
                    }
                }
                await origin.wasAsked(1)
                for _ in 0..<2000 { await Task.yield() }
                first.happen()
                // The second one leads, and fails as well; after that no reader waits for another.
                await origin.wasAsked(2)
                others.happen()
            }
            #expect(origin.requests.count == 100)
        }
    }

    // MARK: - Kept answers

    @Test("a kept answer applies to requests with the same fields", arguments: [404, 410, 500])
    func keptAnswers(status: Int) async throws {
        let clock = ShiftableClock()
        let origin = ScriptedOrigin { request, _ in
            Self.isGood(request) ? .media(request, Self.bytes) : ScriptedOrigin.Answer(status)
        }
        try await origin.run(configure: {
            $0.clock = clock.cacheClock
            $0.retry.refusals = 0
        }) { cache async throws in
            for _ in 0..<3 {
                await #expect(throws: RepriseError.self) {
                    try await cache.resource(for: Self.film, fields: Self.bad).read()
                }
            }
            #expect(origin.requests.count == 1)
            #expect(try await cache.resource(for: Self.film, fields: Self.good).read().collect() == Self.bytes)
        }
    }

    @Test("a kept 403 applies to the same request only, whatever its lifetime", arguments: [false, true])
    func keptRefusals(isShared: Bool) async throws {
        let key = try #require(HTTPField.Name("Api-Key"))
        let origin = ScriptedOrigin { request, _ in
            request.fields[key] == "new"
                ? .media(request, Self.bytes) : ScriptedOrigin.Answer(403, [.cacheControl: "max-age=60"])
        }
        try await origin.run(configure: { $0.reuse.isShared = isShared }) { cache async throws in
            for _ in 0..<2 {
                await #expect(throws: RepriseError.self) {
                    try await cache.resource(for: Self.film, fields: [key: "old"]).read()
                }
            }
            #expect(origin.requests.count == 1)
            #expect(try await cache.resource(for: Self.film, fields: [key: "new"]).read().collect() == Self.bytes)
        }
    }

    @Test("a shared cache keeps no answer that sets a cookie") func keptCookies() async throws {
        let origin = ScriptedOrigin { _, _ in
            ScriptedOrigin.Answer(404, [.cacheControl: "max-age=60", .setCookie: "session=1"])
        }
        try await origin.run(configure: { $0.reuse.isShared = true }) { cache async throws in
            for _ in 0..<2 {
                await #expect(throws: RepriseError.self) { try await cache.resource(for: Self.film).read() }
            }
            #expect(origin.requests.count == 2)
        }
    }

    // MARK: - Holes

    /// A file whose first bytes are stored.
    private static func runWithHole(
        _ origin: ScriptedOrigin, configure: (inout MediaCache.Configuration) -> Void = { _ in },
        _ body: (MediaCache) async throws -> Void
    ) async throws {
        try await origin.run(configure: {
            $0.keyPolicy = .droppingQuery
            configure(&$0)
        }) { cache async throws in
            _ = try await cache.resource(for: film, fields: good).read(.bounded(0..<1000)).drain()
            await cache.becomeIdle()
            try await body(cache)
        }
    }

    @Test("a reader of a hole whose owner is refused sends its own request", arguments: [401, 403, 404, 407, 410])
    func refusedOwner(status: Int) async throws {
        let mayAnswer = Happening()
        let origin = ScriptedOrigin { request, number in
            if number == 2 { await mayAnswer.wait() }
            return Self.isGood(request) ? .media(request, Self.bytes) : Self.refused(status)
        }
        try await Self.runWithHole(origin) { cache async throws in
            let owner = try await cache.resource(for: Self.film + "?signature=1", fields: Self.bad).read(.from(5000))
            let refused = Task { try await owner.collect() }
            await origin.wasAsked(2)
            let other = try await cache.resource(for: Self.film + "?signature=2", fields: Self.good).read(.from(5000))
            async let bytes = other.collect()
            await eventually { cache.waitingReaders(of: Self.film) == 2 }
            mayAnswer.happen()
            #expect(try await bytes == Array(Self.bytes[5000...]))
            await #expect {
                _ = try await refused.value
            } throws: {
                ($0 as? RepriseError)?.refusal?.head.status.code == status
            }
            // After a 403 the owner tries another form of its range.
            #expect(origin.requests.count == (status == 403 ? 4 : 3))
        }
    }

    @Test("a hole's refusal is kept for the same request only") func keptRefusalOfAHole() async throws {
        let clock = ShiftableClock()
        let origin = ScriptedOrigin { request, _ in
            Self.isGood(request) ? .media(request, Self.bytes) : Self.refused(404)
        }
        try await Self.runWithHole(origin, configure: { $0.clock = clock.cacheClock }) { cache async throws in
            for _ in 0..<3 {
                await #expect(throws: RepriseError.self) {
                    try await cache.resource(for: Self.film, fields: Self.bad).read(.from(5000)).collect()
                }
            }
            #expect(origin.requests.count == 2)
            let bytes = try await cache.resource(for: Self.film, fields: Self.good).read(.from(5000)).collect()
            #expect(bytes == Array(Self.bytes[5000...]))
        }
    }

    @Test func aFetchGoesOnAsTheNewestReaderAsksOnceItsOwnerHasLeft() async throws {
        let mayGoOn = Happening()
        let origin = ScriptedOrigin { request, number in
            var answer = ScriptedOrigin.Answer.media(request, Self.bytes)
            if number == 2 { answer.breaksAfter = 0 }
            return answer
        }
        try await Self.runWithHole(
            origin,
            configure: {
                $0.clock = CacheClock(HeldClock(mayGoOn: mayGoOn)) { Date(timeIntervalSince1970: 1_700_000_000) }
            }
        ) { cache async throws in
            let log = EventLog(cache)
            let owner = try await cache.resource(for: Self.film, fields: Self.bad).read(.from(5000))
            let none = Task { try await owner.next() }
            _ = await log.first { if case .fetchRetried = $0 { true } else { false } }
            let other = try await cache.resource(for: Self.film, fields: Self.good).read(.from(5000))
            async let bytes = other.collect()
            await eventually { cache.waitingReaders(of: Self.film) == 2 }
            owner.cancel()
            mayGoOn.happen()
            #expect(try await bytes == Array(Self.bytes[5000...]))
            await #expect(throws: CancellationError.self) { try await none.value?.count }
            #expect(origin.requests.map(Self.isGood) == [true, false, true])
        }
    }
}

extension MediaCache {
    /// Number of readers of a resource that wait for a fetch.
    func waitingReaders(of url: String) -> Int {
        let generation = engine.liveResource(CacheKey(url))?.liveGeneration
        return generation?.ask { $0.schedule.readers.values.count { $0.waitingOn != nil } } ?? 0
    }
}

/// A clock on which every sleeper waits until an event has happened.
private struct HeldClock: Clock {
    let mayGoOn: Happening
    private let base = ContinuousClock()

    init(mayGoOn: Happening) { self.mayGoOn = mayGoOn }

    var now: ContinuousClock.Instant { base.now }
    var minimumResolution: Duration { base.minimumResolution }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        await mayGoOn.wait()
        try await base.sleep(until: deadline, tolerance: tolerance)
    }
}
