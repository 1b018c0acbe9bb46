import Foundation
import TestLimits
import Testing

@testable import Reprise

/// The rule for keys that is recorded with a download.
@Suite(.limit(minutes: 1)) struct KeyRuleTests {
    private static func key(_ url: String, _ rule: KeyRule) throws -> String {
        try rule.policy.key(for: ResourceURL("https://\(url)")).text
    }

    @Test func namedItemsAreDroppedAndTheOthersKeepTheirOrder() throws {
        let rule = KeyRule(dropping: ["token", "e"])
        #expect(try Self.key("a.example/1.ts?b=2&token=x&a=1&e", rule) == "https://a.example/1.ts?b=2&a=1")
        #expect(try Self.key("a.example/1.ts?token=x", rule) == "https://a.example/1.ts")
        #expect(try Self.key("a.example/1.ts?Token=x", rule) == "https://a.example/1.ts?Token=x")
        #expect(try Self.key("a.example/1.ts?token=x", KeyRule(dropping: [])) == "https://a.example/1.ts?token=x")
    }

    @Test func theMostSpecificHostCounts() throws {
        let rule = KeyRule(
            dropping: ["token"],
            hosts: [
                "media.a.example": .init(items: ["sig"]), ".a.example": .init(items: []),
                ".example": .init(items: ["e"]),
            ])
        let query = "?token=1&sig=2&e=3"
        #expect(try Self.key("media.a.example/f" + query, rule) == "https://media.a.example/f?token=1&e=3")
        #expect(try Self.key("b.a.example/f" + query, rule) == "https://b.a.example/f" + query)
        #expect(try Self.key("a.example/f" + query, rule) == "https://a.example/f" + query)
        #expect(try Self.key("b.example/f" + query, rule) == "https://b.example/f?token=1&sig=2")
        #expect(try Self.key("b.test/f" + query, rule) == "https://b.test/f?sig=2&e=3")
    }

    @Test("tokens in the path are dropped, by their number or their beginning")
    func pathSegments() throws {
        let rule = KeyRule(
            dropping: ["e"], hosts: ["a.example": .init(pathSegments: ["1", "hdntl=*"]), ".b.example": .init()])
        #expect(try Self.key("a.example/1f2e/film.mp4?e=1&q=2", rule) == "https://a.example/film.mp4?q=2")
        #expect(try Self.key("a.example/x/hdntl=exp=1~hmac=2/film.mp4", rule) == "https://a.example/film.mp4")
        #expect(try Self.key("a.example/x/1/hdntl", rule) == "https://a.example/1/hdntl")
        #expect(try Self.key("a.example/film.mp4", rule) == "https://a.example/film.mp4", "files stay apart")
        #expect(try Self.key("a.example/x/hdntl=1", rule) == "https://a.example/hdntl=1")
        #expect(try Self.key("b.example/1/film.mp4?e=1", rule) == "https://b.example/1/film.mp4")
    }

    @Test("several hosts share the entries of one")
    func sameAs() throws {
        let rule = KeyRule(dropping: [], hosts: [".cdn.example": .init(sameAs: "cdn.example")])
        #expect(try Self.key("edge7.cdn.example/f?a=1", rule) == "https://cdn.example/f?a=1")
        #expect(try Self.key("edge7.cdn.example:8443/f", rule) == "https://cdn.example/f")
        #expect(try Self.key("cdn.example/f", rule) == "https://cdn.example/f")
        #expect(try Self.key("other.example/f", rule) == "https://other.example/f")
    }

    @Test(
        "percent-encodings in lower and upper case are one key (RFC 3986 §6.2.2.1)",
        arguments: [KeyRule(dropping: []), .droppingQuery, KeyRule(dropping: [], hosts: ["a.example": .init()])])
    func percentEncoding(rule: KeyRule) throws {
        #expect(try Self.key("a.example/%c3%a9a%2fb", rule) == "https://a.example/%C3%A9a%2Fb")
        #expect(try Self.key("a.example/%C3%A9abc", rule) == "https://a.example/%C3%A9abc")
    }

    @Test(
        "a rule that was recorded is the same when it is read",
        arguments: [
            KeyRule(dropping: []), .droppingQuery, KeyRule(dropping: ["b", "a"]),
            KeyRule(dropping: [], hosts: [".a.example": .init(items: ["b"], pathSegments: ["1"], sameAs: "a")]),
        ])
    func recorded(rule: KeyRule) throws {
        let read = try JSONDecoder().decode(KeyRule.self, from: JSONEncoder().encode(rule))
        #expect(read == rule)
        for url in ["a.example/f?a=1&c=2", "b.example/f?b=1"] {
            #expect(try Self.key(url, read) == Self.key(url, rule))
        }
    }

    @Test func onlyAProgramsOwnFunctionIsNotRecorded() {
        #expect(CacheKeyPolicy { $0.host }.rule == nil)
        #expect(CacheKeyPolicy.url.rule == KeyRule(dropping: []))
        #expect(CacheKeyPolicy.droppingQuery.rule == .droppingQuery)
        #expect(CacheKeyPolicy.droppingQueryItems(["a"]).rule == KeyRule(dropping: ["a"]))
    }
}
