import HTTPSemantics
import Testing

@Suite("Content-Range") struct ContentRangeTests {
    @Test(
        "The examples of RFC 9110 §14.4 parse and print",
        arguments: [
            ("bytes 42-1233/1234", ContentRange.satisfied(42..<1234, completeLength: 1234)),
            ("bytes 42-1233/*", .satisfied(42..<1234, completeLength: nil)),
            ("bytes */1234", .unsatisfied(completeLength: 1234)),
            ("bytes 0-499/1234", .satisfied(0..<500, completeLength: 1234)),
            ("bytes 734-1233/1234", .satisfied(734..<1234, completeLength: 1234)),
            ("bytes */0", .unsatisfied(completeLength: 0)),
            ("bytes 0-0/1", .satisfied(0..<1, completeLength: 1)),
        ])
    func examplesParseAndPrint(value: String, expected: ContentRange) {
        #expect(ContentRange(value) == expected)
        #expect(expected.description == value)
    }

    @Test("The unit's case and more than one space are tolerated", arguments: ["BYTES 0-1/2", "bytes   0-1/2 "])
    func lenientFormsParse(value: String) {
        #expect(ContentRange(value) == .satisfied(0..<2, completeLength: 2))
    }

    @Test("A last position below the first is invalid: RFC 9110 §14.4")
    func reversedRangeIsInvalid() {
        #expect(ContentRange("bytes 5-4/10") == nil)
        #expect(ContentRange("bytes 5-4/*") == nil)
    }

    @Test("A complete length not above the last position is invalid: RFC 9110 §14.4")
    func shortCompleteLengthIsInvalid() {
        #expect(ContentRange("bytes 0-9/9") == nil)
        #expect(ContentRange("bytes 0-9/10") != nil)
        #expect(ContentRange("bytes 0-0/0") == nil)
    }

    @Test(
        "Anything else is invalid",
        arguments: [
            "", "bytes", "bytes ", "bytes 0-9", "bytes 0-9/", "bytes */*", "bytes */", "bytes=0-9/10", "bytes: 0-9/10",
            "bytes0-9/10", "items 0-9/10", "bytes 0 - 9/10", "bytes -9/10", "bytes 0-/10", "bytes 0-9/10x",
            "bytes 0-9/10, bytes 10-19/20", "bytes 0-9223372036854775807/*", "bytes 0-1/9223372036854775808",
            "bytes 99999999999999999999-99999999999999999999/*", "bytes */99999999999999999999", "bytes 0-9/１０",
        ])
    func anythingElseIsInvalid(value: String) {
        #expect(ContentRange(value) == nil)
    }

    @Test("Printing a range that no message can hold does not trap")
    func printingEmptyRangesDoesNotTrap() {
        #expect(ContentRange.satisfied(5..<5, completeLength: 9).description == "bytes */9")
        #expect(ContentRange.satisfied(.min ..< .min, completeLength: nil).description == "bytes */0")
    }
}
