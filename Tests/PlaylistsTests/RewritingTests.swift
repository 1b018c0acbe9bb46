import Playlists
import TestLimits
import Testing

/// Cases 1 to 37 of the list of playlists that a rewriting proxy must pass, as far as the text decides them.
@Suite("Rewriting", .limit(minutes: 1)) struct RewritingTests {
    @Test("Case 1: relative links stay", arguments: ["seg1.ts", "../y/seg.ts?k=v", "../../s.ts", "?k=v"])
    func relativeLinksStay(uri: String) throws {
        #expect(try rewrittenLine(uri) == uri)
    }

    @Test(
        "Cases 2 to 6: links that would leave the proxy are written as its paths",
        arguments: [
            ("https://a.example/v/x/seg1.ts", "/https/a.example/v/x/seg1.ts"),
            ("http://b.example:8080/s.ts", "/http/b.example:8080/s.ts"),
            ("//b.example/s.ts", "/https/b.example/s.ts"),
            ("/root/s.ts", "/https/a.example/root/s.ts"),
            ("../../../../s.ts", "/https/a.example/s.ts"),
        ])
    func leavingLinksAreRewritten(uri: String, expected: String) throws {
        #expect(try rewrittenLine(uri) == expected)
    }

    @Test("Case 7: behind a redirect, the final URL is the base")
    func finalURLIsTheBase() throws {
        let line = try rewrittenLine("s.ts", url: "https://c.example/z/l.m3u8", isRedirected: true)
        #expect(line == "/https/c.example/z/s.ts")
    }

    @Test("Case 9: only the URI of a key changes")
    func onlyTheURIChanges() throws {
        let key = "#EXT-X-KEY:METHOD=AES-128, URI=\"https://k.example/k?r=52\",IV=0xAbC,X-MINE=\"é\" \n"
        let expected = key.split(separator: "https://").joined(separator: "/https/")
        #expect(try rewritten("#EXTM3U\n" + key) == "#EXTM3U\n" + expected)
    }

    @Test(
        "Cases 10 and 11: other schemes and user information stay, and say why",
        arguments: [
            ("skd://key", LinkTarget.Reason.scheme("skd")), ("data:text/plain;base64,AAAA", .scheme("data")),
            ("urn:uuid:1", .scheme("urn")), ("file:///etc/passwd", .scheme("file")),
            ("JavaScript:alert(1)", .scheme("javascript")), ("https://user:pw@a.example/s.ts", .userInformation),
            ("//u@a.example/s.ts", .userInformation), ("https:///s.ts", .noHost), ("http:s.ts", .noHost),
        ])
    func foreignLinksStay(uri: String, reason: LinkTarget.Reason) throws {
        #expect(try rewrittenLine(uri) == uri)
        let list = try hls("#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI=\"\(uri)\"\n")
        let link = try #require(list.links.first)
        #expect(list.target(of: link, base: URIReference(listURL)) == .leftAlone(reason))
    }

    @Test("Case 12: commas and URI= inside quoted strings are text")
    func quotedTextIsText() throws {
        let list = try hls(
            """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,NAME="a,URI=\\"x,URI='y'",GROUP-ID="g,h",URI="a,b.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,NAME="English, URI=https://c/",GROUP-ID="g",URI="https://b/a,b.m3u8",X-URI="z"
            """)
        #expect(spans(.hls(list)).last == "rendition https://b/a,b.m3u8")
        #expect(list.links.filter { $0.kind == .rendition }.count == 2)
        #expect(list.multivariant.renditions[1].name == "English, URI=https://c/")
    }

    @Test("Case 13: attributes are known by their whole names; interstitial assets become absolute")
    func wholeNames() throws {
        let text = """
            #EXTM3U
            #EXT-X-DATERANGE:ID="1",CLASS="com.apple.hls.interstitial",X-ASSET-URI="ad.m3u8",X-ASSET-LIST="/l.json"
            #EXT-X-DATERANGE:ID="2",CLASS="com.apple.hls.preload",X-URI="https://b/x.mp4",X-MY-URI="https://b/y"
            #EXT-X-CONTENT-STEERING:SERVER-URI="https://s/m.json",URI="https://b/no"

            """
        let list = try hls(text)
        #expect(
            spans(.hls(list)) == [
                "interstitialAsset ad.m3u8", "interstitialList /l.json", "preload https://b/x.mp4",
                "steering https://s/m.json",
            ])
        let edited = try rewritten(text)
        #expect(edited.contains("X-ASSET-URI=\"http://127.0.0.1:8090/https/a.example/v/x/ad.m3u8\""))
        #expect(edited.contains("X-ASSET-LIST=\"/https/a.example/l.json\""))
        #expect(edited.contains("X-URI=\"/https/b/x.mp4\",X-MY-URI=\"https://b/y\""))
        #expect(edited.contains("SERVER-URI=\"/https/s/m.json\",URI=\"https://b/no\""))
    }

    @Test("Cases 14 and 15: rendition reports stay relative; a hint and the part it becomes read alike")
    func lowLatencyLinks() throws {
        let text = """
            #EXTM3U
            #EXT-X-PART:DURATION=0.33,URI="https://b/p1.mp4?s={1}"
            #EXT-X-PRELOAD-HINT:TYPE=PART,URI="https://b/p1.mp4?s={1}"
            #EXT-X-RENDITION-REPORT:URI="https://a.example/v/y/l.m3u8",LAST-MSN=3

            """
        let edited = try rewritten(text)
        #expect(edited.components(of: "\"/https/b/p1.mp4?s={1}\"") == 2)
        #expect(edited.contains("URI=\"/https/a.example/v/y/l.m3u8\""))
    }

    @Test("Cases 19 and 20: every kind of line end stays, and each of them ends a line")
    func lineEndsStay() throws {
        let text =
            "#EXTM3U\r\n#EXTINF:4,\rhttps://b/1.ts\r#EXTINF:4,\n\nhttps://b/2.ts\r\n\r\r\n#EXTINF:4,\r\n  https://b/3.ts \t"
        let expected = text.split(separator: "https://b", omittingEmptySubsequences: false).joined(
            separator: "/https/b")
        #expect(try rewritten(text) == expected)
        #expect(try hls(text).media.segments.count == 3)
    }

    @Test(
        "Case 21: what stands before #EXTM3U stays",
        arguments: ["\u{FEFF}", " \t", "\r\n\n", "# a comment\n\n", "\u{FEFF}\n #x\r"])
    func precedingTextStays(prefix: String) throws {
        let expected = prefix + mediaList("/https/b/s.ts")
        #expect(try rewritten(prefix + mediaList("https://b/s.ts")) == expected)
    }

    @Test("Case 22: comments and titles are no links")
    func commentsAreNoLinks() throws {
        let text =
            "#EXTM3U\n# https://b/1.ts\n#https://b/2.ts\n#EXTINF:4,https://b/3.ts\ns.ts\n#EXT-X-UNKNOWN:URI=\"https://b/4\"\n"
        #expect(try rewritten(text) == text)
        #expect(try spans(.hls(hls(text))) == ["segment s.ts"])
    }

    @Test("Cases 23 and 24: the URI of a variant is the next line that is no comment; without one there is no link")
    func variantLines() throws {
        let list = try hls(
            "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n\n# c\n#EXT-X-FOO\nv.m3u8\n#EXT-X-STREAM-INF:BANDWIDTH=2")
        #expect(spans(.hls(list)) == ["variant v.m3u8"])
        #expect(list.multivariant.variants.map(\.bandwidth) == [1, 2])
        #expect(list.multivariant.variants[1].link == nil && list.multivariant.variants[1].uriLine == nil)
        var editor = PlaylistEditor(list.bytes)
        try editor.remove(list.multivariant.variants[0].tagLine)
        try editor.remove(try #require(list.multivariant.variants[0].uriLine))
        #expect(
            String(decoding: try editor.edited(), as: UTF8.self)
                == "#EXTM3U\n\n# c\n#EXT-X-FOO\n#EXT-X-STREAM-INF:BANDWIDTH=2")
    }

    @Test("Case 30: queries and escapes stay letter for letter")
    func escapesStay() throws {
        let path = "/v/seg%20a%2Fb.ts?sig=AbC%2B%3d&x=%zz|'{}^"
        #expect(try rewrittenLine("https://b.example" + path) == "/https/b.example" + path)
    }

    @Test("Case 31: what a request line cannot carry is percent-encoded, where a link is rewritten")
    func nonASCIIIsEncoded() throws {
        #expect(try rewrittenLine("séquence 1.ts") == "séquence 1.ts")
        #expect(try rewrittenLine("/séquence 1.ts") == "/https/a.example/s%C3%A9quence%201.ts")
    }

    @Test("Case 32: bytes that are not UTF-8 stay")
    func latin1Stays() throws {
        let bytes = Array("#EXTM3U\n#EXTINF:4,Caf".utf8) + [0xE9, 0x0A] + Array("https://b/caf".utf8) + [0xE9, 0x0A]
        let list = try HLSPlaylist(bytes)
        var editor = PlaylistEditor(bytes)
        try editor.replace(list.links[0], with: "/x")
        #expect(try editor.edited() == Array("#EXTM3U\n#EXTINF:4,Caf".utf8) + [0xE9, 0x0A] + Array("/x\n".utf8))
        #expect(list.reference(of: list.links[0]).text == "https://b/caf%E9")
    }

    @Test("Case 33: links with control characters stay; a line end ends a quoted string")
    func controlCharactersStay() throws {
        for uri in ["https://b/a\u{0}b", "https://b/\u{7F}", "https://b/a\tb"] {
            #expect(try rewrittenLine(uri) == uri)
        }
        let text = "#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI=\"https://b/\r\nhttps://b/k\"\n"
        let list = try hls(text)
        #expect(spans(.hls(list)) == ["segment https://b/k\""])
        #expect(list.problems.map(\.code) == [.malformedAttributes])
    }

    @Test("Case 34: a fragment is no part of what is fetched")
    func fragments() throws {
        let list = try hls(mediaList("s.ts#t=1"))
        #expect(try rewrittenLine("s.ts#t=1") == "s.ts#t=1")
        #expect(list.reference(of: list.links[0]).withoutFragment.text == "s.ts")
    }

    @Test("Case 35: encoded dots and slashes are ordinary names", arguments: ["..%2f..%2fetc", "%2e%2e/x"])
    func encodedDots(uri: String) throws {
        #expect(try rewrittenLine(uri) == uri)
        let target = URIReference("/" + uri).resolved(against: URIReference(listURL))
        #expect(target.text == "https://a.example/" + uri)
    }

    @Test("Case 37: a link to the proxy resolves to itself, so that the caller can tell")
    func proxyLinks() throws {
        let list = try hls(mediaList("http://127.0.0.1:8090/https/b/s.ts"))
        guard case .fetchable(let target) = list.target(of: list.links[0], base: URIReference(listURL)) else {
            Issue.record("not resolved")
            return
        }
        #expect(target.authority == "127.0.0.1:8090" && target.path == "/https/b/s.ts")
    }

    @Test("A rewritten list has no link left to rewrite")
    func rewritingTwice() throws {
        let once = try rewritten(mediaList("https://b/s.ts", before: "#EXT-X-MAP:URI=\"//c/i.mp4\"\n"))
        let again = try rewritten(once, url: "http://127.0.0.1:8090/https/a.example/v/x/list.m3u8")
        let paths = again.split(separator: "http/127.0.0.1:8090/").joined()
        #expect(paths == once)
    }
}

extension String {
    /// How often `text` occurs.
    func components(of text: String) -> Int { split(separator: text, omittingEmptySubsequences: false).count - 1 }
}
