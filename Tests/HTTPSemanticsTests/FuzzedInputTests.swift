import HTTPSemantics
import Testing

/// Inputs that the fuzzer found to take a separate path through the parsers, with their meaning by the grammar.
@Suite struct FuzzedInputTests {
    @Test(arguments: [
        ("bytes=0-,0- , 0-,00-, ", "bytes=0-,0-,0-,0-"),
        ("bytes=9-,-5", "bytes=9-,-5"),
        ("bytes=0-\t\t\t\t,", "bytes=0-"),
        ("bytes=91999-,,,,,,,,,,", "bytes=91999-"),
        ("bytes=00000000000000000000000000000000-,00-, ", "bytes=0-,0-"),
        ("bytes=,", nil), ("bytes=-", nil), ("bytes=\t\t\t-,\t\t", nil), ("bytes=0- -", nil), ("bytes=6-6-", nil),
        ("bytes=00-0000-5", nil), ("bytes=300-00300-0", nil), ("bytes=5-        /", nil), ("bytes=1-\t\t\t\u{B}", nil),
        ("bytes=00\r", nil), ("bytes=5-9,0-9,0-19\u{FFFD}", nil), ("byTes=,\t\t\t,s", nil), ("--,", nil),
        ("bytes=2-9,2-9, 5-9-5", nil),
    ])
    func range(_ input: String, _ meaning: String?) {
        #expect(RangeField(input)?.description == meaning)
    }

    @Test(arguments: [
        ("bytes 0-0/1", "bytes 0-0/1"), ("bytes 0-4/110", "bytes 0-4/110"),
        ("bytes 0-0000000000000000000000000000000000/1", "bytes 0-0/1"),
        ("bytes 1-4/1", nil), ("bytes 0-0000000000000000000000000000000040/1", nil), ("bytes 1-0", nil),
        ("bytes */", nil), ("bytes */0*", nil), ("bytes 0-00-", nil), ("bytes 0-0/1\u{FFFD}", nil),
        ("bytesbytes10-10-5", nil), ("bytes */17777777777777777770", nil), ("bytes 1-4/11010000855220855220", nil),
        ("bytes 777777777777777777777777777777770", nil), ("", nil), ("\t", nil),
    ])
    func contentRange(_ input: String, _ meaning: String?) {
        #expect(ContentRange(input)?.description == meaning)
    }

    @Test(arguments: [
        ("\"\"", "\"\""), ("\"!!!\"", "\"!!!\""), ("\"a,b\"", "\"a,b\""), ("W/\"\"", "W/\"\""),
        ("\"\u{CE}\u{A9}\"", "\"\u{CE}\u{A9}\""),
        ("\"", nil), ("*W", nil), ("\"\"\u{FFFD}a", nil), ("\"\"\t\tb", nil), ("\"\"\"", nil), ("w/\"a\"", nil),
        ("W/", nil),
        ("\"a b\"", nil), ("\"a\u{0}\"", nil),
    ])
    func entityTag(_ input: String, _ meaning: String?) {
        #expect(EntityTag(input)?.description == meaning)
    }

    @Test(arguments: [
        (", ,\"b,\", ,\"\"", "\"b,\", \"\""), (", \"\",\"x\"", "\"\", \"x\""), (" ,,,,\"a\",,,", "\"a\""), ("*", "*"),
        ("W/\"abc\", \"\" ,\"\",\"d\" *", nil), (",,,,,,,", nil), (",\t,\t\t\ta", nil), (", \"\",\" \u{19}", nil),
    ])
    func entityTagCondition(_ input: String, _ meaning: String?) {
        #expect(EntityTagCondition(input)?.description == meaning)
    }

    @Test(arguments: [
        ("Sun Nov  6 08:09:03 1994", "Sun, 06 Nov 1994 08:09:03 GMT"),
        ("Sunday, 06-Nov-94 08:43:57 GMT", "Sun, 06 Nov 1994 08:43:57 GMT"),
        ("Sun, 86 Nov 1994 08:49:37 GMT", nil), ("Sun, 12 Nov 1994 08:94:37 GMT", nil),
        ("Sunday, 06-Nov-94 08:43:97 GMT", nil), ("Sun, 06 Nov 1994 08:49:37 GMT/", nil),
        ("Sun Nov  6 08:49:37 19\t", nil), ("Sun Nov  6 08:49:3S1", nil), ("Sun, 06 Nov 0197 08:24:37 ", nil),
        ("Sunday, 06-Nov-95 08: 7", nil), ("Sun Nov 99", nil), ("Sunday, 10-", nil),
        ("Sun, 31 Feb 1994 08:49:37 GMT", nil),
    ])
    func date(_ input: String, _ meaning: String?) {
        #expect(HTTPDate(input)?.description == meaning)
    }

    // An unreadable value is 0: stale (RFC 9111 §4.2.1).
    @Test(arguments: [
        ("max-age=20, \t\t\u{0}\ts", 20), ("max-age-=60, s-maxage=\"5\", private=\"a, a\", stal", nil),
        ("private=\"max-age=7, a\", max-age=9", 9), ("max-age=6e=\"5\", private=\"a b\"", 0), ("max-age=\"5\"", 5),
        ("max-age=602\u{0}, s-ma=m", 0), ("a=\"Int\\\"@\\\\\",max-age=3", 3), (",!,m,!,m,m,!,max-age=1,!", 1),
        ("max-age=88888888888888888888888888888", Int64(CacheControl.longestTime)), ("max-awe=1, n=5c", nil),
    ])
    func maxAge(_ input: String, _ seconds: Int64?) {
        #expect(CacheControl(input).maxAge.map { Int64($0) } == seconds)
    }
}
