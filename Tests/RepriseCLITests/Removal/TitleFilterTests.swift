import Foundation
import Reprise
import TestLimits
import Testing

@testable import RepriseCLI

/// Which URLs a host, a prefix and an age are about, and what is refused.
@Suite(.limit(minutes: 1)) struct TitleFilterTests {
    private static func matches(
        host: String? = nil, prefix: String? = nil, tag: String? = nil, olderThan: Int64? = nil, _ url: String,
        taggedAs titleTag: String? = nil, unusedFor seconds: Double? = 0
    ) throws -> Bool {
        let filter = try #require(try TitleFilter(host: host, prefix: prefix, tag: tag, olderThan: olderThan))
        let now = Date(timeIntervalSince1970: 1_000_000)
        return filter.matches(
            try ResourceURL(url), tag: titleTag, lastUsed: seconds.map { now.addingTimeInterval(-$0) }, now: now)
    }

    @Test(
        "Hosts compare without regard to case (RFC 9110 §4.2.3); without a port all ports are meant",
        arguments: [
            ("media.example", "http://media.example/a", true), ("MEDIA.example", "https://media.EXAMPLE:8443/a", true),
            ("media.example", "http://x.media.example/a", false), ("media.example", "http://xmedia.example/a", false),
            ("media.example", "http://media.example.evil/a", false), ("edia.example", "http://media.example/a", false),
            (".example", "http://media.example/a", true), (".Example", "http://example/a", true),
            (".example", "http://xexample/a", false),
            ("media.example:80", "http://media.example/a", true),
            ("media.example:443", "http://media.example/a", false),
            ("media.example:443", "https://media.example/a", true),
            (".example:8080", "http://a.example:8080/a", true), (".example:8080", "http://a.example/a", false),
            ("2001:db8::7", "http://[2001:db8::7]:81/a", true), ("[2001:db8::7]", "http://[2001:db8::7]/a", true),
            ("[2001:db8::7]:81", "http://[2001:db8::7]:81/a", true),
            ("[2001:db8::7]:81", "http://[2001:db8::7]/a", false),
            ("127.0.0.1", "http://127.0.0.1:4000/a", true), ("127.0.0.1:4000", "http://127.0.0.1:4001/a", false),
            ("media.example", "http://other.example/?media.example", false),
        ]) func hosts(host: String, url: String, isMeant: Bool) throws
    {
        #expect(try Self.matches(host: host, url) == isMeant)
    }

    @Test(
        "A prefix is whole segments of a path as it is spelled; the query does not count",
        arguments: [
            ("https://a.example/films", "https://a.example/films", true),
            ("https://a.example/films", "https://a.example/films?token=1", true),
            ("https://a.example/films", "https://a.example/films/x/y.mp4", true),
            ("https://a.example/films", "https://a.example/films2/x.mp4", false),
            ("https://a.example/films", "https://a.example/film", false),
            ("https://a.example/films", "https://a.example/?/films", false),
            ("https://a.example/films/", "https://a.example/films/x.mp4", true),
            ("https://a.example/films/", "https://a.example/films", false),
            ("https://a.example/films/", "https://a.example/films2/", false),
            ("https://a.example/films", "https://a.example/Films/x.mp4", false),
            ("https://a.example/b%20c", "https://a.example/b%20c/x.mp4", true),
            ("https://a.example/b%20c", "https://a.example/b+c/x.mp4", false),
            ("https://A.example", "https://a.example/x", true), ("https://a.example:443/", "https://a.example/x", true),
            ("https://a.example", "https://a.example.evil/x", false),
            ("https://a.example", "https://b.a.example/x", false),
            ("https://a.example/", "http://a.example/x", false),
            ("https://a.example/", "https://a.example:8443/x", false),
        ]) func prefixes(prefix: String, url: String, isMeant: Bool) throws
    {
        #expect(try Self.matches(prefix: prefix, url) == isMeant)
    }

    @Test("Of several conditions all must hold") func together() throws {
        let url = "https://a.example/films/x.mp4"
        #expect(try Self.matches(host: "a.example", prefix: "https://a.example/films", url))
        #expect(try !Self.matches(host: "b.example", prefix: "https://a.example/films", url))
        #expect(try Self.matches(host: "a.example", tag: "news", url, taggedAs: "news"))
        #expect(try !Self.matches(host: "a.example", tag: "news", url, taggedAs: "News"))
        #expect(try !Self.matches(tag: "news", url, taggedAs: nil))
        #expect(try !Self.matches(tag: "news", olderThan: 60, url, taggedAs: "news", unusedFor: 59))
        #expect(try Self.matches(tag: "news", olderThan: 60, url, taggedAs: "news", unusedFor: 61))
    }

    @Test("An age is exceeded, not reached; what was never stored has none") func ages() throws {
        for (seconds, isMeant) in [(nil, false), (0, false), (60, false), (60.5, true)] as [(Double?, Bool)] {
            #expect(try Self.matches(olderThan: 60, "https://a.example/x", unusedFor: seconds) == isMeant)
        }
    }

    @Test("Whatever is said at all is checked; nothing is no filter") func nothing() throws {
        #expect(try TitleFilter(host: nil, prefix: nil, tag: nil, olderThan: nil) == nil)
    }

    @Test(
        "What is no host is refused",
        arguments: [
            "", ".", "*", "*.example", "http://a.example", "a.example/films", "a.example:", "a.example:0",
            "a.example:65536", "a.example:+80", "a.example:80:80", "a..example", "a example", "a.example\n", "[::1",
            "[::1]x", "[::1]:", "[a.example", "::1:80:", "1.2.3", "0x7f", "..example", "a.example,b.example",
            "\u{202E}a.example", "user@a.example",
        ]) func badHosts(host: String) throws
    {
        let error = #expect(throws: RepriseError.self) {
            try TitleFilter(host: host, prefix: nil, tag: nil, olderThan: nil)
        }
        #expect(error?.code == .invalidArgument)
    }

    @Test(
        "What is no prefix is refused",
        arguments: [
            "", "a.example", "/films", "https://", "https:///films", "ftp://a.example/", "https://a.example/?x",
            "https://a.example/#", "https://a.example/films#x", "https://user:secret@a.example/",
            "https://a.example/ x",
            "https://a.example:0/", "file:///", "*",
        ]) func badPrefixes(prefix: String) throws
    {
        let error = #expect(throws: RepriseError.self) {
            try TitleFilter(host: nil, prefix: prefix, tag: nil, olderThan: nil)
        }
        #expect(error.map { [.invalidArgument, .invalidURL].contains($0.code) } == true)
        #expect(error?.message.contains("secret") == false)
    }

    @Test("Ages that are none, and empty tags, are refused", arguments: [0, -1, Int64.min, .max]) func badAges(
        age: Int64
    ) throws {
        #expect(throws: RepriseError.self) { try TitleFilter(host: nil, prefix: nil, tag: nil, olderThan: age) }
        #expect(throws: RepriseError.self) { try TitleFilter(host: nil, prefix: nil, tag: "", olderThan: nil) }
    }
}
