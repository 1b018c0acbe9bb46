import HTTPTypes
import Testing

@testable import Reprise

/// How long a refusal answers the same requests.
@Suite struct OriginHealthTests {
    private static let film = "http://origin/film.mp4"

    private static func health(_ change: (inout ReusePolicy) -> Void = { _ in }) throws -> OriginHealth {
        var policy = ReusePolicy()
        change(&policy)
        return OriginHealth(url: try ResourceURL(film), policy: policy)
    }

    private static func request(_ fields: HTTPFields = [:]) throws -> OriginRequest {
        OriginRequest(url: try ResourceURL(film), fields: fields)
    }

    private static func refusal(_ status: Int) -> RepriseError {
        RepriseError(
            .originRefused, "no",
            refusal: OriginRefusal(head: HTTPResponse(status: .init(code: status)), body: [], age: nil))
    }

    @Test func aRefusalAnswersTheSameRequest() throws {
        var health = try Self.health()
        health.fetchFailed(Self.refusal(404), sending: try Self.request(), at: .seconds(100))
        #expect(health.recentRefusal(of: try Self.request(), at: .seconds(104))?.refusal?.head.status.code == 404)
        #expect(health.recentRefusal(of: try Self.request([.authorization: "x"]), at: .seconds(104)) == nil)
        #expect(health.recentRefusal(of: try Self.request(), at: .seconds(105)) == nil, "negativeLifetime is 5 s")
    }

    @Test func thePauseDoublesWithEachFailureInARow() throws {
        var health = try Self.health()
        func isRefused(after milliseconds: Int) throws -> Bool {
            health.recentRefusal(of: try Self.request(), at: .milliseconds(milliseconds)) != nil
        }
        for pause in [250, 500, 1000, 1000] {
            health.fetchFailed(Self.refusal(503), sending: try Self.request(), at: .zero)
            #expect(try isRefused(after: pause - 1))
            #expect(try !isRefused(after: pause))
        }
        health.fetchSucceeded()
        health.fetchFailed(Self.refusal(503), sending: try Self.request(), at: .zero)
        #expect(try !isRefused(after: 250), "the count begins again")
    }

    @Test func otherFailuresAreNotKept() throws {
        var health = try Self.health()
        health.fetchFailed(RepriseError(.originUnreachable, ""), sending: try Self.request(), at: .zero)
        health.fetchFailed(Self.refusal(403), sending: try Self.request(), at: .zero)
        #expect(health.recentRefusal(of: try Self.request(), at: .zero) == nil)
        var shared = try Self.health { $0.isShared = true }
        shared.fetchFailed(Self.refusal(503), sending: try Self.request(), at: .zero)
        #expect(shared.recentRefusal(of: try Self.request(), at: .zero) == nil, "its clients decide for themselves")
    }
}
