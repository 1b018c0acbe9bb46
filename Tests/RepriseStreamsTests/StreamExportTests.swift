import Foundation
import Playlists
import Primitives
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseStreams

/// Exports of stored streams: names, links and bytes of the folder, and what is refused.
@Suite(.limit(minutes: 2)) struct StreamExportTests {
    /// A cache in which `files` are stored, except `missing`, and a place for an export of the file at `path`.
    private func export(
        _ path: String, of files: [String: String], missing: [String] = [], ranges: [String: Range<Int64>] = [:],
        selection: StreamSelection? = nil, encryption: CacheEncryption? = nil,
        _ body: (Exported) async throws -> Void
    ) async throws {
        try await Bench.run(configure: { $0.encryption = encryption }) { bench async throws in
            for (path, text) in files {
                let name = path.prefix { $0 != "?" }
                let type =
                    name.hasSuffix(".m3u8")
                    ? "application/vnd.apple.mpegurl" : name.hasSuffix(".mpd") ? "application/dash+xml" : "video/mp4"
                bench.origin.set(
                    TestOrigin.Resource(
                        .bytes(Array(text.utf8)), mediaType: type, fields: [.cacheControl: "max-age=600"]), at: path)
            }
            for path in files.keys where !missing.contains(path) {
                _ = try await bench.bytes(path, ranges[path].map { .bounded($0) })
            }
            await bench.cache.close()
            await bench.origin.stop()
            let inspector = try CacheInspector(directory: bench.directory.path, encryption: encryption)
            let place = try TemporaryDirectory()
            defer { place.remove() }
            try await body(
                Exported(
                    url: try ResourceURL(bench.origin.url(path)), inspector: inspector, place: place,
                    selection: selection, cache: bench.directory.path))
        }
    }

    /// What is exported, and where.
    private struct Exported {
        let url: ResourceURL
        let inspector: CacheInspector
        let place: TemporaryDirectory
        let selection: StreamSelection?
        let cache: String

        var path: String { place.path(of: "out") }

        func plan() throws -> StreamExport { try StreamExport(of: url, in: inspector, selection: selection) }

        /// Writes the folder; returns the texts of its files, without the mark of exports.
        func files() async throws -> [String: String] {
            try await plan().write(to: path)
            return try contents()
        }

        func contents() throws -> [String: String] {
            var result: [String: String] = [:]
            for name in try FileManager.default.subpathsOfDirectory(atPath: path) where name != ".reprise-export" {
                guard let data = FileManager.default.contents(atPath: "\(path)/\(name)") else { continue }
                result[name] = String(decoding: data, as: UTF8.self)
            }
            return result
        }

        /// Expects that nothing can be exported; returns why.
        func refusal() -> RepriseError? {
            do throws(RepriseError) {
                _ = try StreamExport(of: url, in: inspector, selection: selection)
                return nil
            } catch { return error }
        }
    }

    private static func list(_ lines: String...) -> String {
        (["#EXTM3U", "#EXT-X-TARGETDURATION:4"] + lines + ["#EXT-X-ENDLIST", ""]).joined(separator: "\n")
    }

    private static func segments(_ name: String, _ count: Int) -> String {
        list((1...count).map { "#EXTINF:4,\n\(name)\($0).ts" }.joined(separator: "\n"))
    }

    // MARK: - HLS

    private static let master = """
        #EXTM3U
        #EXT-X-CONTENT-STEERING:SERVER-URI="https://steering.example/"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="en.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Deutsch",LANGUAGE="de",URI="de.m3u8"
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="English",LANGUAGE="en",URI="text.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=5000000,RESOLUTION=1920x1080,AUDIO="a",SUBTITLES="s"
        high.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=800000,RESOLUTION=640x360,AUDIO="a",SUBTITLES="s"
        low.m3u8

        """

    private static var show: [String: String] {
        var files = ["/show/master.m3u8": master]
        for name in ["high", "low", "en", "de", "text"] {
            files["/show/\(name).m3u8"] = segments(name, 2)
            for number in 1...2 { files["/show/\(name)\(number).ts"] = "\(name) \(number)" }
        }
        return files
    }

    @Test func eachTrackHasAFolderAndLinksStayInside() async throws {
        try await export("/show/master.m3u8", of: Self.show) { export async throws in
            let files = try await export.files()
            #expect(try export.plan().playlistName == "master.m3u8")
            #expect(
                files["master.m3u8"] == """
                    #EXTM3U
                    #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="audio-1/index.m3u8"
                    #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Deutsch",LANGUAGE="de",URI="audio-2/index.m3u8"
                    #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="English",LANGUAGE="en",URI="subtitles-1/index.m3u8"
                    #EXT-X-STREAM-INF:BANDWIDTH=5000000,RESOLUTION=1920x1080,AUDIO="a",SUBTITLES="s"
                    variant-1/index.m3u8
                    #EXT-X-STREAM-INF:BANDWIDTH=800000,RESOLUTION=640x360,AUDIO="a",SUBTITLES="s"
                    variant-2/index.m3u8

                    """)
            #expect(
                files["variant-1/index.m3u8"]
                    == Self.list("#EXTINF:4,\nsegment-00001.ts", "#EXTINF:4,\nsegment-00002.ts"))
            #expect(files["variant-1/segment-00002.ts"] == "high 2")
            #expect(files["audio-2/segment-00001.ts"] == "de 1")
            #expect(files["subtitles-1/segment-00001.ts"] == "text 1")
            #expect(files.count == 16)
            let plan = try export.plan()
            #expect(plan.fileCount == 16)
            #expect(plan.byteCount == files.values.reduce(0) { $0 + Int64($1.utf8.count) })
        }
    }

    @Test func whatIsNotStoredAsAWholeIsLeftOutWithItsGroup() async throws {
        let missing = ["/show/high2.ts", "/show/de1.ts", "/show/text.m3u8"]
        try await export("/show/master.m3u8", of: Self.show, missing: missing) { export async throws in
            #expect(
                try await export.files()["master.m3u8"] == """
                    #EXTM3U
                    #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="audio-1/index.m3u8"
                    #EXT-X-STREAM-INF:BANDWIDTH=800000,RESOLUTION=640x360,AUDIO="a"
                    variant-1/index.m3u8

                    """)
            #expect(try export.contents().count == 1 + 2 * 3)
        }
    }

    @Test func aSelectionNarrowsWhatIsStored() async throws {
        let selection = StreamSelection(quality: .smallest, audio: .only(["de"]), subtitles: .none)
        try await export("/show/master.m3u8", of: Self.show, selection: selection) { export async throws in
            let files = try await export.files()
            #expect(files["audio-1/segment-00001.ts"] == "de 1" && files["variant-1/segment-00001.ts"] == "low 1")
            #expect(files.count == 7)
            #expect(files["master.m3u8"]?.contains("SUBTITLES") == false)
        }
    }

    @Test func aStreamWithHolesSaysWhatIsMissing() async throws {
        let missing = ["/show/high2.ts", "/show/low.m3u8", "/show/de1.ts", "/show/en1.ts"]
        try await export("/show/master.m3u8", of: Self.show, missing: missing) { export async throws in
            let error = try #require(export.refusal())
            #expect(error.code == .notStored)
            #expect(error.message.contains("en.m3u8: 1 of 2 segments missing; de.m3u8: 1 of 2 segments missing"))
            #expect(error.message.contains("high.m3u8: 1 of 2 segments missing; and so on for 1 more"))
            #expect(error.message.hasSuffix("Download the stream first."))
        }
    }

    @Test func keysLieBesideAndByteRangesStay() async throws {
        let list = Self.list(
            "#EXT-X-KEY:METHOD=AES-128,URI=\"/keys/a?user=1\"",
            "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://key\",KEYFORMAT=\"com.apple.streamingkeydelivery\"",
            "#EXT-X-MAP:URI=\"film.mp4\",BYTERANGE=\"10@0\"", "#EXT-X-BYTERANGE:20@10", "#EXTINF:4,", "film.mp4",
            "#EXT-X-BYTERANGE:20", "#EXTINF:4,", "film.mp4", "#EXT-X-KEY:METHOD=AES-128,URI=\"unused\"",
            "#EXT-X-DATERANGE:ID=\"ad\",CLASS=\"com.apple.hls.interstitial\",X-ASSET-URI=\"https://ads.example/a.m3u8\""
        )
        let film = String(repeating: "0123456789", count: 6)
        let files = ["/list.m3u8": list, "/film.mp4": film, "/keys/a?user=1": "sixteen bytes ok"]
        // Nothing uses the last ten bytes.
        try await export("/list.m3u8", of: files, ranges: ["/film.mp4": 0..<50]) { export async throws in
            let exported = try await export.files()
            #expect(
                exported["list.m3u8"]
                    == Self.list(
                        "#EXT-X-KEY:METHOD=AES-128,URI=\"media-1/key-00001.ts\"",
                        "#EXT-X-MAP:URI=\"media-1/init-00001.mp4\",BYTERANGE=\"10@0\"", "#EXT-X-BYTERANGE:20@10",
                        "#EXTINF:4,", "media-1/init-00001.mp4", "#EXT-X-BYTERANGE:20", "#EXTINF:4,",
                        "media-1/init-00001.mp4"))
            #expect(exported["media-1/key-00001.ts"] == "sixteen bytes ok")
            let written = try #require(exported["media-1/init-00001.mp4"])
            #expect(written.hasPrefix(film.prefix(50)) && written.utf8.count == 60)
            #expect(exported.count == 3)
        }
    }

    @Test("what only helps with an origin goes: parts, hints, reports; what variables name is found")
    func liveLeftovers() async throws {
        let list = Self.list(
            "#EXT-X-DEFINE:NAME=\"dir\",VALUE=\"deep\"", "#EXT-X-DEFINE:QUERYPARAM=\"token\"",
            "#EXT-X-PART-INF:PART-TARGET=1", "#EXT-X-PART:DURATION=1,URI=\"part.ts\"", "#EXTINF:4,",
            "{$dir}/1.ts?t={$token}", "#EXT-X-GAP", "#EXTINF:4,", "https://cdn.example/gone.ts",
            "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"next.ts\"", "#EXT-X-RENDITION-REPORT:URI=\"../other.m3u8\"")
        let files = ["/list.m3u8?token=7": list, "/deep/1.ts?t=7": "segment"]
        try await export("/list.m3u8?token=7", of: files) { export async throws in
            let exported = try await export.files()
            #expect(
                exported["list.m3u8"]
                    == Self.list(
                        "#EXT-X-DEFINE:NAME=\"dir\",VALUE=\"deep\"", "#EXT-X-DEFINE:NAME=\"token\",VALUE=\"7\"",
                        "#EXT-X-PART-INF:PART-TARGET=1", "#EXTINF:4,", "media-1/segment-00001.ts", "#EXT-X-GAP",
                        "#EXTINF:4,", "media-1/gap-00001.ts"))
            #expect(exported["media-1/segment-00001.ts"] == "segment" && exported.count == 2)
        }
    }

    @Test func aFileThatTwoTracksNameIsWrittenOnce() async throws {
        let files = [
            "/m.m3u8": """
            #EXTM3U
            #EXT-X-STREAM-INF:BANDWIDTH=2
            a.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=1
            b.m3u8

            """, "/a.m3u8": Self.segments("x", 1), "/b.m3u8": Self.segments("x", 1), "/x1.ts": "shared",
        ]
        try await export("/m.m3u8", of: files) { export async throws in
            let exported = try await export.files()
            #expect(exported["variant-2/index.m3u8"] == Self.list("#EXTINF:4,\n../variant-1/segment-00001.ts"))
            #expect(exported.count == 4)
        }
    }

    @Test func withoutItsKeyAStreamIsNotWhole() async throws {
        let list = Self.list("#EXT-X-KEY:METHOD=AES-128,URI=\"key\"", "#EXTINF:4,", "1.ts")
        let files = ["/list.m3u8": list, "/1.ts": "segment", "/key": "key"]
        try await export("/list.m3u8", of: files, missing: ["/key"]) { export async throws in
            #expect(export.refusal()?.message.contains("(list.m3u8: 1 key missing)") == true)
        }
    }

    @Test(
        "keys of rights systems and streams without end are refused",
        arguments: [
            ("#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://key\",KEYFORMAT=\"com.apple.streamingkeydelivery\"", "DRM"),
            ("#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://key\"", "DRM"), ("live", "live"),
        ])
    func refused(line: String, word: String) async throws {
        var list = Self.list(line, "#EXTINF:4,", "1.ts")
        if line == "live" { list = list.replacing("#EXT-X-ENDLIST\n", with: "") }
        try await export("/list.m3u8", of: ["/list.m3u8": list, "/1.ts": "segment"]) { export async throws in
            let error = try #require(export.refusal())
            #expect(error.code == .notDownloadable && error.message.contains(word), "\(error)")
        }
    }

    // MARK: - Names

    @Test(arguments: [
        ("/show/master.m3u8", "master.m3u8"), ("/show/", "index.m3u8"), ("/a%2F..%2F..%2Fb.m3u8", "a_.._.._b.m3u8"),
        ("/..%2Fsecret", "secret.m3u8"), ("/.hidden.M3U8", "hidden.m3u8"), ("/gr%C3%B6%C3%9Fe%00.m3u8", "größe.m3u8"),
        ("/" + String(repeating: "x", count: 400), String(repeating: "x", count: 120) + ".m3u8"),
        ("/list?name=../x.m3u8", "list.m3u8"), ("/con:aux|.m3u8", "con_aux.m3u8"),
    ])
    func playlistsHaveFitNames(path: String, name: String) throws {
        #expect(ExportNames.playlist(at: try ResourceURL("https://example.com\(path)"), format: .hls) == name)
    }

    @Test func namesOfOriginsAreNeverNamesOfFiles() async throws {
        let long = String(repeating: "n", count: 300)
        let links = ["%2e%2e/%2e%2e/up.ts", "A.ts", "a.ts", "\(long).ts", "page.html", "noname?x=1", "x.EXE"]
        var files = ["/list.m3u8": Self.list(links.map { "#EXTINF:4,\n\($0)" }.joined(separator: "\n"))]
        for link in links { files["/\(link)"] = link }
        try await export("/list.m3u8", of: files) { export async throws in
            let exported = try await export.files()
            #expect(
                Set(exported.keys)
                    == Set(
                        ["list.m3u8"] + (1...4).map { "media-1/segment-0000\($0).ts" }
                            + (5...7).map { "media-1/segment-0000\($0).m4s" }))
            #expect(exported["media-1/segment-00002.ts"] == "A.ts" && exported["media-1/segment-00003.ts"] == "a.ts")
        }
    }

    // MARK: - DASH

    private static let description = """
        <MPD type="static" mediaPresentationDuration="PT8S"><BaseURL>https://cdn.invalid/</BaseURL>
        <Location>https://cdn.invalid/again.mpd</Location><Period><BaseURL>BASE</BaseURL>
        <AdaptationSet contentType="video">
        <SegmentTemplate media="$RepresentationID$/s-$Number%03d$.m4s?t=1" initialization="$RepresentationID$.mp4" duration="4"/>
        <Representation id="../../hd" bandwidth="900000" height="720"/>
        <Representation id="sd" bandwidth="300000" height="360"><BaseURL>low/</BaseURL></Representation>
        </AdaptationSet>
        <AdaptationSet contentType="audio"><Representation id="a" bandwidth="1"><BaseURL>sound.mp4?x=1</BaseURL>
        <SegmentBase indexRange="5-9"><Initialization range="0-4"/></SegmentBase></Representation></AdaptationSet>
        <AdaptationSet contentType="text"><Representation id="t" bandwidth="1"><SegmentList duration="4">
        <Initialization sourceURL="/text/init.mp4"/><SegmentURL media="/text/all.mp4" mediaRange="0-3"/>
        <SegmentURL media="/text/all.mp4" mediaRange="4-7"/></SegmentList></Representation></AdaptationSet>
        </Period></MPD>
        """

    private static let dash = [
        "/show/m.mpd": description.replacing("<BaseURL>https://cdn.invalid/</BaseURL>", with: "")
            .replacing("BASE", with: "/v/x/"),
        "/hd.mp4": "hd init", "/hd/s-001.m4s?t=1": "hd 1", "/hd/s-002.m4s?t=1": "hd 2", "/v/x/low/sd.mp4": "sd init",
        "/v/x/low/sd/s-001.m4s?t=1": "sd 1", "/v/x/low/sd/s-002.m4s?t=1": "sd 2", "/v/x/sound.mp4?x=1": "all sound",
        "/text/init.mp4": "text init", "/text/all.mp4": "text-one",
    ]

    @Test func representationsHaveFoldersOfTheirOwn() async throws {
        try await export("/show/m.mpd", of: Self.dash) { export async throws in
            let files = try await export.files()
            #expect(
                files["m.mpd"] == """
                    <MPD type="static" mediaPresentationDuration="PT8S">
                    <Period>
                    <AdaptationSet contentType="video">
                    <SegmentTemplate media="segment-$Number%03d$.m4s" initialization="init.mp4" duration="4"/>
                    <Representation id="../../hd" bandwidth="900000" height="720"><BaseURL>video-1/</BaseURL></Representation>
                    <Representation id="sd" bandwidth="300000" height="360"><BaseURL>video-2/</BaseURL></Representation>
                    </AdaptationSet>
                    <AdaptationSet contentType="audio"><Representation id="a" bandwidth="1"><BaseURL>audio-1/media.mp4</BaseURL>
                    <SegmentBase indexRange="5-9"><Initialization range="0-4"/></SegmentBase></Representation></AdaptationSet>
                    <AdaptationSet contentType="text"><Representation id="t" bandwidth="1"><BaseURL>text-1/</BaseURL><SegmentList duration="4">
                    <Initialization sourceURL="init-00001.mp4"/><SegmentURL media="file-00001.mp4" mediaRange="0-3"/>
                    <SegmentURL media="file-00001.mp4" mediaRange="4-7"/></SegmentList></Representation></AdaptationSet>
                    </Period></MPD>
                    """)
            #expect(files["video-1/init.mp4"] == "hd init" && files["video-1/segment-002.m4s"] == "hd 2")
            #expect(files["video-2/segment-001.m4s"] == "sd 1" && files["audio-1/media.mp4"] == "all sound")
            #expect(files["text-1/init-00001.mp4"] == "text init" && files["text-1/file-00001.mp4"] == "text-one")
            #expect(files.count == Self.dash.count)
        }
    }

    /// A representation with the parts `initialization`, `first` and `second` of one file of 12 bytes.
    private static func parts(_ initialization: String, _ first: String, _ second: String) -> String {
        """
        <MPD type="static" mediaPresentationDuration="PT8S"><Period><AdaptationSet contentType="video">
        <Representation id="v" bandwidth="1"><BaseURL>all.mp4</BaseURL>
        <SegmentList duration="4" startNumber="1"><Initialization range="\(initialization)"/>
        <SegmentURL mediaRange="\(first)" indexRange="3-4"/><SegmentURL mediaRange="\(second)"/></SegmentList>
        </Representation></AdaptationSet></Period></MPD>
        """
    }

    @Test("a list of all parts of one file is left out, because ffmpeg reads such a list in an endless loop")
    func listOfWholeFile() async throws {
        let files = ["/m.mpd": Self.parts("0-2", "3-7", "8-11"), "/all.mp4": "mapfirstlast"]
        try await export("/m.mpd", of: files) { export async throws in
            let files = try await export.files()
            #expect(files["video-1/media.mp4"] == "mapfirstlast" && files.count == 2)
            #expect(files["m.mpd"]?.contains("SegmentList") == false, "\(files)")
            #expect(files["m.mpd"]?.contains("<BaseURL>video-1/media.mp4</BaseURL>") == true, "\(files)")
        }
    }

    @Test(
        "a list stays that leaves out parts of a file, or names them in another order",
        arguments: [("0-2", "3-7", "9-11"), ("0-2", "3-7", "8-10"), ("0-2", "8-11", "3-7"), ("1-2", "3-7", "8-11")])
    func listOfParts(initialization: String, first: String, second: String) async throws {
        let files = ["/m.mpd": Self.parts(initialization, first, second), "/all.mp4": "mapfirstlast"]
        try await export("/m.mpd", of: files) { export async throws in
            let files = try await export.files()
            #expect(files["m.mpd"]?.contains("mediaRange=\"\(second)\"") == true, "\(files)")
            #expect(files["m.mpd"]?.contains("startNumber") == false, "ffmpeg would begin behind the first segment")
            #expect(files["video-1/media.mp4"] == "mapfirstlast")
        }
    }

    @Test func aRepresentationWithAHoleIsLeftOut() async throws {
        try await export("/show/m.mpd", of: Self.dash, missing: ["/hd/s-002.m4s?t=1", "/text/init.mp4"]) {
            export async throws in
            let files = try await export.files()
            #expect(files["m.mpd"]?.contains("hd") == false && files["m.mpd"]?.contains("text") == false)
            #expect(files["video-1/segment-002.m4s"] == "sd 2" && files.count == 5)
        }
        try await export("/show/m.mpd", of: Self.dash, missing: ["/v/x/sound.mp4?x=1"]) { export async throws in
            #expect(
                export.refusal()?.message.contains("representation a: 1 of 1 segments and 1 initialization") == true)
        }
    }

    @Test func aFileOfSeveralPeriodsIsWrittenOnce() async throws {
        let period = """
            <Period duration="PT4S"><AdaptationSet contentType="video"><Representation id="v">\
            <BaseURL>film.mp4</BaseURL><SegmentBase indexRange="0-1"/></Representation></AdaptationSet></Period>
            """
        let files = ["/m.mpd": "<MPD type=\"static\">\(period)\(period)</MPD>", "/film.mp4": "film"]
        try await export("/m.mpd", of: files) { export async throws in
            let exported = try await export.files()
            #expect(exported["m.mpd"]?.components(separatedBy: "<BaseURL>video-1/media.mp4</BaseURL>").count == 3)
            #expect(exported.count == 2)
        }
    }

    // MARK: - What is not understood

    @Test("what only another parser takes for a link never gets into the folder")
    func hostileLists() async throws {
        let master = """
            #EXTM3U
            #EXT-X-SESSION-DATA:DATA-ID="a",URI=file:/private
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="n",URI=file:/private
            #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a"
            v.m3u8
            #EXTINF:4,
            file:/private
            #EXT-X-UNKNOWN:URI="file:/private"

            """
        let list = Self.list(
            "#EXT-X-KEY:METHOD=NONE,URI=file:/private", " # file:/private", "#EXT-X-NEW:URI=\"file:/private\"",
            "#EXTINF:4,", "1.ts")
        let files = ["/m.m3u8": master, "/v.m3u8": list, "/1.ts": "one"]
        try await export("/m.m3u8", of: files) { export async throws in
            let exported = try await export.files()
            #expect(exported.values.allSatisfy { !$0.contains("private") }, "\(exported)")
            #expect(exported["variant-1/index.m3u8"]?.contains("#EXTINF:4,\nsegment-00001.ts\n") == true)
        }
        let unquoted = Self.list("#EXT-X-MAP:URI=file:/private", "#EXTINF:4,", "1.ts")
        try await export("/l.m3u8", of: ["/l.m3u8": unquoted, "/1.ts": "one"]) { export async throws in
            #expect(export.refusal()?.code == .notDownloadable)
        }
    }

    @Test("elements of other namespaces never get into the folder")
    func hostileDescription() async throws {
        let foreign = "<x:SegmentTemplate xmlns:x='urn:x' media='file:/private' initialization='file:/private'/>"
        var files = Self.dash
        files["/show/m.mpd"] = Self.dash["/show/m.mpd"]?
            .replacing("<SegmentTemplate", with: foreign + "<SegmentTemplate")
            .replacing(
                "</Period>", with: "<x:AdaptationSet><x:BaseURL>file:/private</x:BaseURL></x:AdaptationSet></Period>")
        try await export("/show/m.mpd", of: files) { export async throws in
            let exported = try await export.files()
            #expect(exported.values.allSatisfy { !$0.contains("private") }, "\(exported)")
            #expect(exported["video-1/segment-002.m4s"] == "hd 2" && exported.count == files.count)
        }
    }

    // MARK: - Caches and folders

    @Test func anEncryptedCacheGivesPlainFiles() async throws {
        let encryption = KeyFile.key(hexadecimal: String(repeating: "07", count: 32)).map { CacheEncryption(key: $0) }
        try await export("/show/master.m3u8", of: Self.show, encryption: encryption) { export async throws in
            #expect(throws: RepriseError.self) { try CacheInspector(directory: export.cache) }
            #expect(try await export.files()["variant-1/segment-00001.ts"] == "high 1")
        }
    }

    @Test func damagedBytesLeaveNothingBehind() async throws {
        try await export("/show/master.m3u8", of: Self.show) { export async throws in
            let plan = try export.plan()
            for file in DiskUse.mediaFiles(of: export.cache) {
                let data = try #require(FileManager.default.contents(atPath: file))
                if String(decoding: data, as: UTF8.self) == "low 2" {
                    let handle = try #require(FileHandle(forWritingAtPath: file))
                    try handle.write(contentsOf: Data("low 3".utf8))
                }
            }
            do {
                try await plan.write(to: export.path)
                Issue.record("damaged bytes were exported")
            } catch let error as RepriseError {
                #expect(error.code == .notStored && error.message.contains("/show/low2.ts bytes are missing"))
                #expect(error.range == 0..<5)
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: export.place.path).isEmpty)
        }
    }

    @Test func onlyAnUntouchedExportIsReplaced() async throws {
        try await export("/show/master.m3u8", of: Self.show) { export async throws in
            let plan = try export.plan()
            try FileManager.default.createDirectory(atPath: export.path, withIntermediateDirectories: false)
            try await plan.write(to: export.path + "/")
            await #expect(throws: RepriseError.self) { try await plan.write(to: export.path) }
            try Data("old".utf8).write(to: URL(fileURLWithPath: export.path + "/master.m3u8"))
            try await plan.write(to: export.path, replacing: true)
            #expect(try export.contents().count == 16 && export.contents()["master.m3u8"] != "old")
            for foreign in ["film.txt", "variant-1/notes.txt"] {
                let file = "\(export.path)/\(foreign)"
                try Data("mine".utf8).write(to: URL(fileURLWithPath: file))
                do {
                    try await plan.write(to: export.path, replacing: true)
                    Issue.record("\(foreign) was removed")
                } catch let error as RepriseError {
                    #expect(error.code == .storageUnavailable && error.message.contains("(\(foreign))"), "\(error)")
                }
                #expect(try export.contents()[foreign] == "mine")
                try FileManager.default.removeItem(atPath: file)
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: export.place.path) == ["out"])
        }
    }

    @Test func aCanceledExportLeavesNothingBehind() async throws {
        try await export("/show/master.m3u8", of: Self.show) { export async throws in
            let plan = try export.plan()
            let path = export.path
            let isReady = Promise<Void>()
            let cancel = Mutex<@Sendable () -> Void>({})
            let task = Task {
                await isReady.value
                try await plan.write(to: path) { _ in cancel.withLock { $0 }() }
            }
            cancel.withLock { $0 = { task.cancel() } }
            isReady.fulfill()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(try FileManager.default.contentsOfDirectory(atPath: export.place.path).isEmpty)
        }
    }

    @Test func whatIsNoStreamIsSaidToBeNone() async throws {
        try await export("/film.mp4", of: ["/film.mp4": "film"]) { export async throws in
            #expect(export.refusal()?.code == .invalidArgument)
        }
    }
}
