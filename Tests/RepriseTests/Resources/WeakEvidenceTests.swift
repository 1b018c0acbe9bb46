import Foundation
import HTTPSemantics
import HTTPTypes
import Primitives
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// What one answer to a range seems to say of an origin is not taken for a fact: the origin is asked again.
@Suite(.limit(minutes: 2)) struct WeakEvidenceTests {
    private static let film = TestPattern.bytes(in: 0..<2_000_000, seed: 1)

    /// The request, as far as answers depend on it.
    private struct Asked {
        let range: RangeSpec?
        let hasIfRange: Bool

        init(_ request: OriginRequest) {
            range = request.fields[.range].flatMap { RangeField($0) }?.single
            hasIfRange = request.fields[.ifRange] != nil
        }

        var isBounded: Bool { if case .bounded? = range { true } else { false } }
    }

    private enum Answered {
        case whole
        /// The requested part, or the whole to a request without Range.
        case part
        /// As ``part``, which the closure makes wrong.
        case odd(@Sendable (inout ScriptedOrigin.Answer) -> Void)

        var isWhole: Bool { if case .whole = self { true } else { false } }
    }

    /// An origin of the film that answers with `fields`, and as `answer` says.
    private static func origin(
        _ fields: HTTPFields = [.eTag: "\"v1\""], _ answer: @escaping @Sendable (Asked) -> Answered = { _ in .part }
    ) -> ScriptedOrigin {
        ScriptedOrigin { request, _ in
            let asked = Asked(request)
            let answered = answer(asked)
            var (status, fields, body) = (200, fields, film)
            fields[.contentType] = "video/mp4"
            if let range = asked.range?.resolve(completeLength: Int64(film.count)), !answered.isWhole {
                (status, body) = (206, Array(film[Int(range.lowerBound)..<Int(range.upperBound)]))
                fields[.contentRange] = "\(ContentRange.satisfied(range, completeLength: Int64(film.count)))"
            }
            fields[.contentLength] = "\(body.count)"
            var made = ScriptedOrigin.Answer(status, fields, body: body)
            if asked.range != nil, case .odd(let change) = answered { change(&made) }
            return made
        }
    }

    private func ranges(_ origin: ScriptedOrigin) -> [String?] { origin.requests.map { $0.fields[.range] } }

    private func bytes(_ cache: MediaCache, _ range: RangeSpec?, _ name: String = "film") async throws -> [UInt8] {
        try await cache.resource(for: "http://origin/\(name).mp4").read(range).collect()
    }

    /// Reads the first piece of `range`, and leaves.
    private func look(_ cache: MediaCache, at range: RangeSpec) async throws {
        let read = try await cache.resource(for: "http://origin/film.mp4").read(range)
        _ = try await read.next()
        read.cancel()
    }

    @Test("a file that has changed is fetched again, although the origin only says that a condition failed (412)")
    func preconditionFailed() async throws {
        let (clock, hasChanged) = (ShiftableClock(), Mutex(false))
        let new = TestPattern.bytes(in: 0..<2_000_000, seed: 2)
        let origin = ScriptedOrigin { request, _ in
            guard hasChanged.withLock({ $0 }) else { return .media(request, Self.film) }
            return request.fields[.ifRange] == nil ? .media(request, new, [.eTag: "\"v2\""]) : .init(412)
        }
        try await origin.run(configure: { $0.clock = clock.cacheClock }) { cache async throws in
            _ = try await bytes(cache, .bounded(1_500_000..<1_600_000))
            hasChanged.withLock { $0 = true }
            // Another play.
            clock.shift(by: .seconds(100_000))
            let error = await #expect(throws: RepriseError.self) { try await bytes(cache, nil) }
            #expect(error?.code == .validatorChanged)
            #expect(try await bytes(cache, nil) == new)
        }
    }

    // MARK: - Whether there are ranges

    @Test("a 200 to bytes=0- does not say that ranges are ignored: a seek requests one (RFC 9110 §14.2)")
    func wholeForAll() async throws {
        let origin = Self.origin { $0.range == .from(0) ? .whole : .part }
        try await origin.run { cache async throws in
            try await look(cache, at: .from(0))
            #expect(
                try await bytes(cache, .bounded(1_500_000..<1_600_000)) == Array(Self.film[1_500_000..<1_600_000]))
            #expect(ranges(origin) == ["bytes=0-", "bytes=1500000-1599999"])
        }
    }

    @Test("where the whole comes in place of a part, all of it is stored for all readers")
    func wholeIsKept() async throws {
        let origin = Self.origin { _ in .whole }
        try await origin.run { cache async throws in
            #expect(try await bytes(cache, .bounded(1_500_000..<1_500_010)) == Array(Self.film[1_500_000..<1_500_010]))
            #expect(try await bytes(cache, .bounded(0..<1_000_000)) == Array(Self.film[0..<1_000_000]))
            #expect(origin.requests.count == 1, "what came before the range is not fetched again")
        }
    }

    @Test("an origin that sent the whole once is asked for a range again a minute later: it may have the file by then")
    func refusalIsForgotten() async throws {
        let clock = ShiftableClock()
        let origin = Self.origin { asked in asked.range == .bounded(1_000_000..<1_000_010) ? .whole : .part }
        try await origin.run(configure: {
            $0.clock = clock.cacheClock
            $0.linger = .zero
        }) { cache async throws in
            _ = try await bytes(cache, .bounded(0..<10))
            try await look(cache, at: .bounded(1_000_000..<1_000_010))
            await cache.becomeIdle()
            clock.shift(by: .seconds(61))
            _ = try await bytes(cache, .bounded(1_990_000..<1_990_010))
            #expect(ranges(origin).last == "bytes=1990000-1990009")
        }
    }

    @Test("a 206 to a validation proves that there are ranges")
    func validationProves() async throws {
        let clock = ShiftableClock()
        let origin = Self.origin([.eTag: "\"v1\"", .cacheControl: "max-age=1"]) { asked in
            asked.range == .bounded(100..<200) ? .whole : .part
        }
        try await origin.run(configure: { $0.clock = clock.cacheClock }) { cache async throws in
            try await look(cache, at: .bounded(100..<200))
            let resource = try cache.resource(for: "http://origin/film.mp4")
            #expect(resource.storedInMemory()?.information.rangesSupported == false)
            _ = try await resource.readValidated(.bounded(0..<10)).collect()
            #expect(resource.storedInMemory()?.information.rangesSupported == true)
        }
    }

    // MARK: - If-Range

    @Test("an origin that sends the whole under an If-Range that holds is asked without it, from then on (§13.1.5)")
    func ifRangeIsNotUnderstood() async throws {
        let origin = Self.origin { $0.hasIfRange ? .whole : .part }
        try await origin.run { cache async throws in
            let log = EventLog(cache)
            _ = try await bytes(cache, .bounded(0..<10))
            for start: Int64 in [1_000_000, 500_000] {
                let part = Int(start)..<Int(start) + 10
                #expect(try await bytes(cache, .bounded(start..<start + 10)) == Array(Self.film[part]))
            }
            #expect(
                origin.requests.map { $0.fields[.ifRange] } == [nil, "\"v1\"", nil, nil], "the host is remembered")
            #expect(ranges(origin)[1...2] == ["bytes=1000000-1000009", "bytes=1000000-1000009"])
            await cache.close()
            let hosts = await log.all().compactMap { if case .hostRemarked(_, let host, _) = $0 { host } else { nil } }
            #expect(hosts == ["origin"])
        }
    }

    @Test("another representation is not joined where If-Range is not understood either")
    func otherTag() async throws {
        let tag = Mutex("\"v1\"")
        let origin = Self.origin { asked in
            asked.hasIfRange ? .whole : .odd { $0.fields[.eTag] = tag.withLock { $0 } }
        }
        try await origin.run { cache async throws in
            _ = try await bytes(cache, .bounded(0..<10))
            _ = try await bytes(cache, .bounded(1_000_000..<1_000_010))
            tag.withLock { $0 = "\"v2\"" }
            await #expect {
                _ = try await bytes(cache, .bounded(0..<100))
            } throws: {
                ($0 as? RepriseError)?.code == .validatorChanged
            }
        }
    }

    // MARK: - Forms of a range

    /// How an origin fails at `bytes=a-b`.
    private static let failures: [@Sendable (inout ScriptedOrigin.Answer) -> Void] = [
        // A byte short.
        { answer in
            answer.body.removeLast()
            answer.fields[.contentLength] = "\(answer.body.count)"
        },
        // The last position is the length.
        { answer in
            guard let value = answer.fields[.contentRange],
                case .satisfied(let range, let length?) = ContentRange(value)
            else { return }
            answer.fields[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound)/\(length)"
        },
        // No position, and none that can be read.
        { $0.fields[.contentRange] = nil },
        { $0.fields[.contentRange] = $0.fields[.contentRange]?.replacing("bytes ", with: "") },
        // Errors about the request.
        { $0 = ScriptedOrigin.Answer(400, [.contentLength: "0"]) },
        { $0 = ScriptedOrigin.Answer(416, [.contentLength: "0"]) },
        { $0 = ScriptedOrigin.Answer(501, [.contentLength: "0"]) },
        // The status of a whole, and a position that does not fit.
        { answer in
            answer.status = 200
            answer.body.removeLast()
            answer.fields[.contentLength] = "\(answer.body.count)"
        },
    ]

    /// Expects that a hole is requested without its end after its first form has failed.
    private func expectOpenEnds(_ origin: ScriptedOrigin) async throws {
        try await origin.run { cache async throws in
            for name in ["one", "two"] {
                _ = try await bytes(cache, .from(1_000_000), name)
                #expect(try await bytes(cache, .from(0), name) == Self.film)
            }
            #expect(
                ranges(origin) == ["bytes=1000000-", "bytes=0-999999", "bytes=0-", "bytes=1000000-", "bytes=0-"],
                "the host is remembered")
        }
    }

    @Test(
        "a hole is requested without its end where the origin fails at ends, and so is the next one",
        arguments: failures.indices)
    func endsFail(index: Int) async throws {
        let origin = Self.origin { $0.isBounded ? .odd(Self.failures[index]) : .part }
        try await expectOpenEnds(origin)
    }

    @Test(
        "a 403 or 500 to If-Range or to a form that no player chose is asked once in another form",
        arguments: [403, 500], [true, false])
    func refusedForm(status: Int, isForIfRange: Bool) async throws {
        let origin = Self.origin { asked in
            (isForIfRange ? asked.hasIfRange : asked.isBounded) ? .odd { $0 = ScriptedOrigin.Answer(status) } : .part
        }
        try await expectOpenEnds(origin)
    }

    @Test("a 403 to every form costs two requests")
    func refusedAlways() async throws {
        let isRefusing = Mutex(false)
        let origin = Self.origin { _ in
            isRefusing.withLock { $0 } ? .odd { $0 = ScriptedOrigin.Answer(403, [.contentLength: "0"]) } : .part
        }
        try await origin.run { cache async throws in
            _ = try await bytes(cache, .from(1_000_000))
            isRefusing.withLock { $0 = true }
            await #expect(throws: RepriseError.self) { _ = try await bytes(cache, .from(0)) }
            #expect(ranges(origin) == ["bytes=1000000-", "bytes=0-999999", "bytes=0-"])
        }
    }

    @Test("where no range comes right, the whole is requested, and stored", arguments: failures.indices)
    func allRangesFail(index: Int) async throws {
        let origin = Self.origin { asked in
            asked.range == .from(1_000_000) ? .part : .odd(Self.failures[index])
        }
        try await origin.run { cache async throws in
            _ = try await bytes(cache, .from(1_000_000))
            #expect(try await bytes(cache, nil) == Self.film)
            #expect(ranges(origin).last == .some(nil))
        }
    }

    @Test("an origin whose bodies end a byte early is asked in another form, not for the last byte for ever")
    func breaksOff() async throws {
        let origin = Self.origin { asked in
            asked.isBounded ? .odd { $0.breaksAfter = $0.body.count - 1 } : .part
        }
        try await origin.run { cache async throws in
            _ = try await bytes(cache, .from(1_000_000))
            #expect(try await bytes(cache, nil) == Self.film)
            #expect(ranges(origin) == ["bytes=1000000-", "bytes=0-999999", "bytes=999999-999999", "bytes=999999-"])
        }
    }

    @Test("a player's own bounds are kept, up to its last range")
    func ownBounds() async throws {
        let origin = Self.origin()
        try await origin.run { cache async throws in
            for start: Int64 in [0, 700_000, 1_400_000] {
                let end = min(start + 700_000, 2_000_000)
                #expect(try await bytes(cache, .bounded(start..<end)) == Array(Self.film[Int(start)..<Int(end)]))
            }
            #expect(ranges(origin) == ["bytes=0-699999", "bytes=700000-1399999", "bytes=1400000-1999999"])
        }
    }

    // MARK: - A part under 200

    @Test("a part under status 200 is stored at its place, never as the whole (RFC 9110 §14.4)")
    func partWithoutItsStatus() async throws {
        let origin = Self.origin([:]) { _ in .odd { $0.status = 200 } }
        try await origin.run { cache async throws in
            #expect(try await bytes(cache, .bounded(500_000..<600_000)) == Array(Self.film[500_000..<600_000]))
            #expect(try await bytes(cache, nil) == Self.film)
        }
    }

    @Test("a 200 that contradicts itself is passed on and not stored")
    func contradiction() async throws {
        let origin = Self.origin { _ in
            .odd { answer in
                answer.status = 200
                answer.fields[.contentLength] = nil
            }
        }
        try await origin.run { cache async throws in
            let read = try await cache.resource(for: "http://origin/film.mp4").read(.bounded(500_000..<600_000))
            #expect(read.passedThrough?.status == .ok)
            #expect(try await read.collect() == Array(Self.film[500_000..<600_000]))
            #expect(try await cache.entries().isEmpty)
            #expect(try await bytes(cache, nil) == Self.film)
        }
    }

    // MARK: - Date

    @Test("without Date an old Last-Modified is strong all the same, and parts are joined (RFC 9110 §6.6.1, §8.8.2.2)")
    func noDate() async throws {
        let origin = Self.origin([.lastModified: "Mon, 03 Nov 2025 10:00:00 GMT", .date: "no date"])
        try await origin.run { cache async throws in
            for start: Int64 in [0, 500_000, 0, 500_000] {
                #expect(
                    try await bytes(cache, .bounded(start..<start + 10))
                        == Array(Self.film[Int(start)..<Int(start) + 10]))
            }
            #expect(origin.requests.count == 2)
        }
    }

    // MARK: - What cannot be joined

    @Test("a body without validator that breaks off is not resumed: no other response could go on with it")
    func transcode() async throws {
        let origin = ScriptedOrigin { _, _ in
            ScriptedOrigin.Answer(
                200, [.contentType: "audio/mpeg", .acceptRanges: "none", .contentLength: "252000"],
                body: Array(Self.film.prefix(252_000)), breaksAfter: 240_000)
        }
        try await origin.run { cache async throws in
            let read = try await cache.resource(for: "http://origin/stream").read(.from(0))
            #expect(!read.information.servesRanges)
            await #expect {
                _ = try await read.collect()
            } throws: {
                ($0 as? RepriseError)?.code == .originBodyTruncated
            }
            #expect(origin.requests.count == 1)
        }
    }

    @Test("the first seconds of a file without validators come in one response, and nothing is said to have changed")
    func firstSeconds() async throws {
        // Frames of an MP3 of 128 kbit/s, 44.1 kHz: 104 s.
        let sound = [[UInt8]](repeating: [0xFF, 0xFB, 0x90, 0x64] + [UInt8](repeating: 0, count: 413), count: 4_000)
            .flatMap { $0 }
        let origin = ScriptedOrigin { request, _ in
            var answer = ScriptedOrigin.Answer.media(request, sound, [.contentType: "audio/mpeg"])
            answer.fields[.eTag] = nil
            return answer
        }
        try await origin.run { cache async throws in
            let resource = try cache.resource(for: "http://origin/a.mp3")
            try await resource.preload(.seconds(10))
            #expect(ranges(origin) == ["bytes=0-65535", nil])
            let stored = try #require(resource.storedInMemory()?.ranges.storedPrefix(from: 0))
            #expect(stored.upperBound >= 160_000, "ten seconds of 128 kbit/s")
        }
    }

    @Test("a file without validators is downloaded in one response")
    func wholeDownload() async throws {
        let origin = Self.origin([:])
        try await origin.run { cache async throws in
            let resource = try cache.resource(for: "http://origin/film.mp4")
            try await resource.preload(.all)
            #expect(await resource.isCached)
            #expect(origin.requests.count == 1)
        }
    }
}
