import HTTPTypes
import Testing

@testable import Reprise

/// Where further requests of a play go, and when the first URL is asked again.
@Suite struct KeptTargetTests {
    private final class Nothing: OriginBody {
        func next() async throws -> (any ByteChunk)? { nil }
        func cancel() {}
    }

    private static let episode = "https://first.example/a.mp3"
    private static let rendition = "https://cdn.example/a-1.mp3"

    private static func request(_ url: String = episode, _ fields: HTTPFields = [:]) throws -> OriginRequest {
        OriginRequest(url: try ResourceURL(url), fields: fields)
    }

    private static func response(
        from url: String = rendition, to asked: OriginRequest, hasLeftHost: Bool? = true
    ) throws -> OriginResponse {
        var response = OriginResponse(
            head: HTTPResponse(status: .ok), url: try ResourceURL(url), body: Nothing())
        response.asked = asked
        response.hasLeftHost = hasLeftHost
        return response
    }

    private static func kept(_ url: String = rendition) throws -> KeptTarget {
        var kept = KeptTarget()
        kept.found(try response(from: url, to: try request()))
        return kept
    }

    @Test func furtherRequestsGoWhereTheFirstOneLed() throws {
        let target = try #require(try Self.kept().usable(at: 0))
        let sent = try #require(target.request(for: try Self.request(Self.episode, [.range: "bytes=5-"])))
        #expect(sent.url.description == Self.rendition)
        #expect(sent.fields[.range] == "bytes=5-")
    }

    @Test func withoutARedirectThereIsNoTarget() throws {
        #expect(try Self.kept(Self.episode).usable(at: 0) == nil)
    }

    @Test func credentialsDoNotGoToAnotherHost() throws {
        let asked = try Self.request(Self.episode, [.authorization: "secret", .cookie: "a=b", .userAgent: "p"])
        var kept = KeptTarget()
        kept.found(try Self.response(to: asked))
        let sent = try #require(kept.usable(at: 0)?.request(for: asked))
        #expect(sent.fields == [.userAgent: "p"])
    }

    @Test(arguments: [true, nil])
    func credentialsDoNotComeBackOverAnotherHost(hasLeftHost: Bool?) throws {
        let asked = try Self.request(Self.episode, [.authorization: "secret"])
        var kept = KeptTarget()
        kept.found(try Self.response(from: "https://first.example/b.mp3", to: asked, hasLeftHost: hasLeftHost))
        #expect(kept.usable(at: 0)?.request(for: asked)?.fields[.authorization] == nil)
        kept.found(try Self.response(from: "https://first.example/b.mp3", to: asked, hasLeftHost: false))
        #expect(kept.usable(at: 0)?.request(for: asked)?.fields[.authorization] == "secret")
    }

    @Test func otherCredentialsAndURLsHaveTheirOwnTarget() throws {
        let target = try #require(try Self.kept().usable(at: 0))
        #expect(target.request(for: try Self.request(Self.episode, [.cookie: "user=2"])) == nil)
        #expect(target.request(for: try Self.request(Self.episode + "?token=2")) == nil)
    }

    @Test func otherFieldsOfAServicesOwnHaveTheirOwnTarget() throws {
        let name = try #require(HTTPField.Name("X-User"))
        var kept = KeptTarget()
        kept.found(try Self.response(to: try Self.request(Self.episode, [name: "anna"])))
        let target = try #require(kept.usable(at: 0))
        #expect(target.request(for: try Self.request(Self.episode, [name: "anna", .userAgent: "p"])) != nil)
        #expect(target.request(for: try Self.request(Self.episode, [name: "berta"])) == nil)
        #expect(target.request(for: try Self.request(Self.episode)) == nil)
    }

    @Test func aTargetEndsWhenItsURLSaysSo() throws {
        let kept = try Self.kept(Self.rendition + "?Expires=100")
        #expect(kept.usable(at: 99) != nil)
        #expect(kept.usable(at: 100) == nil)
    }

    @Test(arguments: [200, 206, 403, 404, 410, 418])
    func aTargetThatDoesNotContinueIsLost(status: Int) throws {
        var kept = try Self.kept()
        let target = try #require(kept.usable(at: 0))
        #expect(kept.answered(target, status: status, continues: false) == .askFirst)
        #expect(kept.usable(at: 0) == nil)
    }

    @Test(arguments: [429, 500, 503])
    func oneFailureOfTheServerIsRepeated(status: Int) throws {
        var kept = try Self.kept()
        let target = try #require(kept.usable(at: 0))
        #expect(kept.answered(target, status: status, continues: false) == .stands)
        #expect(kept.answered(target, status: 206, continues: true) == .stands)
        #expect(kept.answered(target, status: status, continues: false) == .stands, "the count starts again")
        #expect(kept.answered(target, status: status, continues: false) == .askFirst)
        #expect(kept.usable(at: 0) == nil)
    }

    @Test func aLateFailureDoesNotEndTheNextTarget() throws {
        var kept = try Self.kept()
        let old = try #require(kept.usable(at: 0))
        kept.found(try Self.response(from: "https://cdn.example/a-2.mp3", to: try Self.request()))
        #expect(kept.answered(old, status: 403, continues: false) == .askFirst)
        #expect(kept.usable(at: 0)?.url.description == "https://cdn.example/a-2.mp3")
    }

    @Test func aTargetIsKeptWhileTheNetworkIsAway() throws {
        let kept = try Self.kept()
        #expect(kept.failed(RepriseError(.networkUnavailable, "")) == .stands)
        #expect(kept.failed(RepriseError(.originUnreachable, "")) == .askFirst)
        #expect(kept.usable(at: 0) != nil)
    }
}
