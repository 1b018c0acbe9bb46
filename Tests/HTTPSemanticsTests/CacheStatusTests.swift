import HTTPSemantics
import HTTPTypes
import Testing

@Suite("Cache-Status") struct CacheStatusTests {
    @Test("Members print their parameters: RFC 9211 §2")
    func membersPrint() {
        #expect(CacheStatus(.hit).description == "reprise; hit")
        #expect(CacheStatus(.hit, timeToLive: 376).description == "reprise; hit; ttl=376")
        #expect(CacheStatus(.hit, timeToLive: -412).description == "reprise; hit; ttl=-412")
        #expect(
            CacheStatus(.forwarded(.partial, status: 206), isStored: true, isCollapsed: true).description
                == "reprise; fwd=partial; fwd-status=206; stored; collapsed")
        #expect(CacheStatus(.forwarded(.stale, status: 304)).description == "reprise; fwd=stale; fwd-status=304")
    }

    @Test("The reasons are those of RFC 9211 §2.2")
    func reasons() {
        #expect(
            CacheStatus.ForwardReason.allCases.map(\.rawValue)
                == ["bypass", "method", "uri-miss", "vary-miss", "miss", "request", "stale", "partial"])
    }

    @Test(
        "The detail is a token or a quoted string: RFC 9211 §2.8, RFC 9651 §3.3.3",
        arguments: [
            ("disk-full", "disk-full"), ("a/b:c", "a/b:c"), ("*", "*"), ("disk full", "\"disk full\""), ("", "\"\""),
            ("5xx", "\"5xx\""), ("say \"no\" \\", "\"say \\\"no\\\" \\\\\""), ("a\r\nb: ä", "\"a??b: ?\""),
        ])
    func detail(text: String, expected: String) {
        #expect(CacheStatus(.hit, detail: text).description == "reprise; hit; detail=\(expected)")
    }

    @Test("Numbers keep to 15 digits, and a detail to 256 characters: RFC 9651 §3.3.1")
    func extremesAreClamped() {
        #expect(CacheStatus(.hit, timeToLive: .max).description == "reprise; hit; ttl=999999999999999")
        #expect(CacheStatus(.hit, timeToLive: .min).description == "reprise; hit; ttl=-999999999999999")
        let long = CacheStatus(.hit, detail: String(repeating: "a", count: 65_536)).description
        #expect(long == "reprise; hit; detail=" + String(repeating: "a", count: 256))
    }

    @Test("The cache closest to the user comes last: RFC 9211 §2")
    func appendsToTheList() {
        let hit = CacheStatus(.hit)
        #expect(hit.appended(to: nil) == "reprise; hit")
        #expect(hit.appended(to: "") == "reprise; hit")
        #expect(
            hit.appended(to: "OriginCache; hit; ttl=1100, \"CDN, Inc\"; fwd=uri-miss")
                == "OriginCache; hit; ttl=1100, \"CDN, Inc\"; fwd=uri-miss, reprise; hit")
        #expect(hit.appended(to: "Bad; detail=\"open") == "reprise; hit")
        #expect(hit.appended(to: String(repeating: "a", count: 65_536)) == "reprise; hit")
    }

    @Test("Fields keep one list, however many lines were received: RFC 9110 §5.3")
    func fieldsKeepOneList() throws {
        var fields = HTTPFields().adding("Cache-Status", "A; hit").adding("cache-status", "B; hit")
        fields.append(CacheStatus(.hit))
        let name = try #require(HTTPField.Name("Cache-Status"))
        #expect(fields[values: name] == ["A; hit, B; hit, reprise; hit"])
    }
}
