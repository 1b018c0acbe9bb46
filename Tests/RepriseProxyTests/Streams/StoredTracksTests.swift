import Playlists
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise
@testable import RepriseProxy

/// What it costs to find out what of a stream plays without the origin.
@Suite(.limit(minutes: 2)) struct StoredTracksTests {
    private static func publish(_ text: String, at path: String, type: String, _ bench: Bench) {
        bench.origin.set(TestOrigin.Resource(.bytes(Array(text.utf8)), mediaType: type), at: path)
    }

    /// Stores playlists and segments, and counts reads of the index and of playlists while `select` is called over a
    /// cache that had nothing in memory.
    private static func reads(
        _ texts: [(path: String, text: String)], type: String, segments: [String],
        _ select: (StoredTracks, URIReference) async throws -> Void
    ) async throws -> (index: Int?, playlists: Int) {
        let playlists = RememberedPlaylists()
        var counts: [Int] = []
        try await Bench.run { bench async throws in
            for (path, text) in texts { publish(text, at: path, type: type, bench) }
            for path in segments { bench.publish(path, length: 100, type: "video/mp2t") }
            for path in texts.map(\.path) + segments { _ = try await bench.bytes(path) }
            try await bench.reopened(configure: { $0.reuse.isOffline = true }) { cache async throws in
                await cache.upkeep.settle()
                let tracks = StoredTracks(
                    files: FileFinder(cache: cache, items: nil), limits: PlaylistLimits(), playlists: playlists)
                let document = URIReference(bench.origin.url(texts[0].path))
                for _ in 0..<4 {
                    let before = cache.indexReadCount
                    try await select(tracks, document)
                    counts.append(cache.indexReadCount - before)
                }
            }
        }
        // The first one reads playlists. What a cache does when it is opened may read the index, too.
        return (counts.dropFirst().min(), playlists.readCount)
    }

    /// A stream of which three segments of the first variant are stored.
    private static func hls(variants: Int, segments: Int) async throws -> (index: Int?, playlists: Int) {
        let main = "#EXTM3U\n" + (0..<variants).map { "#EXT-X-STREAM-INF:BANDWIDTH=\($0 + 1)\n\($0).m3u8\n" }.joined()
        let lists = (0..<variants).map { variant in
            let lines = (0..<segments).map { "#EXTINF:4,\n\(variant)-\($0).ts\n" }.joined()
            return ("/\(variant).m3u8", "#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(lines)#EXT-X-ENDLIST\n")
        }
        return try await reads(
            [("/m.m3u8", main)] + lists, type: "application/vnd.apple.mpegurl", segments: (0..<3).map { "/0-\($0).ts" }
        ) { tracks, document in
            let list = try HLSPlaylist(Array(main.utf8), context: HLSContext(url: document))
            let selection = try await tracks.selection(of: list, at: document)
            #expect(selection.removedLines.count == 2 * (variants - 1), "one variant is left")
        }
    }

    @Test("the files of all variants are looked up 2,000 in one read of the index, and playlists are read once")
    func variants() async throws {
        #expect(try await Self.hls(variants: 3, segments: 10) == (1, 3))
        #expect(try await Self.hls(variants: 3, segments: 1000) == (2, 3))
        #expect(try await Self.hls(variants: 12, segments: 10) == (1, 12))
    }

    /// A description of one representation with all of its segments, and others of which nothing is stored.
    private static func dash(representations: Int, segments: Int) async throws -> Int? {
        let others = (0..<representations).map { "<Representation id='\($0)'/>" }.joined()
        let mpd = """
            <MPD type='static' mediaPresentationDuration='PT\(segments)S'><Period><AdaptationSet contentType='video'>\
            <SegmentTemplate media='$RepresentationID$-$Number$.m4s' duration='1' \
            initialization='$RepresentationID$.mp4'/>\(others)</AdaptationSet></Period></MPD>
            """
        let paths = ["/0.mp4"] + (1...segments).map { "/0-\($0).m4s" }
        return try await reads([("/m.mpd", mpd)], type: "application/dash+xml", segments: paths) { tracks, document in
            let selection = try await tracks.selection(of: try MPD(Array(mpd.utf8)), at: document)
            #expect(selection?.removedLines.count == representations - 1)
        }.index
    }

    @Test("the files of all representations are looked up in one read of the index") func representations() async throws
    {
        #expect(try await Self.dash(representations: 2, segments: 10) == 2)
        #expect(try await Self.dash(representations: 9, segments: 100) == 2)
    }

    @Test("a description that stands for more segments than are looked up costs no look-up of them")
    func beyondTheBudget() async throws {
        let sets = (0..<60).map {
            "<AdaptationSet><SegmentTemplate media='\($0)-$Number$' duration='1'/><Representation/></AdaptationSet>"
        }
        let mpd = "<MPD mediaPresentationDuration='PT20000S'><Period>\(sets.joined())</Period></MPD>"
        let (index, _) = try await Self.reads(
            [("/m.mpd", mpd)], type: "application/dash+xml", segments: []
        ) { tracks, document in
            await #expect(throws: PlaylistError.self) {
                _ = try await tracks.selection(of: try MPD(Array(mpd.utf8)), at: document)
            }
        }
        #expect(index == 0)
    }
}
