import HTTPSemantics
import Testing

@Suite("Entity tags") struct EntityTagTests {
    @Test(
        "The examples of RFC 9110 §8.8.3 parse and print",
        arguments: [("\"xyzzy\"", "xyzzy", false), ("W/\"xyzzy\"", "xyzzy", true), ("\"\"", "", false)])
    func examplesParseAndPrint(value: String, opaqueTag: String, isWeak: Bool) throws {
        let tag = try #require(EntityTag(value))
        #expect(tag.opaqueTag == opaqueTag)
        #expect(tag.isWeak == isWeak)
        #expect(tag.description == value)
    }

    @Test(
        "Anything else is no tag: RFC 9110 §8.8.3",
        arguments: [
            "", "xyzzy", "\"xyzzy", "xyzzy\"", "w/\"xyzzy\"", "W/ \"xyzzy\"", "W/xyzzy", "\"a b\"", "\"a\"b\"",
            "\"a\", \"b\"", "\"a\u{7F}\"", "\"a\tb\"", "\"\u{FFFD}\"", "*", "'a'", "“a”",
        ])
    func anythingElseIsNoTag(value: String) {
        #expect(EntityTag(value) == nil)
    }

    @Test("obs-text is allowed, and backslashes stand for themselves: RFC 9110 §8.8.3")
    func unusualCharactersAreOpaque() {
        #expect(EntityTag("\"ä→\"")?.opaqueTag == "ä→")
        #expect(EntityTag("\"a\\b\"")?.opaqueTag == "a\\b")
    }

    @Test(
        "Both comparisons give the table of RFC 9110 §8.8.3.2",
        arguments: [
            ("W/\"1\"", "W/\"1\"", false, true), ("W/\"1\"", "W/\"2\"", false, false),
            ("W/\"1\"", "\"1\"", false, true), ("\"1\"", "\"1\"", true, true),
        ])
    func comparisonsFollowTheTable(first: String, second: String, strong: Bool, weak: Bool) throws {
        let (first, second) = (try #require(EntityTag(first)), try #require(EntityTag(second)))
        #expect(first.stronglyMatches(second) == strong)
        #expect(second.stronglyMatches(first) == strong)
        #expect(first.weaklyMatches(second) == weak)
        #expect(second.weaklyMatches(first) == weak)
    }

    @Test("Tags are compared by bytes, not as text: RFC 9110 §8.8.3.2")
    func canonicallyEquivalentTagsDiffer() throws {
        let composed = try #require(EntityTag("\"\u{E9}\""))
        let decomposed = try #require(EntityTag("\"e\u{301}\""))
        #expect(!composed.stronglyMatches(decomposed))
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed]).count == 2)
    }

    @Test(
        "If-Match and If-None-Match hold a list or a star: RFC 9110 §13.1.1",
        arguments: [
            ("*", EntityTagCondition?.some(.any)), (" * ", .any), ("**", nil), ("*, \"a\"", nil), ("", nil), (",", nil),
            ("\"xyzzy\"", .tags([tag("xyzzy")])),
            (
                "\"xyzzy\", \"r2d2xxxx\", \"c3piozzzz\"",
                .tags([tag("xyzzy"), tag("r2d2xxxx"), tag("c3piozzzz")])
            ),
            (",\"a,b\" ,, \"c\",", .tags([tag("a,b"), tag("c")])), ("\"a\" \"b\"", nil), ("\"a\", b", nil),
        ])
    func conditionsParse(value: String, expected: EntityTagCondition?) {
        #expect(EntityTagCondition(value) == expected)
    }

    @Test("If-Match compares strongly, If-None-Match weakly: RFC 9110 §13.1.1, §13.1.2")
    func conditionsCompare() throws {
        let condition = try #require(EntityTagCondition("\"a\", W/\"b\""))
        let weak = EntityTag(opaqueTag: "b", isWeak: true)
        #expect(condition.stronglyMatches(tag("a"), exists: true))
        #expect(!condition.stronglyMatches(weak, exists: true))
        #expect(condition.weaklyMatches(weak, exists: true))
        #expect(condition.weaklyMatches(tag("b"), exists: true))
        #expect(!condition.weaklyMatches(tag("c"), exists: true))
        #expect(!condition.weaklyMatches(nil, exists: true))
    }

    @Test("A star matches whatever exists, tag or not: RFC 9110 §13.1.1")
    func starMatchesWhatExists() {
        #expect(EntityTagCondition.any.stronglyMatches(nil, exists: true))
        #expect(!EntityTagCondition.any.stronglyMatches(tag("a"), exists: false))
        #expect(EntityTagCondition.any.weaklyMatches(nil, exists: true))
        #expect(!EntityTagCondition.any.weaklyMatches(nil, exists: false))
    }
}
