import HTTPSemantics
import HTTPTypes
import Testing

@testable import Reprise

/// The value alone: what may be done with a stored response at a given moment.
@Suite struct StoredResponseTests {
    private static let stored = Moment(date: 1_800_000_000, elapsed: .seconds(1000))

    private static func later(_ seconds: Int64) -> Moment {
        Moment(date: stored.date + seconds, elapsed: stored.elapsed + .seconds(seconds))
    }

    private static func record(
        _ fields: HTTPFields, url: String = "http://origin/film.mp4", length: Int64? = 1000
    ) throws -> GenerationRecord {
        let url = try ResourceURL(url)
        return GenerationRecord(
            id: 1, key: CacheKey(url.description), url: url, fields: fields, completeLength: length,
            rangesSupported: true, finalHost: url.authority, requestTime: stored.date, responseTime: stored.date,
            salt: [])
    }

    private static func response(
        _ fields: HTTPFields, url: String = "http://origin/film.mp4", isShared: Bool = false, isConfirmed: Bool = true,
        length: Int64? = 1000
    ) throws -> StoredResponse {
        var policy = ReusePolicy()
        policy.isShared = isShared
        return StoredResponse(
            try record(fields, url: url, length: length), policy: policy, isConfirmed: isConfirmed, at: stored.elapsed)
    }

    private static let minute: HTTPFields = [.cacheControl: "max-age=60", .eTag: "\"a\"", .contentType: "video/mp4"]

    private static func refusal(_ status: Int) -> RepriseError {
        RepriseError(
            .originRefused, "no",
            refusal: OriginRefusal(head: HTTPResponse(status: .init(code: status)), body: [], age: nil))
    }

    // MARK: - May it be used?

    @Test("a response is used for its lifetime (RFC 9111 §4.2)") func lifetime() throws {
        let response = try Self.response(Self.minute, isConfirmed: false)
        #expect(response.isUsable(at: Self.later(59)))
        #expect(!response.isUsable(at: Self.later(60)))
        #expect(response.reuse(for: CacheControl(), at: Self.later(59)) == .serve)
        #expect(response.reuse(for: CacheControl(), at: Self.later(60)) == .validate(.stale))
    }

    @Test func aSupersededResponseIsUsedInItsPlayOnly() throws {
        var response = try Self.response(Self.minute)
        response.supersede()
        #expect(response.record.isInvalidated)
        #expect(response.isUsable(at: Self.later(299)))
        #expect(response.isInPlay(at: Self.later(299).elapsed))
        #expect(!response.isUsable(at: Self.later(300)), "the play is over")
        #expect(response.reuse(for: CacheControl(), at: Self.later(1)) == .validate(.stale))
    }

    @Test func aPlayWithABeginningIsOneInWhichTheOriginWasAsked() throws {
        var response = try Self.response(Self.minute)
        let old = Play(began: Self.stored.elapsed)
        let new = Play(began: Self.later(1).elapsed)
        let none = CacheControl()
        #expect(response.reuse(for: none, at: Self.later(86_399), in: old) == .serve, "however long it pauses")
        #expect(response.reuse(for: none, at: Self.later(86_400), in: old) == .validate(.stale), "a day at most")
        #expect(response.reuse(for: none, at: Self.later(59), in: new) == .serve, "it is fresh")
        #expect(response.reuse(for: none, at: Self.later(60), in: new) == .validate(.stale))
        response.noteQuestion(at: Self.later(60).elapsed)
        #expect(response.reuse(for: none, at: Self.later(3600), in: new) == .serve)
        #expect(
            response.reuse(for: none, at: Self.later(3600), in: Play(began: Self.later(61).elapsed))
                == .validate(.stale))
        response.invalidate()
        #expect(response.reuse(for: none, at: Self.later(3600), in: new) == .validate(.stale))
        #expect(try !Self.response(Self.minute, isShared: true).isInPlay(at: Self.stored.elapsed, of: old))
    }

    @Test func aResponseThatWasFetchedAheadIsOfThePlayThatBeginsSoon() throws {
        var response = try Self.response(Self.minute)
        response.noteDemand(.preload)
        let (soon, late) = (Play(began: Self.later(299).elapsed), Play(began: Self.later(300).elapsed))
        #expect(response.reuse(for: CacheControl(), at: Self.later(900), in: soon) == .serve)
        #expect(response.reuse(for: CacheControl(), at: Self.later(900), in: late) == .validate(.stale))
        response.freshen(by: Self.minute, requestTime: Self.later(10).date, at: Self.later(10), for: .playing)
        #expect(response.reuse(for: CacheControl(), at: Self.later(900), in: soon) == .validate(.stale))
    }

    @Test func mediaInPlayAreUsedWhateverTheirAge() throws {
        var response = try Self.response(Self.minute)
        #expect(response.isUsable(at: Self.later(299)))
        #expect(response.reuse(for: CacheControl(), at: Self.later(299)) == .serve)
        #expect(!response.isUsable(at: Self.later(300)), "the play is over")
        response.noteUse(at: Self.later(299).elapsed)
        #expect(response.isUsable(at: Self.later(598)))
        #expect(try !Self.response(Self.minute, isConfirmed: false).isUsable(at: Self.later(299)), "from the index")
    }

    @Test func aPlayEndsAfterADay() throws {
        var response = try Self.response(Self.minute)
        response.noteUse(at: Self.later(86_399).elapsed)
        #expect(response.isInPlay(at: Self.later(86_399).elapsed))
        #expect(!response.isInPlay(at: Self.later(86_400).elapsed))
    }

    @Test func neitherPlaylistsNorSharedCachesKnowPlays() throws {
        let playlist = try Self.response(Self.minute, url: "http://origin/live.m3u8")
        #expect(!playlist.isInPlay(at: Self.stored.elapsed))
        #expect(try !Self.response(Self.minute, isShared: true).isInPlay(at: Self.stored.elapsed))
    }

    @Test("an invalidated response is validated first (RFC 9111 §4.4)") func invalidation() throws {
        var response = try Self.response(Self.minute)
        response.invalidate()
        #expect(!response.isUsable(at: Self.stored))
        #expect(response.reuse(for: CacheControl(), at: Self.stored) == .validate(.stale))
        #expect(!response.mayServeStale(instead: Self.refusal(503), at: Self.stored))
    }

    @Test(
        "a stale response is served instead of an error (RFC 9111 §4.2.4, RFC 5861 §4)",
        arguments: [(500, true), (502, true), (503, true), (504, true), (404, false), (403, false)])
    func staleIsServed(status: Int, isServed: Bool) throws {
        let response = try Self.response(Self.minute)
        #expect(response.mayServeStale(instead: Self.refusal(status), at: Self.later(3600)) == isServed)
        #expect(response.mayServeStale(instead: RepriseError(.originUnreachable, ""), at: Self.later(3600)))
        #expect(!response.mayServeStale(instead: RepriseError(.originMisbehaved, ""), at: Self.later(3600)))
    }

    @Test("must-revalidate forbids that (RFC 9111 §5.2.2.2)") func staleIsForbidden() throws {
        var fields = Self.minute
        fields[.cacheControl] = "max-age=60, must-revalidate"
        let response = try Self.response(fields)
        #expect(!response.mayServeStale(instead: Self.refusal(503), at: Self.later(3600)))
        #expect(!response.mayServeStale(instead: RepriseError(.originUnreachable, ""), at: Self.later(3600)))
    }

    // MARK: - What a playlist says

    private static func assigned(
        _ role: StreamRole, _ fields: HTTPFields, isShared: Bool = false, isConfirmed: Bool = false
    ) throws -> StoredResponse {
        var response = try response(fields, isShared: isShared, isConfirmed: isConfirmed)
        let (isNew, isNewAgain) = (response.assign(role), response.assign(role))
        #expect(isNew && !isNewAgain)
        return response
    }

    private static let segment = StreamRole(.segment, for: .permanent)
    private static let vod = StreamRole(.playlist, for: .permanent)
    private static let ended = StreamRole(.playlist, for: .media)
    private static let live = StreamRole(
        .playlist, for: .limited(fresh: .seconds(3), usable: .seconds(9)), isLive: true)

    @Test(
        "a live segment is in play unless its origin says for how long it may be used (RFC 9111 §5.2.2.4)",
        arguments: [(nil, true), ("no-cache", false), ("max-age=2", false), ("max-age=60", true)]
            as [(String?, Bool)])
    func liveSegments(control: String?, isUsed: Bool) throws {
        var fields: HTTPFields = [.eTag: "\"a\"", .contentType: "video/mp2t"]
        fields[.cacheControl] = control
        let response = try Self.assigned(.liveSegment, fields, isConfirmed: true)
        #expect(response.isUsable(at: Self.later(5)) == isUsed)
    }

    @Test("a segment that a list names by another number or in another run is another one (rfc8216bis §6.2.2)")
    func otherSegments() throws {
        func segment(_ sequence: Int64?, run: Int64? = nil) -> StreamRole {
            StreamRole(.segment, for: .media, isLive: true, sequence: sequence, run: run)
        }
        let time = Self.stored.date
        #expect(segment(7).isOfAnother(than: segment(11), since: time))
        #expect(!segment(7).isOfAnother(than: segment(7), since: time))
        #expect(!segment(nil).isOfAnother(than: segment(11), since: time), "nothing is known of its number")
        #expect(segment(7, run: 1).isOfAnother(than: segment(7, run: 2), since: time))
        #expect(segment(7).isOfAnother(than: segment(7, run: time), since: time), "stored before the run began")
        #expect(!segment(7).isOfAnother(than: segment(7, run: time - 1), since: time))
        #expect(StreamRole.endedSegment.isOfAnother(than: segment(7), since: time), "the stream goes on again")
        #expect(!segment(7, run: 1).isOfAnother(than: .endedSegment, since: time), "it has ended")
        var response = try Self.assigned(segment(7), [.eTag: "\"a\"", .cacheControl: "max-age=600"])
        let isNew = response.assign(segment(8))
        #expect(isNew)
        #expect(response.record.isInvalidated)
    }

    @Test("what is in doubt is asked about, and served while the origin is away (RFC 9111 §4.2.4)") func expired()
        throws
    {
        var response = try Self.response(Self.minute)
        response.expire()
        #expect(response.reuse(for: CacheControl(), at: Self.later(1)) == .validate(.stale))
        #expect(response.mayServeStale(instead: RepriseError(.originUnreachable, ""), at: Self.later(1)))
    }

    @Test("a body that only the connection ends is stale at once; a chunked one is a file") func unframed() throws {
        for mayBeLive in [true, false] {
            var record = try Self.record([.contentType: "video/mp2t"])
            record.mayBeLive = mayBeLive
            let response = StoredResponse(
                record, policy: ReusePolicy(), isConfirmed: true, at: Self.stored.elapsed)
            #expect(response.isUsable(at: Self.later(2)) == !mayBeLive)
            #expect(record.isLive == mayBeLive)
        }
    }

    @Test("a body without end belongs to what is live, and a reader begins at its first byte for three seconds")
    func endless() throws {
        let response = try Self.response([.contentType: "video/mp2t"], length: nil)
        #expect(response.record.isLive)
        #expect(!response.isLiveBody(at: Self.later(2).elapsed))
        #expect(response.isLiveBody(at: Self.later(3).elapsed))
        #expect(try !Self.response([.eTag: "\"a\""], length: nil).isLiveBody(at: Self.later(3).elapsed))
    }

    @Test(
        "a segment of a list that has ended is not asked about again, unless its origin wants that",
        arguments: [
            (nil, true, true), ("max-age=60", true, false), ("no-cache", false, false), ("max-age=0", false, false),
            ("max-age=60, must-revalidate", false, false),
        ] as [(String?, Bool, Bool)])
    func endedSegments(control: String?, inPrivate: Bool, inShared: Bool) throws {
        var fields: HTTPFields = [
            .eTag: "\"a\"", .contentType: "video/mp2t", .lastModified: "Wed, 21 Oct 2015 07:28:00 GMT",
        ]
        fields[.cacheControl] = control
        for (isShared, isUsed) in [(false, inPrivate), (true, inShared)] {
            let response = try Self.assigned(Self.segment, fields, isShared: isShared)
            #expect(response.isUsable(at: Self.later(86_400 * 365)) == isUsed)
            #expect((response.reuse(for: CacheControl(), at: Self.later(86_400 * 365)) == .serve) == isUsed)
        }
        var invalid = try Self.assigned(Self.segment, fields)
        invalid.invalidate()
        #expect(!invalid.isUsable(at: Self.later(1)))
    }

    @Test("a live playlist has its own lifetime, and none is guessed (RFC 9111 §4.2.2)") func livePlaylists() throws {
        let fields: HTTPFields = [
            .eTag: "\"a\"", .contentType: "application/octet-stream", .lastModified: "Wed, 21 Oct 2015 07:28:00 GMT",
        ]
        let response = try Self.assigned(Self.live, fields, isConfirmed: true)
        #expect(response.isUsable(at: Self.later(2)))
        #expect(!response.isUsable(at: Self.later(3)))
        for error in [Self.refusal(503), RepriseError(.originUnreachable, "")] {
            #expect(response.mayServeStale(instead: error, at: Self.later(9)))
            #expect(!response.mayServeStale(instead: error, at: Self.later(10)))
        }
    }

    @Test("a playlist without a role may be live: nothing is guessed") func unreadPlaylists() throws {
        let fields: HTTPFields = [.eTag: "\"a\"", .lastModified: "Wed, 21 Oct 2015 07:28:00 GMT"]
        let response = try Self.response(fields, url: "http://origin/live.m3u8")
        #expect(response.isUsable(at: Self.stored), "for those that asked at the same time")
        #expect(!response.isUsable(at: Self.later(1)))
    }

    @Test("a playlist that has ended is asked about again, unless it is that of a film, and served if the origin fails")
    func endedPlaylists() throws {
        let fields: HTTPFields = [
            .eTag: "\"a\"", .contentType: "application/vnd.apple.mpegurl",
            .lastModified: "Wed, 21 Oct 2015 07:28:00 GMT",
        ]
        let response = try Self.assigned(Self.ended, fields, isConfirmed: true)
        #expect(response.isUsable(at: Self.stored), "for those that asked at the same time")
        #expect(!response.isUsable(at: Self.later(1)))
        #expect(response.mayServeStale(instead: Self.refusal(503), at: Self.later(86_400 * 365)))
        #expect(try Self.assigned(Self.vod, fields).isUsable(at: Self.later(86_400 * 365)))
        var explicit = fields
        explicit[.cacheControl] = "max-age=60"
        #expect(try !Self.assigned(Self.ended, explicit, isConfirmed: true).isUsable(at: Self.later(60)))
        #expect(try !Self.assigned(Self.vod, explicit, isConfirmed: true).isUsable(at: Self.later(60)))
    }

    @Test("roles are recorded, and numbers that no version writes are not read")
    func recordedRoles() throws {
        let codec = RecordCodec(vault: nil)
        let roles = [
            Self.segment, Self.vod, Self.ended, Self.live, StreamRole(.segment, for: .media, isLive: true),
            StreamRole(.playlist, for: .limited(fresh: .milliseconds(500), usable: nil), sequence: .max),
        ]
        for role in roles {
            var record = try Self.record(Self.minute)
            record.role = role
            #expect(codec.decode(try codec.encode(record, name: "n"), id: 1, name: "n", salt: [])?.role == role)
        }
        for wrong in [
            StreamRole.Recorded(k: 9), StreamRole.Recorded(k: 1, t: 3), StreamRole.Recorded(k: 1, t: 2),
            StreamRole.Recorded(k: 1, t: 2, f: -1), StreamRole.Recorded(k: 1, t: 2, f: .infinity),
            StreamRole.Recorded(k: 1, t: 2, f: .nan), StreamRole.Recorded(k: 1, t: 2, f: 1, u: 1e300),
        ] { #expect(StreamRole(wrong) == nil) }
    }

    @Test("values that are no UTF-8 are recorded byte by byte") func recordedBytes() throws {
        let codec = RecordCodec(vault: nil)
        var record = try Self.record(Self.minute)
        let values: [[UInt8]] = [[0x61, 0xE9], Array("\u{E9}".utf8), []]
        for value in values { record.fields.append(HTTPField(name: .contentDisposition, value: value)) }
        let read = try #require(codec.decode(try codec.encode(record, name: "n"), id: 1, name: "n", salt: []))
        #expect(read.fields == record.fields)
        let bytes = read.fields.suffix(3).map { $0.withUnsafeBytesOfValue { Array($0) } }
        #expect(bytes == values)
    }

    // MARK: - What may fill its holes

    @Test("only a strong validator joins responses (RFC 9110 §15.3.7.3), or the chosen policy") func joining() throws {
        let strong = try Self.response(Self.minute)
        let dated = try Self.response([.lastModified: "Wed, 21 Oct 2015 07:28:00 GMT"])
        let plain = try Self.response([:])
        #expect(strong.isJoinable(.strict))
        #expect(!plain.isJoinable(.strict) && !plain.isJoinable(.lengthAndDate) && plain.isJoinable(.immutable))
        #expect(!dated.isJoinable(.strict) && dated.isJoinable(.lengthAndDate))
        let endless = try Self.response([.lastModified: "Wed, 21 Oct 2015 07:28:00 GMT"], length: nil)
        #expect(!endless.isJoinable(.lengthAndDate), "without a length there is nothing to compare")
    }

    // MARK: - What changes it

    @Test("a confirmation updates the fields (RFC 9111 §3.2)") func freshening() throws {
        var response = try Self.response(Self.minute, isConfirmed: false)
        response.freshen(by: [.cacheControl: "max-age=120"], requestTime: Self.stored.date + 90, at: Self.later(100))
        #expect(response.record.fields[.cacheControl] == "max-age=120")
        #expect(response.record.fields[.eTag] == "\"a\"")
        #expect(response.record.responseTime == Self.stored.date + 100)
        #expect(response.isInPlay(at: Self.later(399).elapsed), "it was confirmed in this process")
        #expect(!response.isUsable(at: Self.later(400)))
    }

    @Test("in a shared cache, what must not be stored changes nothing (RFC 9111 §3)") func sharedChanges() throws {
        let storage = StoragePolicy(honorsNoStore: true, isShared: true)
        let shared = try Self.response(Self.minute, isShared: true)
        #expect(!shared.mayBeChanged(by: [.cacheControl: "private"], storage: storage))
        #expect(shared.mayBeChanged(by: [.cacheControl: "max-age=10"], storage: storage))
        #expect(try Self.response(Self.minute).mayBeChanged(by: [.cacheControl: "private"], storage: storage))
    }

    @Test func theMetadataFollowWhatIsLearned() throws {
        var response = try Self.response(Self.minute, length: nil)
        let before = response.information(completeLength: nil, rangesSupported: true)
        #expect(before.completeLength == nil)
        let after = response.information(completeLength: 7, rangesSupported: false)
        #expect(after.completeLength == 7 && after.rangesSupported == false)
        response.freshen(by: [.contentType: "video/webm"], requestTime: Self.stored.date, at: Self.stored)
        #expect(response.information(completeLength: 7, rangesSupported: false).mediaType == "video/webm")
        #expect(response.record(completeLength: 7, rangesSupported: false).completeLength == 7)
    }
}
