import HTTPTypes
import Primitives
import RepriseStreams
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// Downloads of streams: by attributes, with keys, each byte once, across restarts.
@Suite(.limit(minutes: 2)) struct StreamDownloadTests {
    private static let master = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="en.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Deutsch",LANGUAGE="de",URI="de.m3u8"
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="English",LANGUAGE="en",URI="text.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=5000000,RESOLUTION=1920x1080,AUDIO="a",SUBTITLES="s"
        high.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=2000000,RESOLUTION=1280x720,AUDIO="a",SUBTITLES="s"
        middle.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=800000,RESOLUTION=640x360,AUDIO="a",SUBTITLES="s"
        low.m3u8

        """
    private static let segmentLength: Int64 = 90_000

    private static func media(_ segments: [String], key: String? = nil, isLive: Bool = false) -> String {
        var lines = ["#EXTM3U", "#EXT-X-TARGETDURATION:4"]
        if let key { lines.append("#EXT-X-KEY:METHOD=AES-128,URI=\"\(key)\"") }
        for segment in segments { lines += ["#EXTINF:4,", segment] }
        return (lines + (isLive ? [""] : ["#EXT-X-ENDLIST", ""])).joined(separator: "\n")
    }

    private static func publish(_ text: String, at path: String, _ bench: Bench, control: String? = nil) {
        bench.origin.set(
            TestOrigin.Resource(
                .bytes(Array(text.utf8)),
                mediaType: path.hasSuffix(".mpd") ? "application/dash+xml" : "application/vnd.apple.mpegurl",
                etag: "\"\(text.hashValue)\"",
                personality: TestOrigin.Personality { $0.fields[.cacheControl] = control }), at: path)
    }

    /// A process that resumes no downloads finds out that all is stored.
    private static func expectDoneWhereNothingRuns(_ bench: Bench) async throws {
        try await bench.reopened(configure: {
            $0.downloadsStreams = true
            $0.resumesDownloads = false
        }) { cache async throws in
            let list = await cache.downloads.list()
            guard case .done = list.first?.state else { return #expect(Bool(false), "\(list)") }
        }
    }

    /// The stream of ``master``: three variants of four segments, two voices, subtitles, and a key that no cache may
    /// store.
    private static func run(
        configure: (inout MediaCache.Configuration) -> Void = { _ in },
        _ body: (Bench, MediaResource) async throws -> Void
    ) async throws {
        try await Bench.run(configure: {
            $0.downloadsStreams = true
            configure(&$0)
        }) { bench async throws in
            publish(master, at: "/master.m3u8", bench)
            for name in ["high", "middle", "low", "en", "de", "text"] {
                let segments = (1...4).map { "\(name)\($0).ts" }
                publish(media(segments, key: name == "middle" ? "/key" : nil), at: "/\(name).m3u8", bench)
                for (number, segment) in segments.enumerated() {
                    bench.publish("/\(segment)", length: segmentLength, seed: UInt64(number))
                }
            }
            publishKey(bench)
            try await body(bench, try bench.cache.resource(for: bench.origin.url("/master.m3u8")))
        }
    }

    private static func publishKey(_ bench: Bench) {
        bench.origin.set(
            TestOrigin.Resource(
                .bytes(Array(repeating: 7, count: 16)), mediaType: "application/octet-stream",
                personality: TestOrigin.Personality { $0.fields[.cacheControl] = "no-store" }), at: "/key")
    }

    private static let selection = StreamSelection(quality: .height(720), audio: .only(["de"]), subtitles: .all)
    private static let selected =
        ["/master.m3u8", "/key"]
        + ["middle", "de", "text"].flatMap { name in
            ["/\(name).m3u8"] + (1...4).map { "/\(name)\($0).ts" }
        }

    private static func requests(_ bench: Bench) -> [String: Int] {
        Dictionary(grouping: bench.origin.snapshot.requests, by: \.path).mapValues(\.count)
    }

    @Test func whatIsSelectedIsFetchedOnceAndNothingElse() async throws {
        try await Self.run { bench, resource async throws in
            try await bench.cache.downloads.add(resource, selection: Self.selection)
            let download = try await bench.cache.endedDownload()
            guard case .done = download.state else { return #expect(Bool(false), "\(download.state)") }
            #expect(Self.requests(bench) == Dictionary(uniqueKeysWithValues: Self.selected.map { ($0, 1) }))
            #expect(download.files == Download.FileCount(stored: Self.selected.count, all: Self.selected.count))
            #expect(download.fraction == 1)
            #expect(download.storedBytes == download.completeLength)
            let titles = try await bench.cache.titles()
            #expect(titles.map(\.key) == [resource.key])
            #expect(titles.first?.fileCount == Self.selected.count)
            #expect(titles.first?.retention == .download)
            #expect(await bench.cache.prune(toSize: 0) == 0, "all of it is kept")
        }
    }

    @Test("a second run and a restart ask the origin nothing, also while it is away")
    func again() async throws {
        try await Self.run { bench, resource async throws in
            try await bench.cache.downloads.add(resource, selection: Self.selection)
            try await bench.cache.endedDownload()
            await bench.origin.stop()
            try await bench.reopened(configure: { $0.downloadsStreams = true }) { cache async throws in
                let download = try await cache.endedDownload()
                guard case .done = download.state else { return #expect(Bool(false), "\(download.state)") }
                #expect(download.selection == Self.selection)
                #expect(download.files?.all == Self.selected.count)
            }
            try await Self.expectDoneWhereNothingRuns(bench)
        }
    }

    @Test func itGoesOnWhereItWasBrokenOff() async throws {
        try await Self.run { bench, resource async throws in
            // With three held, all before them are there.
            let held = ["/middle3.ts", "/text1.ts", "/text2.ts"]
            for path in held { bench.origin.hold(path, at: 50_000) }
            try await bench.cache.downloads.add(resource, selection: Self.selection)
            await bench.origin.waitUntil { counters in held.allSatisfy { counters[$0].bodyBytesSent >= 50_000 } }
            await bench.cache.close()
            for path in held { bench.origin.release(path) }
            try await bench.reopened(configure: { $0.downloadsStreams = true }) { cache async throws in
                let download = try await cache.endedDownload()
                guard case .done = download.state else { return #expect(Bool(false), "\(download.state)") }
            }
            let snapshot = await bench.origin.settledSnapshot()
            for path in Self.selected where path.hasSuffix(".ts") {
                #expect(snapshot[path].distinctBytesSent.byteCount == Self.segmentLength, "\(path)")
                if held.contains(path) {
                    // Up to a chunk that had arrived is not recorded.
                    #expect(snapshot[path].bytesSentMoreThanOnce <= 65_536, "\(path)")
                } else {
                    #expect(snapshot[path].requests.count == 1, "\(path)")
                }
            }
        }
    }

    @Test(
        "a download goes on under the keys with which it began, whatever the next process drops of queries",
        arguments: [CacheKeyPolicy.droppingQueryItems(["token"]), .droppingQuery, .url],
        [CacheKeyPolicy.url, .droppingQueryItems(["token"])])
    func keyRule(first: CacheKeyPolicy, next: CacheKeyPolicy) async throws {
        try await Self.run(configure: { $0.keyPolicy = first }) { bench, _ async throws in
            let names = (1...4).map { "low\($0).ts" }
            Self.publish(Self.media(names.map { $0 + "?token=a" }), at: "/signed.m3u8", bench)
            let url = bench.origin.url("/signed.m3u8")
            bench.origin.hold("/low4.ts", at: 50_000)
            try await bench.cache.downloads.add(bench.cache.resource(for: url))
            await bench.origin.waitUntil { $0["/low4.ts"].bodyBytesSent >= 50_000 }
            await eventually {
                let entries = try? await bench.cache.entries(complete: true)
                return Set(names).subtracting(["low4.ts"]).isSubset(of: (entries ?? []).map(\.url.lastPathComponent))
            }
            await bench.cache.close()
            bench.origin.release("/low4.ts")
            try await bench.reopened(configure: {
                $0.downloadsStreams = true
                $0.keyPolicy = next
            }) { cache async throws in
                let download = try await cache.endedDownload()
                guard case .done = download.state else { return #expect(Bool(false), "\(download.state)") }
                // Adding it once more changes no key either.
                try await cache.downloads.add(cache.resource(for: url))
                try await cache.endedDownload()
                let keys = try await cache.entries().map(\.key)
                let urls = names.map { bench.origin.url("/\($0)?token=a") } + [url]
                #expect(Set(keys) == Set(try urls.map { first.key(for: try ResourceURL($0)) }))
                #expect(try await cache.titles(complete: true).map(\.fileCount) == [5])
                let inspector = try CacheInspector(directory: bench.directory.path)
                guard case .done = try await Download.all(inspector, policy: next).first?.state else {
                    return #expect(Bool(false), "it is whole")
                }
                let export = try StreamExport(of: ResourceURL(url), in: inspector, keyPolicy: next)
                #expect(export.fileCount == 5)
            }
            for name in names[..<3] { #expect(Self.requests(bench)["/\(name)"] == 1, "\(name)") }
            #expect(await bench.origin.settledSnapshot()["/low4.ts"].bytesSentMoreThanOnce <= 65_536)
        }
    }

    @Test func anotherSelectionFetchesOnlyWhatIsMissing() async throws {
        try await Self.run { bench, resource async throws in
            try await bench.cache.downloads.add(resource, selection: Self.selection)
            try await bench.cache.endedDownload()
            try await bench.cache.downloads.add(
                resource, selection: StreamSelection(quality: .smallest, audio: .all))
            await bench.origin.waitUntil { $0["/en4.ts"].requestCount > 0 }
            try await bench.cache.endedDownload()
            let requests = Self.requests(bench)
            for path in ["/middle1.ts", "/de1.ts", "/low1.ts", "/en1.ts"] { #expect(requests[path] == 1, "\(path)") }
            #expect(requests["/high1.ts"] == nil)
        }
    }

    @Test func removingItFreesAllOfItAndLeavesWhatOthersNeed() async throws {
        try await Self.run { bench, resource async throws in
            Self.publish(Self.media(["de1.ts"]), at: "/other.m3u8", bench)
            let other = try bench.cache.resource(for: bench.origin.url("/other.m3u8"))
            try await bench.cache.downloads.add(other)
            try await bench.cache.endedDownload()
            try await bench.cache.downloads.add(resource, selection: Self.selection)
            await bench.origin.waitUntil { $0["/text4.ts"].requestCount > 0 }
            for await list in bench.cache.downloads.updates(every: .zero) {
                if case .done = list.last?.state { break }
            }
            #expect(Self.requests(bench)["/de1.ts"] == 1, "shared by both")
            #expect(try await bench.cache.downloads.remove(resource.key) >= 11 * Self.segmentLength)
            #expect(
                Set(try await bench.cache.entries().map(\.url.lastPathComponent)) == ["other.m3u8", "de1.ts"])
        }
    }

    @Test(
        "what no download can keep ends with what helps",
        arguments: [
            ("live", "The stream is live"), ("protected", "The stream is protected (DRM)"),
            ("dynamic", "The stream is live"),
            ("voiceless", "The stream has no sound in fr; it has de, en."),
            ("nested", "names as a media playlist what is none"),
        ])
    func impossible(name: String, reason: String) async throws {
        try await Self.run { bench, _ async throws in
            let path = name == "dynamic" ? "/s.mpd" : "/s.m3u8"
            var selection = StreamSelection()
            switch name {
            case "live": Self.publish(Self.media(["low1.ts"], isLive: true), at: path, bench)
            case "protected": Self.publish(Self.media(["low1.ts"], key: "skd://key"), at: path, bench)
            case "dynamic":
                Self.publish(
                    "<?xml version=\"1.0\"?><MPD type=\"dynamic\" xmlns=\"urn:mpeg:dash:schema:mpd:2011\"><Period/></MPD>",
                    at: path, bench)
            case "nested":
                Self.publish("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nmaster.m3u8\n", at: path, bench)
            default:
                Self.publish(Self.master, at: path, bench)
                selection.audio = .only(["fr"])
            }
            try await bench.cache.downloads.add(
                try bench.cache.resource(for: bench.origin.url(path)), selection: selection)
            let download = try await bench.cache.endedDownload()
            guard case .failed(let error) = download.state else { return #expect(Bool(false), "\(download.state)") }
            #expect(error.code == .notDownloadable)
            #expect(error.message.contains(reason), "\(error.message)")
            #expect(Self.requests(bench).keys.allSatisfy { !$0.hasSuffix(".ts") }, "found out before the segments")
        }
    }

    @Test("of DASH, one representation of the picture and of each voice, in every period")
    func dash() async throws {
        try await Self.run { bench, _ async throws in
            Self.publish(
                """
                <?xml version="1.0"?>
                <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT8S">
                <Period><AdaptationSet contentType="video">
                <SegmentTemplate media="v$RepresentationID$-$Number$.m4s" initialization="v$RepresentationID$.mp4" duration="4"/>
                <Representation id="1" bandwidth="800000" height="360"/><Representation id="2" bandwidth="2000000" height="720"/>
                </AdaptationSet><AdaptationSet contentType="audio" lang="en">
                <Representation id="e" bandwidth="64000"><BaseURL>en.mp4</BaseURL><SegmentBase indexRange="0-9"/></Representation>
                </AdaptationSet><AdaptationSet contentType="audio" lang="de">
                <Representation id="d" bandwidth="64000"><BaseURL>de.mp4</BaseURL><SegmentBase indexRange="0-9"/></Representation>
                </AdaptationSet></Period></MPD>
                """, at: "/film.mpd", bench)
            let wanted = ["/v2.mp4", "/v2-1.m4s", "/v2-2.m4s", "/de.mp4"]
            for path in wanted + ["/v1.mp4", "/v1-1.m4s", "/en.mp4"] { bench.publish(path, length: 1000) }
            try await bench.cache.downloads.add(
                try bench.cache.resource(for: bench.origin.url("/film.mpd")), selection: Self.selection)
            let download = try await bench.cache.endedDownload()
            guard case .done = download.state else { return #expect(Bool(false), "\(download.state)") }
            #expect(Self.requests(bench) == Dictionary(uniqueKeysWithValues: (["/film.mpd"] + wanted).map { ($0, 1) }))
        }
    }

    @Test("fields for the stream's host go to no other")
    func fieldsStayAtTheirHost() async throws {
        try await Self.run { bench, _ async throws in
            let elsewhere = bench.origin.url("/low1.ts").replacing("127.0.0.1", with: "localhost")
            Self.publish(Self.media([elsewhere, "low2.ts"]), at: "/list.m3u8", bench)
            try await bench.cache.downloads.add(
                try bench.cache.resource(
                    for: bench.origin.url("/list.m3u8"), fields: [.authorization: "Bearer secret"]))
            try await bench.cache.endedDownload()
            let snapshot = bench.origin.snapshot
            #expect(snapshot["/low2.ts"].requests.map { $0.fields[.authorization] } == ["Bearer secret"])
            #expect(snapshot["/low1.ts"].requests.map { $0.fields[.authorization] } == [nil])
        }
    }

    @Test(
        "the playlist of a stream that is downloaded by itself keeps its files when the stream goes, in either order",
        arguments: [false, true])
    func innerPlaylist(isFirst: Bool) async throws {
        try await Self.run { bench, resource async throws in
            let inner = try bench.cache.resource(for: bench.origin.url("/low.m3u8"))
            let selection = StreamSelection(quality: .smallest)
            for item in isFirst ? [inner, resource] : [resource, inner] {
                try await bench.cache.downloads.add(item, selection: selection)
                await eventually {
                    await bench.cache.downloads.list().allSatisfy { if case .done = $0.state { true } else { false } }
                }
            }
            #expect(Set(try await bench.cache.titles().map(\.key)) == [inner.key, resource.key])
            #expect(try await bench.cache.titles().first { $0.key == inner.key }?.fileCount == 5)
            try await bench.cache.removeTitle(resource.key)
            await bench.cache.prune(toSize: 0)
            let names = Set(try await bench.cache.entries().map(\.url.lastPathComponent))
            #expect(names == ["low.m3u8", "low1.ts", "low2.ts", "low3.ts", "low4.ts"])
            #expect(await bench.cache.downloads.list().map(\.key) == [inner.key])
            try await bench.cache.removeTitle(inner.key)
            #expect(try await bench.cache.entries().isEmpty)
        }
    }

    @Test("a file that is pinned by itself stays when its stream is removed")
    func pinnedByItself() async throws {
        try await Self.run { bench, resource async throws in
            try await bench.cache.downloads.add(resource, selection: StreamSelection(quality: .smallest))
            try await bench.cache.endedDownload()
            try await bench.cache.retain(bench.cache.resource(for: bench.origin.url("/low2.ts")), as: .pinned)
            try await bench.cache.removeTitle(resource.key)
            #expect(try await bench.cache.entries().map(\.url.lastPathComponent) == ["low2.ts"])
        }
    }

    @Test("a beginning from before the stream was encoded once more is not mixed with what is fetched now")
    func beginningFromBefore() async throws {
        try await Self.run { bench, _ async throws in
            let names = (1...4).map { "low\($0).ts" }
            Self.publish(Self.media(names), at: "/low.m3u8", bench, control: "no-cache")
            let list = try bench.cache.resource(for: bench.origin.url("/low.m3u8"))
            try await list.preload(.segments(3))
            await bench.cache.becomeIdle()
            Self.publish(Self.media(names) + "#new\n", at: "/low.m3u8", bench, control: "no-cache")
            for number in 1...4 {
                bench.publish("/low\(number).ts", length: Self.segmentLength, seed: UInt64(70 + number), etag: "\"v2\"")
            }
            // Another beginning validates what it needs, and leaves the rest to those who come after it.
            try await list.preload(.segments(1))
            try await bench.cache.downloads.add(list)
            let download = try await bench.cache.endedDownload()
            guard case .done = download.state else { return #expect(Bool(false), "\(download.state)") }
            for number in 1...4 {
                let bytes = try await bench.bytes("/low\(number).ts")
                #expect(bytes == TestPattern.bytes(in: 0..<Self.segmentLength, seed: UInt64(70 + number)), "\(number)")
            }
        }
    }

    @Test("files that were stored one by one are kept once their stream is downloaded")
    func storedBefore() async throws {
        try await Self.run { bench, _ async throws in
            Self.publish(Self.media(["low1.ts", "low2.ts"]), at: "/list.m3u8", bench)
            for path in ["/list.m3u8", "/low1.ts", "/low2.ts"] { _ = try await bench.bytes(path) }
            try await bench.cache.downloads.add(try bench.cache.resource(for: bench.origin.url("/list.m3u8")))
            let download = try await bench.cache.endedDownload()
            guard case .done = download.state else { return #expect(Bool(false), "\(download.state)") }
            #expect(Self.requests(bench)["/low1.ts"] == 1)
            #expect(try await bench.cache.titles().map(\.fileCount) == [3])
            await bench.cache.prune(toSize: 0)
            #expect(try await bench.cache.entries().count == 3, "all of it is kept")
        }
    }

    @Test("without the option a playlist is a file like others")
    func off() async throws {
        try await Self.run(configure: { $0.downloadsStreams = false }) { bench, resource async throws in
            try await bench.cache.downloads.add(resource)
            let download = try await bench.cache.endedDownload()
            #expect(download.files == nil)
            #expect(Self.requests(bench) == ["/master.m3u8": 1])
        }
    }

    @Test("a download stays below the limit of its tag, keeps its playlists, and goes on under another limit")
    func limitOfATag() async throws {
        try await Self.run { bench, resource async throws in
            let (cache, limit) = (bench.cache, Int64(300_000))
            try await cache.nameTitle(of: resource, name: nil, tag: "films")
            try await cache.setLimit(limit, forTag: "films")
            try await cache.downloads.add(resource, selection: Self.selection)
            for await list in cache.downloads.updates(every: .zero) {
                if case .waiting(.space, _) = list.first?.state { break }
                if case .done = list.first?.state { break }
                if case .failed(let error) = list.first?.state { throw error }
            }
            await cache.becomeIdle()
            func tag() async throws -> TitleTag? { try await cache.tags().first { $0.name == "films" } }
            let lists: Set = ["/master.m3u8", "/middle.m3u8", "/de.m3u8", "/text.m3u8"]
            for retention in [Retention.download, .cached] {
                if retention == .cached { try await cache.retain(resource, as: .cached) }
                await cache.settleTags()
                let occupied = try #require(try await tag()?.allocatedBytes)
                #expect(occupied <= limit && occupied > limit - 2 * Self.segmentLength)
                let entries = try await cache.entries()
                let (hasLists, areWhole) = (
                    lists.isSubset(of: entries.map { $0.url.target }), entries.allSatisfy { $0.isComplete }
                )
                #expect(hasLists && areWhole, "\(retention)")
            }
            try await cache.setLimit(10 * limit, forTag: "films")
            try await cache.downloads.add(resource, selection: Self.selection)
            let download = try await cache.endedDownload()
            guard case .done = download.state else { return #expect(Bool(false), "\(download.state)") }
            #expect(download.files?.stored == Self.selected.count)
        }
    }

    // MARK: - Ranges of a file

    private static let ranges = """
        #EXTM3U
        #EXT-X-TARGETDURATION:4
        #EXTINF:4,
        #EXT-X-BYTERANGE:100000@0
        all.ts
        #EXTINF:4,
        #EXT-X-BYTERANGE:100000
        all.ts
        #EXTINF:4,
        #EXT-X-BYTERANGE:50000@600000
        all.ts
        #EXT-X-ENDLIST

        """

    @Test("of a file of which a list has ranges alone, these are fetched, and the download is done with them")
    func rangesOfAFile() async throws {
        try await Bench.run(configure: { $0.downloadsStreams = true }) { bench async throws in
            Self.publish(Self.ranges, at: "/list.m3u8", bench)
            bench.publish("/all.ts", length: 1_000_000)
            let resource = try bench.cache.resource(for: bench.origin.url("/list.m3u8"))
            try await bench.cache.downloads.add(resource)
            let download = try await bench.cache.endedDownload()
            guard case .done = download.state else { return #expect(Bool(false), "\(download.state)") }
            let stored = await (try bench.cache.resource(for: bench.origin.url("/all.ts"))).storedProgress()
            #expect(stored.ranges == [0..<200_000, 600_000..<650_000])
            #expect(Self.requests(bench) == ["/list.m3u8": 1, "/all.ts": 2])
            #expect(download.files == Download.FileCount(stored: 2, all: 2) && download.fraction == 1)
            #expect(try await bench.cache.titles(complete: true).map(\.key) == [resource.key])
            await bench.origin.stop()
            try await bench.reopened(configure: { $0.downloadsStreams = true }) { cache async throws in
                let download = try await cache.endedDownload()
                guard case .done = download.state else { return #expect(Bool(false), "\(download.state)") }
            }
            try await Self.expectDoneWhereNothingRuns(bench)
        }
    }

    @Test("ranges that a longer list has of a file that is stored in part are fetched, too")
    func moreRangesOfAFile() async throws {
        try await Bench.run(configure: { $0.downloadsStreams = true }) { bench async throws in
            bench.publish("/all.ts", length: 1_000_000)
            Self.publish(Self.ranges, at: "/a.m3u8", bench)
            let more = "#EXTINF:4,\n#EXT-X-BYTERANGE:50000@900000\nall.ts\n#EXT-X-ENDLIST"
            Self.publish(
                Self.ranges.replacing("#EXT-X-ENDLIST", with: more), at: "/b.m3u8", bench)
            for path in ["/a.m3u8", "/b.m3u8"] {
                try await bench.cache.downloads.add(try bench.cache.resource(for: bench.origin.url(path)))
                for await list in bench.cache.downloads.updates(every: .zero)
                where list.allSatisfy({ if case .done = $0.state { true } else { false } }) { break }
            }
            let stored = await (try bench.cache.resource(for: bench.origin.url("/all.ts"))).storedProgress()
            #expect(stored.ranges == [0..<200_000, 600_000..<650_000, 900_000..<950_000])
            #expect(Self.requests(bench)["/all.ts"] == 3)
        }
    }

    @Test("an origin that ignores ranges sends the file once, no further than the last of them (RFC 9110 §14.2)")
    func rangesOfAFileWithoutRanges() async throws {
        try await Bench.run(
            sendBufferSize: 64 << 10,
            configure: {
                $0.downloadsStreams = true
                $0.linger = .zero
            }
        ) { bench async throws in
            Self.publish(Self.ranges, at: "/list.m3u8", bench)
            bench.publish("/all.ts", length: 10_000_000) { $0.ignoresRange = true }
            try await bench.cache.downloads.add(try bench.cache.resource(for: bench.origin.url("/list.m3u8")))
            let download = try await bench.cache.endedDownload()
            guard case .done = download.state else { return #expect(Bool(false), "\(download.state)") }
            #expect(Self.requests(bench) == ["/list.m3u8": 1, "/all.ts": 1])
            let stored = await (try bench.cache.resource(for: bench.origin.url("/all.ts"))).storedProgress()
            #expect(stored.ranges.contains(0..<650_000) && stored.ranges.byteCount < 5_000_000)
        }
    }
}
