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
            dropping: ["token"], hosts: ["media.a.example": ["sig"], ".a.example": [], ".example": ["e"]])
        let query = "?token=1&sig=2&e=3"
        #expect(try Self.key("media.a.example/f" + query, rule) == "https://media.a.example/f?token=1&e=3")
        #expect(try Self.key("b.a.example/f" + query, rule) == "https://b.a.example/f" + query)
        #expect(try Self.key("a.example/f" + query, rule) == "https://a.example/f" + query)
        #expect(try Self.key("b.example/f" + query, rule) == "https://b.example/f?token=1&sig=2")
        #expect(try Self.key("b.test/f" + query, rule) == "https://b.test/f?sig=2&e=3")
    }

    @Test(
        "a rule that was recorded is the same when it is read",
        arguments: [
            KeyRule(dropping: []), .droppingQuery, KeyRule(dropping: ["b", "a"]),
            KeyRule(dropping: [], hosts: [".a.example": ["b", "a", "a"]]),
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
