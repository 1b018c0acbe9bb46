import HTTPSemantics
import HTTPTypes
import Testing

@Suite("Cache-Control and end-to-end fields") struct CacheControlTests {
    @Test("Every response directive is read: RFC 9111 §5.2.2, RFC 5861, RFC 8246")
    func responseDirectives() {
        let control = CacheControl(
            """
            max-age=604800, s-maxage=3600, no-store, no-cache, private, public, must-revalidate, proxy-revalidate, \
            must-understand, no-transform, immutable, stale-while-revalidate=30, stale-if-error=1200
            """)
        #expect(control.maxAge == 604_800)
        #expect(control.sharedMaxAge == 3600)
        #expect(control.noStore && control.noCache && control.isPrivate && control.isPublic)
        #expect(control.mustRevalidate && control.proxyRevalidate && control.mustUnderstand && control.noTransform)
        #expect(control.isImmutable)
        #expect(control.staleWhileRevalidate == 30)
        #expect(control.staleIfError == 1200)
    }

    @Test("Every request directive is read: RFC 9111 §5.2.1")
    func requestDirectives() {
        let control = CacheControl("max-age=1, max-stale=2, min-fresh=3, only-if-cached")
        #expect(control.maxAge == 1)
        #expect(control.maxStale == .seconds(2))
        #expect(control.minFresh == 3)
        #expect(control.onlyIfCached)
        #expect(CacheControl("max-stale").maxStale == .any)
    }

    @Test("Names have no case, and both argument forms are read: RFC 9111 §5.2")
    func namesHaveNoCase() {
        #expect(CacheControl("MAX-AGE=5").maxAge == 5)
        #expect(CacheControl("Max-Age=\"5\"").maxAge == 5)
        #expect(CacheControl("max-age=\"\\5\"").maxAge == 5)
        #expect(CacheControl("No-Store").noStore)
    }

    @Test("Lines of the same field are one list: RFC 9110 §5.3")
    func linesAreJoined() {
        var fields = HTTPFields()
        fields[values: .cacheControl] = ["max-age=5", "no-cache"]
        #expect(CacheControl(fields).maxAge == 5)
        #expect(CacheControl(fields).noCache)
        #expect(CacheControl(HTTPFields()) == CacheControl())
    }

    @Test("The first of repeated times counts: RFC 9111 §4.2.1")
    func firstOfRepeatedTimesCounts() {
        #expect(CacheControl("max-age=1, max-age=100").maxAge == 1)
        #expect(CacheControl("max-age=100, max-age=1").maxAge == 100)
    }

    @Test(
        "An invalid time is stale: RFC 9111 §4.2.1",
        arguments: [
            "max-age", "max-age=", "max-age=abc", "max-age=-1", "max-age=1.5", "max-age=5x", "max-age=\"5",
            "max-age=5 6",
        ])
    func invalidTimesAreStale(value: String) {
        #expect(CacheControl(value).maxAge == 0)
    }

    @Test(
        "A time too large is 2^31: RFC 9111 §1.2.2",
        arguments: ["2147483648", "2147483649", "9223372036854775808", "99999999999999999999999999"])
    func hugeTimesAreCapped(value: String) {
        #expect(CacheControl("max-age=\(value)").maxAge == 2_147_483_648)
    }

    @Test("Field names qualify no-cache and private: RFC 9111 §5.2.2.4, §5.2.2.7")
    func fieldNamesQualify() {
        let control = CacheControl("no-cache=\"Set-Cookie, X-A\", private=\"Authorization\"")
        #expect(!control.noCache)
        #expect(control.noCacheFields == ["set-cookie", "x-a"])
        #expect(!control.isPrivate)
        #expect(control.privateFields == ["authorization"])
        #expect(CacheControl("no-cache=\"\"").noCache)
        #expect(CacheControl("no-cache=\"a b\"").noCache)
        #expect(CacheControl("no-cache, no-cache=\"a\"").noCache)
    }

    @Test("Unknown directives do not hide known ones: RFC 9111 §5.2.3")
    func unknownDirectivesArePassedOver() {
        #expect(CacheControl("community=\"UCI, no-store\", max-age=5") == CacheControl("max-age=5"))
        #expect(CacheControl("max-age=\"5, no-store").noStore)
        #expect(CacheControl(";;; , =, @#, ä, no-store").noStore)
        #expect(CacheControl("no-store;max-age=5").noStore)
        #expect(!CacheControl("x-no-store, no-stored").noStore)
    }

    @Test("A value over 8 KiB is taken as no-store")
    func oversizedValueIsNotStored() {
        #expect(CacheControl(String(repeating: "a,", count: 5000)) == CacheControl("no-store"))
    }

    @Test("Fields of one connection and those that Connection names are left out: RFC 9110 §7.6.1")
    func hopByHopFieldsAreLeftOut() throws {
        let fields: HTTPFields = [
            .connection: "close, X-Hop", .connection: "x-other", .te: "trailers", .trailer: "X-T",
            .transferEncoding: "chunked", .upgrade: "h2c", .proxyAuthenticate: "Basic", .proxyAuthorization: "Basic x",
            .proxyAuthenticationInfo: "x", .eTag: "\"a\"", .cacheControl: "no-cache",
        ]
        let all = fields.adding("Keep-Alive", "5").adding("X-HOP", "1").adding("X-Other", "1").adding("X-Stay", "1")
            .adding("Proxy-Connection", "close")
        #expect(all.endToEnd.map(\.name.canonicalName) == ["etag", "cache-control", "x-stay"])
        #expect(HTTPFields().endToEnd.isEmpty)
    }
}
