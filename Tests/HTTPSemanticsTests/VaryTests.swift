import HTTPSemantics
import HTTPTypes
import Testing

@Suite("Vary selects a stored response: RFC 9111 §4.1") struct VaryTests {
    @Test(
        "languages in another order, case or spacing are the same: RFC 9110 §12.5.4",
        arguments: [
            ("en, de", "de, en", true), ("en, de", "eN,De", true), ("en , de", " de ,en", true),
            ("de;q=1, en;q=0.5", "en;q=0.5, de;q=1", true), ("en, de", "en", false),
            ("en;q=0.5, de", "en, de;q=0.5", false),
        ]) func languages(first: String, second: String, isSame: Bool) throws
    {
        let vary = try #require(Vary([.vary: "Accept-Language"]))
        #expect((vary.selection([.acceptLanguage: first]) == vary.selection([.acceptLanguage: second])) == isSame)
    }

    @Test("values of other fields keep order and case") func others() throws {
        let vary = try #require(Vary([.vary: "Cookie"]))
        #expect(vary.selection([.cookie: "a, b"]) != vary.selection([.cookie: "b, a"]))
        #expect(vary.selection([.cookie: "a"]) != vary.selection([.cookie: "A"]))
        #expect(vary.selection([:]) != vary.selection([.cookie: ""]))
    }
}
