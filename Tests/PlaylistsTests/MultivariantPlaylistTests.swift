import Playlists
import TestLimits
import Testing

@Suite("Multivariant playlists", .limit(minutes: 1)) struct MultivariantPlaylistTests {
    @Test("Variants and renditions give their attributes")
    func attributes() throws {
        let list = try hls(
            """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,CHANNELS="2",URI="en.m3u8"
            #EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID="c",NAME="CC",INSTREAM-ID="CC1"
            #EXT-X-STREAM-INF:BANDWIDTH=2000000,AVERAGE-BANDWIDTH=1500000,CODECS="avc1.4d401f,mp4a.40.2",\
            RESOLUTION=1280x720,FRAME-RATE=29.97,AUDIO="a",SUBTITLES="s",CLOSED-CAPTIONS="c",PATHWAY-ID="p",SCORE=1.5
            720.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=1,CLOSED-CAPTIONS=NONE,RESOLUTION=x720
            low.m3u8
            #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=5,URI="i.m3u8"
            #EXT-X-IMAGE-STREAM-INF:BANDWIDTH=5,RESOLUTION=320x180,URI="t.m3u8"
            #EXT-X-SESSION-DATA:DATA-ID="d",URI="d.json"
            #EXT-X-SESSION-DATA:DATA-ID="e",VALUE="v"
            #EXT-X-SESSION-KEY:METHOD=AES-128,URI="k"
            #EXT-X-CONTENT-STEERING:SERVER-URI="s.json",PATHWAY-ID="p"
            """)
        let multivariant = list.multivariant
        #expect(list.kind == .multivariant)
        let variant = try #require(multivariant.variants.first)
        #expect(variant.bandwidth == 2_000_000 && variant.averageBandwidth == 1_500_000 && variant.score == 1.5)
        #expect(variant.codecs == "avc1.4d401f,mp4a.40.2" && variant.frameRate == 29.97 && variant.pathwayID == "p")
        #expect(variant.resolution?.width == 1280 && variant.resolution?.height == 720)
        #expect(variant.audioGroup == "a" && variant.subtitlesGroup == "s" && variant.closedCaptionsGroup == "c")
        #expect(multivariant.variants[1].hasNoClosedCaptions && multivariant.variants[1].closedCaptionsGroup == nil)
        #expect(multivariant.variants[1].resolution == nil)
        let rendition = try #require(multivariant.renditions.first)
        #expect(rendition.kind == .audio && rendition.groupID == "a" && rendition.language == "en")
        #expect(rendition.isDefault && rendition.isAutoselect && !rendition.isForced && rendition.channels == "2")
        #expect(multivariant.renditions[1].kind == .closedCaptions && multivariant.renditions[1].link == nil)
        #expect(multivariant.sessionData.map(\.id) == ["d", "e"] && multivariant.sessionData[1].link == nil)
        #expect(multivariant.sessionKeys.count == 1 && multivariant.iFrameVariants.count == 1)
        #expect(multivariant.imageVariants.count == 1 && multivariant.steeringLines.count == 1)
        #expect(
            spans(.hls(list)) == [
                "rendition en.m3u8", "variant 720.m3u8", "variant low.m3u8", "iFrameVariant i.m3u8",
                "imageVariant t.m3u8", "sessionData d.json", "sessionKey k", "steering s.json",
            ])
    }

    @Test("Case 66: an attribute can be taken out with the comma before it")
    func attributesHavePlaces() throws {
        let list = try hls("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1,SUBTITLES=\"s,t\",AUDIO=\"a\"\nv\n")
        let subtitles = try #require(
            list.multivariant.variants[0].attributes.first { list.text($0.name) == "SUBTITLES" })
        #expect(list.text(subtitles.whole) == "SUBTITLES=\"s,t\"" && list.text(subtitles.value) == "s,t")
        var editor = PlaylistEditor(list.bytes)
        try editor.remove(subtitles.whole.lowerBound - 1..<subtitles.whole.upperBound)
        #expect(
            String(decoding: try editor.edited(), as: UTF8.self)
                == "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO=\"a\"\nv\n")
    }

    @Test(
        "Malformed attribute lists are read as far as they go, and noted",
        arguments: [
            ("URI=\"a\" x,NAME=\"n\"", ["a"]), ("NAME,URI=\"a\"", ["a"]), ("URI=a", []), ("URI=\"a", []),
            (" URI=\"a\" , URI=\"b\"x", ["a", "b"]), ("=,URI=\"a\"", ["a"]), ("uri=\"a\",URI=\"\"x", []),
            ("X=\"\"\"\",URI=\"a\"", ["a"]),
        ])
    func malformedAttributes(attributes: String, links: [String]) throws {
        let list = try hls("#EXTM3U\n#EXT-X-MEDIA:\(attributes)\n")
        #expect(spans(.hls(list)) == links.map { "rendition \($0)" })
        #expect(list.problems.first?.code == .malformedAttributes && list.problems.first?.line == 2)
    }
}
