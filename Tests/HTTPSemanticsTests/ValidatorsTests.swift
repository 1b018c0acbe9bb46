import HTTPSemantics
import HTTPTypes
import Testing

@Suite("Validators, If-Range, Accept-Ranges") struct ValidatorsTests {
    let modified = date("Sun, 06 Nov 1994 08:49:37 GMT")
    let oneSecondLater = date("Sun, 06 Nov 1994 08:49:38 GMT")

    var dated: Validators { Validators(lastModified: modified, date: oneSecondLater) }

    @Test("Fields are read; invalid and repeated ones count as absent: RFC 9110 §8.8")
    func fieldsAreRead() {
        let validators = Validators([
            .eTag: "W/\"a\"", .lastModified: "Sunday, 06-Nov-94 08:49:37 GMT", .date: "Sun, 06 Nov 1994 08:49:38 GMT",
        ])
        #expect(validators == Validators(etag: tag("a", isWeak: true), lastModified: modified, date: oneSecondLater))
        #expect(Validators([.eTag: "a", .lastModified: "0", .date: "now"]) == Validators())
        #expect(Validators([.eTag: "\"a\"", .eTag: "\"b\""]).etag == nil)
        #expect(Validators([:]) == Validators())
    }

    @Test("Last-Modified is strong from one second before Date on: RFC 9110 §8.8.2.2")
    func lastModifiedIsStrongAfterASecond() {
        #expect(dated.isLastModifiedStrong)
        #expect(!Validators(lastModified: modified, date: modified).isLastModifiedStrong)
        #expect(!Validators(lastModified: oneSecondLater, date: modified).isLastModifiedStrong)
        #expect(!Validators(lastModified: modified).isLastModifiedStrong)
        #expect(!Validators(date: modified).isLastModifiedStrong)
    }

    @Test("If-Range gets the strong tag, else the strong date if there is no tag, else nothing: RFC 9110 §13.1.5")
    func ifRangeValue() {
        var validators = dated
        #expect(validators.ifRangeValue == "Sun, 06 Nov 1994 08:49:37 GMT")
        validators.etag = tag("a")
        #expect(validators.ifRangeValue == "\"a\"")
        validators.etag = tag("a", isWeak: true)
        #expect(validators.ifRangeValue == nil)
        #expect(Validators(lastModified: modified, date: modified).ifRangeValue == nil)
        #expect(Validators().ifRangeValue == nil)
    }

    @Test("The same strong tag joins ranges, whatever the dates: RFC 9110 §15.3.7.3")
    func strongTagsMatch() {
        let first = Validators(etag: tag("a"), lastModified: modified, date: oneSecondLater)
        #expect(first.strongETag == tag("a"))
        #expect(first.stronglyMatches(Validators(etag: tag("a"))))
        #expect(!first.stronglyMatches(Validators(etag: tag("b"), lastModified: modified, date: oneSecondLater)))
        #expect(!first.stronglyMatches(dated))
        #expect(!first.stronglyMatches(Validators(etag: tag("a", isWeak: true))))
    }

    @Test("Weak tags alone never join ranges: RFC 9110 §8.8.3.2, §15.3.7.3")
    func weakTagsNeverMatchAlone() {
        let weak = Validators(etag: tag("a", isWeak: true))
        #expect(weak.strongETag == nil)
        #expect(!weak.stronglyMatches(weak))
    }

    @Test("The same strong date joins ranges without a strong tag: RFC 9110 §8.8.2.2")
    func strongDatesMatch() {
        var later = dated
        later.date = date("Mon, 07 Nov 1994 00:00:00 GMT")
        #expect(dated.stronglyMatches(later))
        later.etag = tag("a", isWeak: true)
        #expect(!dated.stronglyMatches(later))
        #expect(later.stronglyMatches(later))
        var other = later
        other.etag = tag("b", isWeak: true)
        #expect(!later.stronglyMatches(other))
        #expect(!dated.stronglyMatches(Validators(lastModified: modified, date: modified)))
        #expect(!dated.stronglyMatches(Validators(lastModified: oneSecondLater, date: .init(secondsSince1970: .max))))
        #expect(!Validators().stronglyMatches(Validators()))
    }

    @Test("If-Range holds a tag or a date and prints it: RFC 9110 §13.1.5")
    func ifRangeParses() {
        #expect(IfRange("\"a\"") == .entityTag(tag("a")))
        #expect(IfRange("W/\"a\"") == .entityTag(tag("a", isWeak: true)))
        #expect(IfRange("Sun Nov  6 08:49:37 1994") == .date(modified))
        #expect(IfRange("\"a\", \"b\"") == nil)
        #expect(IfRange("*") == nil)
        #expect(IfRange("") == nil)
        #expect(IfRange.date(modified).description == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(IfRange.entityTag(tag("a")).description == "\"a\"")
    }

    @Test("If-Range matches a strong tag strongly and a strong date exactly: RFC 9110 §13.1.5")
    func ifRangeMatches() {
        let weak = tag("a", isWeak: true)
        #expect(IfRange.entityTag(tag("a")).matches(Validators(etag: tag("a"))))
        #expect(!IfRange.entityTag(tag("a")).matches(Validators(etag: tag("b"))))
        #expect(!IfRange.entityTag(weak).matches(Validators(etag: weak)))
        #expect(!IfRange.entityTag(tag("a")).matches(Validators(etag: weak)))
        #expect(!IfRange.entityTag(tag("a")).matches(dated))
        #expect(IfRange.date(modified).matches(dated))
        #expect(!IfRange.date(oneSecondLater).matches(dated), "later than Last-Modified is not exactly it")
        #expect(!IfRange.date(modified).matches(Validators(lastModified: modified, date: modified)))
        #expect(!IfRange.date(modified).matches(Validators()))
    }

    @Test(
        "Accept-Ranges says whether byte ranges are supported: RFC 9110 §14.3",
        arguments: [
            ("bytes", AcceptRanges?.some(.bytes), Bool?.some(true)), ("Bytes", .bytes, true),
            ("none", .unsupported, false),
            ("foo, bytes", .bytes, true), ("foo,, BAR", .other(["foo", "bar"]), nil), ("", nil, nil), (",", nil, nil),
            ("bytes=0-", nil, nil), ("bytes;q=1", nil, nil),
        ])
    func acceptRanges(value: String, expected: AcceptRanges?, supportsBytes: Bool?) {
        #expect(AcceptRanges(value) == expected)
        #expect(AcceptRanges(value)?.supportsBytes == supportsBytes)
    }
}
