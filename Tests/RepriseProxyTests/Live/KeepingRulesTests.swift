import HTTPTypes
import Reprise
import Testing

@testable import RepriseProxy

@Suite("What the live edge keeps in memory") struct KeepingRulesTests {
    private func head(_ status: Int = 200, _ fields: HTTPFields = [:]) throws -> SharedExchange.Head {
        SharedExchange.Head(
            response: HTTPResponse(status: .init(code: status), headerFields: fields),
            url: try ResourceURL("https://cdn.example/list.m3u8"), requestTime: 1_700_000_000,
            responseTime: 1_700_000_000)
    }

    private func rules(_ subject: KeepingRules.Subject = .playlist, isShared: Bool = false) -> KeepingRules {
        KeepingRules(subject: subject, isShared: isShared, targetDuration: .seconds(4))
    }

    @Test("§B.1: six target durations; failures less")
    func lifetimes() throws {
        #expect(rules().lifetime(of: try head()) == .seconds(24))
        #expect(rules(.part).lifetime(of: try head(206)) == .seconds(24))
        #expect(rules().lifetime(of: try head(404)) == .seconds(2))
        #expect(rules(.part).lifetime(of: try head(404)) == .zero)
        var unknown = rules()
        unknown.targetDuration = nil
        #expect(unknown.lifetime(of: try head()) == .zero)
    }

    @Test func theOriginGoesFirst() throws {
        #expect(rules().lifetime(of: try head(200, [.cacheControl: "max-age=9"])) == .seconds(9))
        #expect(rules().lifetime(of: try head(200, [.cacheControl: "max-age=9", .age: "5"])) == .seconds(4))
        #expect(rules().lifetime(of: try head(200, [.cacheControl: "no-cache"])) == .zero)
        #expect(rules().lifetime(of: try head(200, [.cacheControl: "no-store"])) == .zero)
        #expect(!rules().mayKeep(try head(200, [.cacheControl: "no-store"])))
        let old: HTTPFields = [.lastModified: "Wed, 01 Jan 2020 00:00:00 GMT"]
        #expect(rules().lifetime(of: try head(200, old)) == .seconds(24), "never guessed from a date")
    }

    @Test func aSharedCacheKeepsOnlyWhatItMay() throws {
        let shared = rules(isShared: true)
        let secret = try head(200, [.cacheControl: "private, max-age=9"])
        #expect(!shared.mayKeep(secret))
        #expect(rules().mayKeep(secret))
        #expect(!shared.mayShare(secret, askedWith: [:], by: [:]))
        #expect(!shared.mayShare(try head(200, [.setCookie: "a=b"]), askedWith: [:], by: [:]))
        let authorized: HTTPFields = [.authorization: "Bearer x"]
        #expect(!shared.mayShare(try head(), askedWith: authorized, by: authorized))
        let allowed = try head(200, [.cacheControl: "public, max-age=9"])
        #expect(shared.mayShare(allowed, askedWith: authorized, by: authorized))
    }

    @Test func varyingFieldsMustBeTheSame() throws {
        let varying = try head(200, [.vary: "Accept-Language"])
        #expect(rules().mayShare(varying, askedWith: [.acceptLanguage: "de"], by: [.acceptLanguage: "de"]))
        #expect(!rules().mayShare(varying, askedWith: [.acceptLanguage: "de"], by: [.acceptLanguage: "en"]))
        #expect(!rules().mayShare(try head(200, [.vary: "*"]), askedWith: [:], by: [:]))
    }

    @Test("a body that is not kept whole is not shared: its slowest reader would slow down the others")
    func longBodies() throws {
        let longest = SharedExchange.longestBody
        for (length, isShared) in [("\(longest)", true), ("\(longest + 1)", false)] {
            let head = try head(200, [.contentLength: length])
            #expect(rules(.part).mayShare(head, askedWith: [:], by: [:]) == isShared)
        }
    }
}
