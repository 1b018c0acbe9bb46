import HTTPSemantics
import Testing

@Suite("Range") struct RangeFieldTests {
    @Test(
        "The examples of RFC 9110 §14.1.2 parse",
        arguments: [
            ("bytes=0-499", [RangeSpec.bounded(0..<500)]),
            ("bytes=500-999", [.bounded(500..<1000)]),
            ("bytes=-500", [.suffix(500)]),
            ("bytes=9500-", [.from(9500)]),
            ("bytes=0-0,-1", [.bounded(0..<1), .suffix(1)]),
            ("bytes= 0-0, -2", [.bounded(0..<1), .suffix(2)]),
            ("bytes= 0-999, 4500-5499, -1000", [.bounded(0..<1000), .bounded(4500..<5500), .suffix(1000)]),
            ("bytes=500-600,601-999", [.bounded(500..<601), .bounded(601..<1000)]),
        ])
    func examplesParse(value: String, expected: [RangeSpec]) {
        #expect(RangeField(value)?.specs == expected)
    }

    @Test(
        "Case of the unit, white space and empty list elements do not matter: RFC 9110 §14.1, §5.6.1.2",
        arguments: ["BYTES=1-2", "Bytes=,1-2", "bytes=1-2,", "bytes= , \t,1-2 ,\t, ", "  bytes=1-2\t", "bytes=0001-02"])
    func lenientFormsParse(value: String) {
        #expect(RangeField(value)?.specs == [.bounded(1..<3)])
    }

    @Test(
        "An invalid value or another unit is ignored: RFC 9110 §14.1.1, §14.2",
        arguments: [
            "", "bytes", "bytes=", "bytes=,", "bytes=-", "bytes=5-4", "bytes=1-2-3", "bytes=a-b", "bytes=1 -2",
            "bytes=1- 2", "bytes =1-2", "bytes=1", "bytes=--1", "bytes=+1-2", "bytes=-1-2", "bytes=1-2;",
            "bytes=1-2 3-4",
            "items=0-5", "bytes=0-1,x", "bytes=0x1-0x2", "bytes=１-２", "\u{0}bytes=1-2", "bytes=1-2\u{0}",
        ])
    func invalidValuesAreIgnored(value: String) {
        #expect(RangeField(value) == nil)
    }

    @Test("A last position beyond 2^53 means the end; RFC 9110 §14.1.2 clips it")
    func hugeLastPositionSaturates() throws {
        let field = try #require(RangeField("bytes=10-99999999999999999999999999"))
        #expect(field.specs == [.bounded(10..<1 << 53)])
        #expect(field.single?.resolve(completeLength: 100) == 10..<100)
        #expect(RangeField("bytes=10-9223372036854775807")?.specs == field.specs)
        #expect(RangeField("bytes=10-9007199254740991")?.specs == field.specs)
    }

    @Test(
        "A first position beyond 2^53 is valid and unsatisfiable: RFC 9110 §14.1.2",
        arguments: [
            "bytes=9007199254740992-", "bytes=9007199254740992-9007199254740993",
            "bytes=9223372036854775807-", "bytes=9223372036854775808-", "bytes=99999999999999999999-",
            "bytes=9223372036854775807-9223372036854775807", "bytes=99999999999999999998-99999999999999999999",
        ])
    func hugeFirstPositionIsUnsatisfiable(value: String) throws {
        let spec = try #require(RangeField(value)?.single)
        #expect(spec.resolve(completeLength: 1 << 53) == nil)
        #expect(spec.resolve(completeLength: 0) == nil)
    }

    @Test("A first position above the last is invalid at any size: RFC 9110 §14.1.1")
    func hugeReversedRangeIsInvalid() {
        #expect(RangeField("bytes=99999999999999999999-99999999999999999998") == nil)
        #expect(RangeField("bytes=99999999999999999999-5") == nil)
    }

    @Test("A huge suffix is the whole representation: RFC 9110 §14.1.2")
    func hugeSuffixIsEverything() {
        let spec = RangeField("bytes=-99999999999999999999")?.single
        #expect(spec?.resolve(completeLength: 7) == 0..<7)
        #expect(spec?.resolve(completeLength: 1 << 53) == 0..<1 << 53)
    }

    @Test(
        "Specs resolve against the complete length: RFC 9110 §14.1.2",
        arguments: [
            (RangeSpec.bounded(0..<500), Int64(10000), Range<Int64>?.some(0..<500)),
            (.bounded(9999..<10000), 10000, 9999..<10000), (.bounded(10000..<10001), 10000, nil),
            (.bounded(9000..<20000), 10000, 9000..<10000), (.from(9500), 10000, 9500..<10000), (.from(0), 1, 0..<1),
            (.from(10000), 10000, nil), (.from(0), 0, nil), (.suffix(500), 10000, 9500..<10000),
            (.suffix(20000), 10000, 0..<10000), (.suffix(0), 10000, nil), (.suffix(1), 0, nil),
            (.bounded(5..<5), 10, nil), (.bounded(-5..<5), 10, nil), (.from(-1), 10, nil), (.suffix(-1), 10, nil),
            (.suffix(.min), 10, nil), (.from(0), -1, nil), (.bounded(.min ..< .max), .max, nil),
            (.bounded(0 ..< .max), .max, 0 ..< .max),
        ])
    func specsResolve(spec: RangeSpec, completeLength: Int64, expected: Range<Int64>?) {
        #expect(spec.resolve(completeLength: completeLength) == expected)
    }

    @Test("Ends are printed inclusive: RFC 9110 §14.1.2")
    func printsInclusiveEnds() {
        #expect(RangeField(0..<500).description == "bytes=0-499")
        #expect(RangeField(.from(9500)).description == "bytes=9500-")
        #expect(RangeField(.suffix(500)).description == "bytes=-500")
        #expect(RangeField("bytes= 0-0 ,, -1")?.description == "bytes=0-0,-1")
    }

    @Test("128 ranges are read, 129 refused: RFC 9110 §17.15")
    func tooManyRangesAreRefused() {
        let value = "bytes=" + repeatElement("0-0", count: 128).joined(separator: ",")
        #expect(RangeField(value)?.specs.count == 128)
        #expect(RangeField(value + ",0-0") == nil)
    }
}
