import HTTPTypes
import Playlists
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseStreams

@Suite("The outline of a stored stream", .limit(minutes: 1)) struct StreamOutlineTests {
    /// A cache in which the files of `site` at `stored` are stored, seen by `body`.
    private func look(
        _ files: [String: String], stored: [String], _ body: (StoredFiles, (String) -> String) throws -> Void
    ) async throws {
        try await Bench.run { bench async throws in
            for (path, text) in files {
                let type =
                    path.hasSuffix(".m3u8")
                    ? "application/vnd.apple.mpegurl" : path.hasSuffix(".mpd") ? "application/dash+xml" : "video/mp4"
                bench.origin.set(
                    TestOrigin.Resource(
                        .bytes(Array(text.utf8)), mediaType: type, fields: [.cacheControl: "max-age=600"]), at: path)
            }
            for path in stored { _ = try await bench.bytes(path) }
            await bench.cache.close()
            let inspector = try CacheInspector(directory: bench.directory.path)
            try body(try StoredFiles(inspector)) { bench.origin.url($0) }
        }
    }

    private func outline(_ url: String, _ files: StoredFiles) throws -> StreamOutline? {
        let entry = try #require(files.entry(at: try ResourceURL(url)))
        return StreamOutline(entry, in: files)
    }

    @Test func rangesOfOneFileAreSegments() async throws {
        let list = """
            #EXTM3U
            #EXT-X-TARGETDURATION:2
            #EXT-X-MAP:URI="film.mp4",BYTERANGE="10@0"
            #EXT-X-BYTERANGE:45@10
            #EXTINF:2,
            film.mp4
            #EXT-X-BYTERANGE:45
            #EXTINF:2,
            film.mp4
            #EXT-X-ENDLIST

            """
        let files = ["/list.m3u8": list, "/film.mp4": String(repeating: "x", count: 100)]
        try await look(files, stored: ["/list.m3u8", "/film.mp4"]) { files, url throws in
            let stream = try #require(try outline(url("/list.m3u8"), files))
            #expect(stream.tracks.map(\.kind) == [.media])
            #expect(stream.tracks[0].segmentCount == 2 && stream.tracks[0].storedSegments == 2)
            #expect(stream.tracks[0].storedBytes == 90)
            #expect(stream.storedShare == 1)
            #expect(stream.members.count == 2)
            #expect(!stream.isLive)
        }
    }

    @Test func ofAPlaylistThatIsTooLargeNothingIsKnownButThat() async throws {
        let deep = "<MPD>" + String(repeating: "<x>", count: 70) + String(repeating: "</x>", count: 70) + "</MPD>"
        try await look(["/deep.mpd": deep], stored: ["/deep.mpd"]) { files, url throws in
            let stream = try #require(try outline(url("/deep.mpd"), files))
            #expect(stream.obstacle?.contains("nested deeper") == true && stream.format == .dash)
            #expect(stream.storedShare == nil && !stream.isComplete && stream.tracks.isEmpty)
            #expect(stream.members.count == 1)
        }
    }

    @Test func variablesOfTheMasterHoldInItsLists() async throws {
        let files = [
            "/m.m3u8": """
            #EXTM3U
            #EXT-X-DEFINE:NAME="dir",VALUE="deep"
            #EXT-X-STREAM-INF:BANDWIDTH=1
            {$dir}/v.m3u8

            """,
            "/deep/v.m3u8": """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-DEFINE:IMPORT="dir"
            #EXTINF:4,
            /{$dir}/1.ts

            """, "/deep/1.ts": "segment",
        ]
        try await look(files, stored: Array(files.keys)) { files, url throws in
            let stream = try #require(try outline(url("/m.m3u8"), files))
            #expect(stream.members.count == 3)
            #expect(stream.isLive)
            #expect(stream.tracks[0].storedSegments == 1)
        }
    }

    @Test func aRenditionThatIsAVariantTooIsOneTrack() async throws {
        let files = [
            "/m.m3u8": """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",URI="a.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=9,RESOLUTION=16x9,AUDIO="a"
            v.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a"
            a.m3u8

            """
        ]
        try await look(files, stored: Array(files.keys)) { files, url throws in
            let stream = try #require(try outline(url("/m.m3u8"), files))
            #expect(stream.tracks.map(\.kind) == [.video, .audio])
            #expect(stream.tracks[1].language == "en" && stream.tracks[1].bandwidth == 1)
        }
    }

    @Test func aDescriptionListsItsRepresentations() async throws {
        let files = [
            "/m.mpd": """
            <MPD type="static" mediaPresentationDuration="PT8S"><Period><AdaptationSet contentType="video">
            <SegmentTemplate media="$RepresentationID$-$Number$.m4s" initialization="$RepresentationID$.mp4" duration="4"/>
            <Representation id="hd" bandwidth="900000" width="1280" height="720"/>
            <Representation id="sd" bandwidth="300000" width="640" height="360"/>
            </AdaptationSet></Period></MPD>
            """, "/hd.mp4": "init", "/hd-1.m4s": "segment",
        ]
        try await look(files, stored: Array(files.keys)) { files, url throws in
            let stream = try #require(try outline(url("/m.mpd"), files))
            #expect(stream.format == .dash)
            #expect(stream.tracks.map(\.name) == ["hd", "sd"])
            #expect(stream.tracks[0].segmentCount == 2 && stream.tracks[0].storedSegments == 1)
            #expect(stream.tracks[0].storedShare == 0.5)
            #expect(stream.tracks[1].storedSegments == 0)
            #expect(stream.members.count == 3)
        }
    }

    @Test("a stream of which a later period is not stored is not whole, whether its representations go on in it or not")
    func periods() async throws {
        for (first, second) in [("hd", "hd"), ("hd1", "hd2")] {
            let periods = [first, second].enumerated().map { number, id in
                """
                <Period duration="PT4S"><AdaptationSet contentType="video"><SegmentTemplate media="\(number)-$Number$.m4s"
                duration="4"/><Representation id="\(id)" bandwidth="900000"/></AdaptationSet></Period>
                """
            }
            let files = [
                "/m.mpd": "<MPD type=\"static\">\(periods.joined())</MPD>", "/0-1.m4s": "segment", "/1-1.m4s": "two",
            ]
            for stored in [["/m.mpd", "/0-1.m4s"], Array(files.keys)] {
                try await look(files, stored: stored) { files, url throws in
                    let stream = try #require(try outline(url("/m.mpd"), files))
                    #expect(stream.tracks.map(\.name) == (first == second ? [first] : [first, second]))
                    #expect(stream.tracks.map(\.segmentCount).reduce(0, +) == 2)
                    let isWhole = stored.count == 3
                    #expect(stream.storedShare == (isWhole ? 1 : 0.5) && stream.isComplete == isWhole)
                }
            }
        }
    }

    @Test func soundAloneBesideAPictureDoesNotMakeAStreamWhole() async throws {
        let files = [
            "/m.m3u8": """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",URI="a.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=9,RESOLUTION=16x9,AUDIO="a"
            v.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a"
            a.m3u8

            """, "/a.m3u8": "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\na.aac\n#EXT-X-ENDLIST\n", "/a.aac": "sound",
        ]
        try await look(files, stored: Array(files.keys)) { files, url throws in
            let stream = try #require(try outline(url("/m.m3u8"), files))
            #expect(stream.storedShare == 0.5 && !stream.isComplete)
        }
    }

    @Test("a stream without its keys or its initialization does not play; keys in the playlist need no file")
    func keysAndInitialization() async throws {
        func list(_ key: String) -> String {
            """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-MAP:URI="init.mp4"
            #EXTINF:4,
            1.m4s
            #EXT-X-KEY:METHOD=AES-128,URI="\(key)"
            #EXTINF:4,
            2.m4s
            #EXT-X-ENDLIST

            """
        }
        let file = ["/init.mp4": "init", "/1.m4s": "one", "/2.m4s": "two", "/key": "0123456789abcdef"]
        let outside = file.merging(["/l.m3u8": list("key")]) { $1 }
        let inside = file.merging(["/l.m3u8": list("data:text/plain;base64,MDEyMzQ1Njc4OWFiY2RlZg==")]) { $1 }
        let cases: [(files: [String: String], missing: String, share: Double, lacksKeys: Bool)] = [
            (outside, "none", 1, false), (outside, "/key", 0.5, true), (outside, "/init.mp4", 0, false),
            (outside, "/2.m4s", 0.5, false), (inside, "/key", 1, false),
        ]
        for (all, missing, share, lacksKeys) in cases {
            try await look(all, stored: all.keys.filter { $0 != missing }) { files, url throws in
                let stream = try #require(try outline(url("/l.m3u8"), files))
                #expect(stream.storedShare == share, "without \(missing)")
                #expect(stream.isComplete == (share == 1) && stream.lacksKeys == lacksKeys, "without \(missing)")
                #expect(stream.tracks[0].storedSegments == (missing == "/2.m4s" ? 1 : 2))
            }
        }
    }

    @Test func aRepresentationWithoutItsInitializationDoesNotPlay() async throws {
        let files = [
            "/m.mpd": """
            <MPD type="static" mediaPresentationDuration="PT4S"><Period><AdaptationSet contentType="video">
            <SegmentTemplate media="$Number$.m4s" initialization="init.mp4" duration="4"/>
            <Representation id="hd" bandwidth="900000"/></AdaptationSet></Period></MPD>
            """, "/init.mp4": "init", "/1.m4s": "segment",
        ]
        for stored in [["/m.mpd", "/1.m4s"], Array(files.keys)] {
            try await look(files, stored: stored) { files, url throws in
                let stream = try #require(try outline(url("/m.mpd"), files))
                #expect(stream.storedShare == (stored.count == 3 ? 1 : 0) && stream.isComplete == (stored.count == 3))
                #expect(stream.tracks[0].storedSegments == 1)
            }
        }
    }

    @Test func listsThatNameEachOtherEnd() async throws {
        let text = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n"
        let files = ["/a.m3u8": text + "b.m3u8\n", "/b.m3u8": text + "a.m3u8\n", "/c.m3u8": text + "c.m3u8\n"]
        try await look(files, stored: Array(files.keys)) { files, url throws in
            let table = StreamTable(files)
            // Each is a member of the other, so that neither is a stream.
            #expect(table[files.entry(at: try ResourceURL(url("/a.m3u8")))?.key ?? CacheKey("")] == nil)
            #expect(!table.contains(files.entry(at: try ResourceURL(url("/a.m3u8")))?.key ?? CacheKey("")))
        }
    }

    @Test func whatIsNoPlaylistHasNoOutline() async throws {
        let files = ["/page.m3u8": "<html>", "/film.mp4": "#EXTM3U\n#EXTINF:1,\na.ts\n", "/empty.m3u8": "#EXTM3U\n"]
        try await look(files, stored: Array(files.keys)) { files, url throws in
            for path in ["/page.m3u8", "/film.mp4", "/empty.m3u8"] {
                #expect(try outline(url(path), files) == nil, "\(path)")
            }
        }
    }

    @Test("Numbers that no stream has trap nothing", arguments: ["1e300", "-5", "nan", "99999999999999999999"])
    func oddDurations(_ number: String) async throws {
        let list = "#EXTM3U\n#EXT-X-TARGETDURATION:\(number)\n#EXTINF:\(number),\n1.ts\n#EXTINF:\(number),\n2.ts\n"
        let files = ["/l.m3u8": list, "/1.ts": "one"]
        try await look(files, stored: Array(files.keys)) { files, url throws in
            let stream = try #require(try outline(url("/l.m3u8"), files))
            #expect(stream.tracks[0].storedSegments == 1)
            #expect((0...1).contains(stream.storedShare ?? -1))
        }
    }
}
