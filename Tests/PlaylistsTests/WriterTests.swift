import Playlists
import TestLimits
import Testing

/// What an export writes of a playlist: all that is known, and nothing else.
@Suite(.limit(minutes: 1)) struct WriterTests {
    /// What `text` becomes, all of whose links become `x0.ts`, `x1.ts` and so on, except those in `without`.
    private func written(_ text: String, without: Set<LinkKind> = []) throws -> String {
        let list = try hls(text)
        var names: [Int: String] = [:]
        for (index, link) in list.links.enumerated() where !without.contains(link.kind) {
            names[index] = "x\(index).ts"
        }
        return String(decoding: try list.written(links: names), as: UTF8.self)
    }

    private func media(_ lines: String...) -> String {
        "#EXTM3U\n#EXT-X-TARGETDURATION:4\n" + lines.map { $0 + "\n" }.joined()
    }

    // MARK: - HLS

    @Test("What is known stays as it is")
    func knownHLS() throws {
        let text = media(
            "#EXT-X-VERSION:7", "#EXT-X-MEDIA-SEQUENCE:3", "#EXT-X-PLAYLIST-TYPE:VOD", "#EXT-X-INDEPENDENT-SEGMENTS",
            "#EXT-X-START:TIME-OFFSET=-1.5,PRECISE=YES", "#EXT-X-DEFINE:NAME=\"a\",VALUE=\"b\"",
            "#EXT-X-KEY:METHOD=AES-128,URI=\"x0.ts\",IV=0x0123456789abcdef",
            "#EXT-X-MAP:URI=\"x1.ts\",BYTERANGE=\"10@0\"", "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00.5+01:00",
            "#EXT-X-BITRATE:900", "#EXT-X-BYTERANGE:5@10", "#EXTINF:3.96,A title, with a comma", "x2.ts",
            "#EXT-X-DISCONTINUITY", "#EXT-X-KEY:METHOD=NONE", "#EXT-X-GAP", "#EXTINF:4,", "x3.ts", "#EXT-X-ENDLIST")
        #expect(try written(text) == text)
        let master = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Ä, ö",LANGUAGE="de",DEFAULT=YES,CHANNELS="16/JOC",URI="x0.ts"
            #EXT-X-STREAM-INF:BANDWIDTH=900,CODECS="avc1.4d401f,mp4a.40.2",RESOLUTION=640x360,FRAME-RATE=29.97,\
            VIDEO-RANGE=PQ,AUDIO="a",CLOSED-CAPTIONS=NONE
            x1.ts
            #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=100,URI="x2.ts"

            """
        #expect(try written(master) == master)
    }

    @Test(
        "What is unknown, malformed or out of place is left out",
        arguments: [
            "#EXT-X-CUSTOM:URI=\"file:/etc/passwd\"", "# file:/etc/passwd", "#EXT-X-KEY:METHOD=AES-128,URI=file:/a",
            "#EXT-X-TARGETDURATION:file:/a", "#EXT-X-BYTERANGE:4@../a", "#EXT-X-BITRATE:/a",
            "#EXT-X-SESSION-KEY:METHOD=AES-128,URI=file:/a", "#EXT-X-SESSION-DATA:URI=file:/a",
            "#EXT-X-PROGRAM-DATE-TIME:file:///a", "#EXT-X-PREFETCH:file:/a", "#EXT-X-PART:URI=file:/a",
            "#EXT-X-PRELOAD-HINT:TYPE=MAP,URI=\"file:/a\"", "#EXT-X-RENDITION-REPORT:URI=\"file:/a\"",
            "#EXT-X-DATERANGE:ID=\"i\",X-ASSET-URI=\"file:/a\"", "#EXT-X-SKIP:URI=file:/a",
        ])
    func unknownHLS(line: String) throws {
        let known = media("#EXTINF:4,", "x.ts", "#EXT-X-ENDLIST")
        let kinds: Set<LinkKind> = [.key, .part, .preloadHint, .renditionReport, .interstitialAsset, .prefetch]
        let hostile = known.replacing("#EXTINF", with: line + "\n#EXTINF")
        guard try hls(hostile).kind == .media else {
            // A list of both kinds is none of segments.
            #expect(try !written(hostile, without: kinds.union([.sessionData, .sessionKey])).contains("/a"))
            return
        }
        let segment = try #require(try hls(hostile).links.firstIndex { $0.kind == .segment })
        #expect(try written(hostile, without: kinds) == known.replacing("x.ts", with: "x\(segment).ts"))
    }

    @Test("Unknown and unquoted attributes go, and so do characters that some parsers take for the end of a string")
    func attributes() throws {
        let text = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,X-URI="file:/a",GROUP-ID="a",NAME="b\\",LANGUAGE=",URI=file:/a,Z=",URI="a.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=9,PATH=/a,AUDIO="a\u{0}#EXT-X-KEY:URI=b"
            v.m3u8
            file:/a
            #EXTINF:4,
            file:/a
            #EXT-X-STREAM-INF:BANDWIDTH=1
            #EXT-X-STREAM-INF:BANDWIDTH="2"
            w.m3u8

            """
        #expect(
            try written(text) == """
                #EXTM3U
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="b",LANGUAGE=",URI=file:/a,Z=",URI="x0.ts"
                #EXT-X-STREAM-INF:BANDWIDTH=9,AUDIO="a#EXT-X-KEY:URI=b"
                x1.ts
                #EXT-X-STREAM-INF:BANDWIDTH=2
                x4.ts

                """)
    }

    @Test("Malformed durations count as unknown; blanks and blank lines are not kept")
    func tolerated() throws {
        #expect(
            try written("#EXTM3U\r\n\r\n  #EXT-X-TARGETDURATION: 4 \r\n#EXTINF:x/y\r\n a.ts\r\n")
                == media("#EXTINF:0,", "x0.ts"))
    }

    @Test("A map or a segment without a file ends the export: without it the rest does not play")
    func lacking() throws {
        let map = media("#EXT-X-MAP:URI=file:/a", "#EXTINF:4,", "x.ts")
        #expect(throws: PlaylistError.self) { try written(map) }
        #expect(throws: PlaylistError.self) { try written(media("#EXTINF:4,", "x.ts"), without: [.segment]) }
    }

    // MARK: - DASH

    /// What `text` becomes, all of whose links of segments become `x`, and whose representations are in `r/`.
    private func written(mpd text: String) throws -> String {
        let mpd = try MPD(Array(text.utf8))
        var writer = MPDWriter(mpd)
        for (index, link) in mpd.links.enumerated() {
            switch link.kind {
            case .mediaTemplate, .initializationTemplate, .segment, .map: writer.set("x", ofLink: index)
            default: break
            }
        }
        for path in mpd.paths {
            let set = mpd.periods[path.period].adaptationSets[path.adaptationSet]
            writer.setBase("r/", of: set.representations[path.representation])
        }
        return String(decoding: try writer.written(), as: UTF8.self)
    }

    private static let known = """
        <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" profiles="urn:mpeg:dash:profile:isoff-live:2011">
        <Period id="1" duration="PT8S"><AdaptationSet contentType="video" par='16:9'>
        <Role schemeIdUri="urn:mpeg:dash:role:2011" value="main"/><Label>A &amp; B</Label>
        <SegmentTemplate timescale="10" media="x" initialization="x"><SegmentTimeline><S t="0" d="40" r="1"/>\
        </SegmentTimeline></SegmentTemplate>
        <Representation id="../v" bandwidth="9" width="2"><BaseURL>r/</BaseURL></Representation></AdaptationSet>
        </Period></MPD>
        """

    @Test("Known elements and attributes stay as they are")
    func knownDASH() throws {
        #expect(try written(mpd: Self.known) == Self.known)
    }

    @Test(
        "Elements and attributes that are unknown, foreign or out of place are left out",
        arguments: [
            ("<Role", "<x:SegmentTemplate xmlns:x='urn:x' media='file:/a' initialization='file:/a'/>"),
            ("<Role", "<x:Representation xmlns:x='urn:x'><x:BaseURL>file:/a</x:BaseURL></x:Representation>"),
            ("<Role", "<BaseURL>file:/a</BaseURL>"), ("<Role", "<!-- <BaseURL>file:/a</BaseURL> -->"),
            ("<Role", "<?x <BaseURL>file:/a</BaseURL>?>"), ("<Role", "<Unknown><BaseURL>file:/a</BaseURL></Unknown>"),
            ("<Role", "<EssentialProperty schemeIdUri='urn:x' value='file:/a'/>"),
            ("<Role", "<SupplementalProperty schemeIdUri='urn:mpeg:dash:fallback:2016' value='a.mpd'/>"),
            ("<Period", "<Location>file:/a</Location>"), ("<Period", "<UTCTiming value='file:/a'/>"),
            ("<Period", "<SegmentTemplate media='file:/a'/>"), ("</Period", "file:/a"),
            ("</Period", "<AdaptationSet2 xmlns:l='http://www.w3.org/1999/xlink' l:href='file:/a'/>"),
            (" type=", " xmlns:l='urn:l' l:schemaLocation='file:/a'"), (" contentType", " base='file:/a'"),
            (" timescale", " index='file:/a' bitstreamSwitching='file:/a' xml:base='file:/a'"),
        ])
    func unknownDASH(place: String, addition: String) throws {
        let text = Self.known.replacing(place, with: addition + place, maxReplacements: 1)
        #expect(text != Self.known)
        // Text takes the blanks around it along.
        #expect(try written(mpd: text).filter { !$0.isNewline } == Self.known.filter { !$0.isNewline })
    }

    @Test("The encoding is ours, prefixes go, empty representations get an end tag, and references stay whole")
    func normalized() throws {
        let text = """
            <?xml version="1.0" encoding="UTF-7"?>
            <m:MPD xmlns:m="urn:other"><m:Period><m:AdaptationSet lang="&#x22;&lt;&unknown;"><m:Representation id='"'/>\
            </m:AdaptationSet></m:Period></m:MPD>
            """
        #expect(
            try written(mpd: text) == """
                <?xml version="1.0" encoding="UTF-8"?>
                <MPD xmlns="urn:mpeg:dash:schema:mpd:2011"><Period><AdaptationSet lang="&quot;&lt;&amp;unknown;">\
                <Representation id='"'><BaseURL>r/</BaseURL></Representation></AdaptationSet></Period></MPD>
                """)
        #expect(throws: PlaylistError.self) { try written(mpd: "<Patch/>") }
    }
}
