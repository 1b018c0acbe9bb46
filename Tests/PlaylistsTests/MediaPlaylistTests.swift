import Playlists
import TestLimits
import Testing

@Suite("Media playlists", .limit(minutes: 1)) struct MediaPlaylistTests {
    @Test("A list on demand gives its facts and segments")
    func onDemand() throws {
        let list = try hls(
            """
            #EXTM3U
            #EXT-X-VERSION:7
            #EXT-X-TARGETDURATION:6
            #EXT-X-MEDIA-SEQUENCE:7
            #EXT-X-DISCONTINUITY-SEQUENCE:2
            #EXT-X-PLAYLIST-TYPE:VOD
            #EXT-X-INDEPENDENT-SEGMENTS
            #EXT-X-START:TIME-OFFSET=-4.5,PRECISE=YES
            #EXT-X-MAP:URI="i1.mp4",BYTERANGE="720@0"
            #EXT-X-BITRATE:800
            #EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z
            #EXTINF:5.005,Title
            1.m4s
            #EXT-X-DISCONTINUITY
            #EXT-X-MAP:URI="i2.mp4"
            #EXTINF:6
            #EXT-X-GAP
            2.m4s
            #EXT-X-ENDLIST
            """)
        #expect(list.kind == .media && list.version == 7 && list.hasIndependentSegments && list.problems.isEmpty)
        #expect(list.start?.offset == -4.5 && list.start?.isPrecise == true)
        let media = list.media
        #expect(media.targetDuration == 6 && media.reloadInterval == 3 && media.type == .vod && !media.isLive)
        #expect(media.segments.map(\.sequence) == [7, 8] && media.nextSequence == 9)
        #expect(media.segments.map(\.discontinuitySequence) == [2, 3] && media.segments[1].isDiscontinuous)
        #expect(media.segments.map(\.duration) == [5.005, 6] && abs(media.duration - 11.005) < 1e-9)
        #expect(media.segments.map(\.map) == [0, 1] && media.segments.map(\.isGap) == [false, true])
        #expect(media.segments.map(\.bitrate) == [800, 800])
        #expect(media.segments[0].programDateTime.map(list.text) == "2026-01-01T00:00:00Z")
        #expect(list.links[media.maps[0].link].extent == .range(0..<720))
        #expect(list.text(media.segments[1].uriLine) == "2.m4s\n")
    }

    @Test(
        "Case 16: a range without an offset continues the segment before it, if that has the same URI",
        arguments: [
            ("#EXT-X-BYTERANGE:1000@0\n#EXTINF:4,\na.ts\n", ByteExtent.range(1000..<1500)),
            ("#EXT-X-BYTERANGE:1000@0\n#EXTINF:4,\nb.ts\n", .unplaced(count: 500)),
            ("#EXTINF:4,\na.ts\n", .unplaced(count: 500)), ("", .unplaced(count: 500)),
            ("#EXT-X-MAP:URI=\"a.ts\",BYTERANGE=\"1000@0\"\n", .unplaced(count: 500)),
            ("#EXT-X-BYTERANGE:9007199254740992@0\n#EXTINF:4,\na.ts\n", .unplaced(count: 500)),
        ])
    func implicitOffsets(before: String, expected: ByteExtent) throws {
        let list = try hls("#EXTM3U\n\(before)#EXTINF:4,\n#EXT-X-BYTERANGE:500\na.ts\n")
        #expect(list.links.last?.extent == expected)
        #expect(list.problems.map(\.code) == (expected == .range(1000..<1500) ? [] : [.unplacedRange]))
    }

    @Test("Cases 17 and 18: ranges of one file, and the file as a whole, are told apart")
    func rangesOfOneFile() throws {
        let list = try hls(
            "#EXTM3U\n#EXTINF:4,\n#EXT-X-BYTERANGE:10@5\na\n#EXTINF:4,\n#EXT-X-BYTERANGE:10\na\n#EXTINF:4,\na\n")
        #expect(list.links.map(\.extent) == [.range(5..<15), .range(15..<25), .whole])
    }

    @Test("Cases 52 to 58: what a low-latency list says")
    func lowLatency() throws {
        let list = try hls(
            """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,CAN-SKIP-UNTIL=24.0,PART-HOLD-BACK=1.0,HOLD-BACK=12.5
            #EXT-X-PART-INF:PART-TARGET=0.33334
            #EXT-X-MEDIA-SEQUENCE:100
            #EXT-X-SKIP:SKIPPED-SEGMENTS=10
            #EXTINF:4.0,
            a.mp4
            #EXT-X-PART:DURATION=0.33334,URI="b.mp4",BYTERANGE="100@0",INDEPENDENT=YES
            #EXT-X-PART:DURATION=0.33334,URI="b.mp4",BYTERANGE="50",GAP=YES
            #EXTINF:0.66668,
            b.mp4
            #EXT-X-PART:DURATION=0.33334,URI="b.mp4",BYTERANGE="50"
            #EXT-X-PRELOAD-HINT:TYPE=PART,URI="c.mp4",BYTERANGE-START=200
            #EXT-X-PRELOAD-HINT:TYPE=MAP,URI="i.mp4",BYTERANGE-START=0,BYTERANGE-LENGTH=9
            #EXT-X-RENDITION-REPORT:URI="../audio/l.m3u8",LAST-MSN=112,LAST-PART=0
            """)
        let media = list.media
        #expect(media.hasLowLatency && media.isLive && media.partTarget == 0.33334)
        #expect(media.serverControl?.canBlockReload == true && media.serverControl?.canSkipUntil == 24)
        #expect(media.serverControl?.partHoldBack == 1 && media.serverControl?.holdBack == 12.5)
        #expect(media.serverControl?.attributes.map { list.text($0.name) }.first == "CAN-BLOCK-RELOAD")
        #expect(media.skippedSegments == 10 && media.segments.map(\.sequence) == [110, 111])
        #expect(media.segments.map(\.parts) == [0..<0, 0..<2] && media.trailingParts == 2..<3)
        #expect(media.parts.map(\.isGap) == [false, true, false] && media.parts[0].isIndependent)
        #expect(
            media.parts.map { list.links[$0.link].extent } == [
                .range(0..<100), .range(100..<150), .unplaced(count: 50),
            ])
        #expect(media.preloadHints.map(\.isMap) == [false, true])
        #expect(media.preloadHints.map { list.links[$0.link].extent } == [.from(200), .range(0..<9)])
        #expect(media.renditionReports.map(\.lastSequence) == [112] && media.renditionReports[0].lastPart == 0)
    }

    @Test("Case 51: a list with ENDLIST is ended, wherever it stands, and links behind it are links")
    func earlyEnd() throws {
        let list = try hls("#EXTM3U\n#EXTINF:4,\na\n#EXT-X-ENDLIST\n#EXTINF:4,\nb\n")
        #expect(!list.media.isLive && list.media.segments.count == 2)
        #expect(try hls("#EXTM3U\n#EXT-X-PLAYLIST-TYPE:EVENT\n#EXTINF:4,\na\n").media.isLive)
    }

    @Test("Cases 10, 60 and 62: keys of different formats hold at once, until they are replaced or taken off")
    func keys() throws {
        let list = try hls(
            """
            #EXTM3U
            #EXTINF:4,
            0
            #EXT-X-KEY:METHOD=AES-128,URI="k1"
            #EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://x",KEYFORMAT="com.apple.streamingkeydelivery",KEYFORMATVERSIONS="1"
            #EXT-X-MAP:URI="i"
            #EXTINF:4,
            1
            #EXTINF:4,
            2
            #EXT-X-KEY:METHOD=AES-128,URI="k2",IV=0x1A
            #EXTINF:4,
            3
            #EXT-X-KEY:METHOD=NONE
            #EXTINF:4,
            4
            """)
        let media = list.media
        #expect(media.segments.map { media.keySets[$0.keySet] } == [[], [0, 1], [0, 1], [1, 2], []])
        #expect(media.maps.map { media.keySets[$0.keySet] } == [[0, 1]])
        #expect(media.keys.map(\.method) == [.aes128, .sampleAES, .aes128, .none])
        #expect(media.keys.map(\.isIdentity) == [true, false, true, true])
        #expect(media.keys.map(\.initializationVector) == [nil, nil, "0x1A", nil])
        #expect(spans(.hls(list)).filter { $0.hasPrefix("key") } == ["key k1", "key skd://x", "key k2"])
    }

    @Test("LHLS and lists of images, which no draft describes, are read")
    func unofficialTags() throws {
        let list = try hls("#EXTM3U\n#EXT-X-IMAGES-ONLY\n#EXTINF:4,\n1.jpg\n#EXT-X-PREFETCH:https://b/2.ts \n")
        #expect(spans(.hls(list)) == ["image 1.jpg", "prefetch https://b/2.ts"])
        #expect(list.media.hasImagesOnly)
    }

    @Test(
        "Numbers that are malformed or above 2^53 are noted and not used",
        arguments: [
            "-1", "9007199254740993", "99999999999999999999999999", "1e9", "0x1", "", "١",
        ])
    func invalidNumbers(number: String) throws {
        let list = try hls("#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:\(number)\n#EXTINF:\(number),\na\n")
        #expect(list.media.mediaSequence == 0 && list.media.segments[0].duration == 0)
        #expect(list.problems.map(\.code) == [.invalidNumber, .invalidNumber])
    }

    @Test("A list with the tags of both kinds is mixed, one with neither untyped")
    func kinds() throws {
        #expect(try hls("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\na\n#EXT-X-ENDLIST\n").kind == .mixed)
        #expect(try hls("#EXTM3U\n#EXTM3U\n").kind == .untyped)
        #expect(try spans(.hls(hls("#EXTM3U\na.mp3\n"))) == ["segment a.mp3"])
    }
}
