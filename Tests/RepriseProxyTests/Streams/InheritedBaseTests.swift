import HTTPTypes
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// Links of an MPD that are resolved by the representations which inherit them, each against its own base (cases 71
/// and 73).
@Suite(.limit(minutes: 1)) struct InheritedBaseTests {
    private static let proxy = "http://localhost"

    private static func served(_ text: String, finalURL: String? = nil) async throws -> String {
        try await StreamCaseTests.served(
            text, at: "https://a.example/d/l.mpd", finalURL: finalURL,
            fields: [.contentType: "application/dash+xml"])
    }

    /// An MPD of one set with `pattern`, and a representation for each text in `bases`.
    private static func mpd(_ pattern: String, _ bases: [String]) -> String {
        "<MPD><Period><AdaptationSet><SegmentTemplate media=\"\(pattern)\"/>"
            + bases.map { "<Representation>\($0)</Representation>" }.joined() + "</AdaptationSet></Period></MPD>"
    }

    private static func base(_ url: String) -> String { "<BaseURL>\(url)</BaseURL>" }

    @Test("a pattern keeps its form where the bases of its representations lead through the proxy")
    func relativePattern() async throws {
        let text = Self.mpd("$Number$.m4s", [Self.base("https://b.example/v/"), Self.base("w/"), ""])
        let expected = text.replacing("https://b.example", with: "\(Self.proxy)/https/b.example")
        #expect(try await Self.served(text) == expected)
        // After a redirect one base for all of them says where the MPD was found.
        #expect(
            try await Self.served(text, finalURL: "https://c.example/e/l.mpd?t=1")
                == expected.replacing(
                    "<MPD>", with: "<MPD>" + Self.base("\(Self.proxy)/https/c.example/e/")))
    }

    @Test("a base without a path gets one, so that what follows it is no host")
    func baseWithoutPath() async throws {
        let text = Self.mpd("v/$Number$.m4s", [Self.base("https://b.example")])
        #expect(
            try await Self.served(text)
                == text.replacing("https://b.example", with: "\(Self.proxy)/https/b.example/"))
    }

    @Test("a pattern that leaves its base is written for the only base there is")
    func oneBase() async throws {
        for pattern in ["/s/$Number$.m4s", "../../../s/$Number$.m4s"] {
            let text = Self.mpd(pattern, [Self.base("https://b.example/v/w/")])
            #expect(
                try await Self.served(text)
                    == text.replacing("https://b.example", with: "\(Self.proxy)/https/b.example")
                    .replacing(pattern, with: "\(Self.proxy)/https/b.example/s/$Number$.m4s"))
        }
    }

    @Test("a pattern that leaves several bases of one depth climbs to the host of each")
    func severalBases() async throws {
        let bases = [Self.base("https://b.example/v/"), Self.base("https://c.example/w/")]
        let text = Self.mpd("/s/$Number$.m4s", bases)
        #expect(
            try await Self.served(text)
                == text.replacing("https://", with: "\(Self.proxy)/https/")
                .replacing("\"/s/", with: "\"../s/"))
    }

    @Test("alternatives of one level stay alternatives")
    func alternatives() async throws {
        let bases = Self.base("https://b.example/") + Self.base("https://c.example")
        let text = Self.mpd("/s/$Number$.m4s", [""]).replacing("<MPD>", with: "<MPD>" + bases)
        #expect(
            try await Self.served(text)
                == text.replacing("https://b.example/", with: "\(Self.proxy)/https/b.example/")
                .replacing("https://c.example", with: "\(Self.proxy)/https/c.example/")
                .replacing("\"/s/", with: "\"./s/"))
        let inner = Self.mpd("$Number$.m4s", [Self.base("/rep/")]).replacing("<MPD>", with: "<MPD>" + bases)
        #expect(
            try await Self.served(inner)
                == inner.replacing("https://b.example/", with: "\(Self.proxy)/https/b.example/")
                .replacing("https://c.example", with: "\(Self.proxy)/https/c.example/")
                .replacing(">/rep/", with: ">./rep/"))
    }

    @Test("bases of different depths: the first counts")
    func severalDepths() async throws {
        let bases = [Self.base("https://b.example/v/"), Self.base("https://c.example/w/x/")]
        let text = Self.mpd("/s/$Number$.m4s", bases)
        #expect(
            try await Self.served(text)
                == text.replacing("https://", with: "\(Self.proxy)/https/")
                .replacing("\"/s/", with: "\"\(Self.proxy)/https/b.example/s/"))
    }

    @Test("a base in a CDATA section is a base")
    func section() async throws {
        let text = Self.mpd("/s/$Number$.m4s", [""]).replacing(
            "<MPD>", with: "<MPD><BaseURL><![CDATA[https://b.example/v/?a&b]]></BaseURL>")
        #expect(
            try await Self.served(text)
                == text.replacing(
                    "<![CDATA[https://b.example/v/?a&b]]>", with: "\(Self.proxy)/https/b.example/v/?a&amp;b"
                )
                .replacing("\"/s/", with: "\"\(Self.proxy)/https/b.example/s/"))
    }

    @Test("of a patch, links that name a host are written")
    func patch() async throws {
        let text = """
            <Patch xmlns="urn:mpeg:dash:schema:mpd-patch:2020"><add sel="/MPD"><BaseURL>https://b.example/</BaseURL>\
            <BaseURL>v/</BaseURL><Period><AdaptationSet><SegmentTemplate media="/s/$Number$.m4s"/></AdaptationSet>\
            </Period></add></Patch>
            """
        let served = try await StreamCaseTests.served(
            text, at: "https://a.example/d/patch", finalURL: "https://c.example/patch",
            fields: [.contentType: "application/dash-patch+xml"])
        #expect(served == text.replacing("https://b.example/", with: "\(Self.proxy)/https/b.example/"))
    }

    @Test("variables of the query are spelled out for a player that sent another query (case 28)")
    func queryVariables() async throws {
        let text = "#EXTM3U\n#EXT-X-DEFINE:QUERYPARAM=\"t\"\n#EXT-X-DEFINE:QUERYPARAM=\"q\"\n#EXTINF:4,\ns.ts?t={$t}\n"
        let url = "https://a.example/d/l.m3u8"
        for query in ["", "?t=outer"] {
            #expect(
                try await StreamCaseTests.served(text, at: url + query, finalURL: url + "?t=in%2Fner&q=%22")
                    == text.replacing("QUERYPARAM=\"t\"", with: "NAME=\"t\",VALUE=\"in/ner\""))
        }
        #expect(try await StreamCaseTests.served(text, at: url + "?t=outer") == text)
    }

    @Test("an MPD is known by its first element, wherever that is in the first 4,096 bytes")
    func lateRoot() async throws {
        try await ProxyBench.run { proxy async throws in
            for (length, isEdited) in [(100, true), (4_050, true), (5_000, false)] {
                let comment = "<!-- " + String(repeating: "-x", count: length / 2) + " -->"
                let text = "<?xml version=\"1.0\"?>\(comment)<MPD><BaseURL>https://b.example/</BaseURL></MPD>"
                let path = "/\(length)"
                proxy.bench.origin.set(
                    TestOrigin.Resource(.bytes(Array(text.utf8)), mediaType: "text/plain"), at: path)
                let body = String(decoding: try await proxy.get(path).body, as: UTF8.self)
                #expect((body != text) == isEdited, "\(length)")
                proxy.bench.origin.set(
                    TestOrigin.Resource(.bytes(Array(text.utf8)), mediaType: "application/dash+xml"),
                    at: path + ".mpd")
                let named = String(decoding: try await proxy.get(path + ".mpd").body, as: UTF8.self)
                #expect(named != text, "\(length)")
            }
        }
    }
}
