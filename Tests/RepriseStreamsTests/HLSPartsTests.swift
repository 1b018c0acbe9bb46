import Playlists
import TestLimits
import Testing

@testable import RepriseStreams

/// Where an exported stream of HLS is divided, and what its parts consist of.
@Suite(.limit(minutes: 1)) struct HLSPartsTests {
    private static func box(_ type: String, _ content: [UInt8]...) -> [UInt8] {
        let content = content.flatMap { $0 }
        return number(content.count + 8, 4) + Array(type.utf8) + content
    }

    private static func number(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }

    /// A map with one picture of this width.
    private static func map(width: Int) -> [UInt8] {
        let zeros = { (count: Int) in [UInt8](repeating: 0, count: count) }
        let entry = box("avc1", zeros(24), number(width, 2), number(90, 2), zeros(50))
        let stbl = box("stbl", box("stsd", number(0, 4), number(1, 4), entry))
        return box("moov", box("trak", box("mdia", box("hdlr", zeros(8), Array("vide".utf8)), box("minf", stbl))))
    }

    private static func periods(_ lists: [String: String], outermost: String = "film.m3u8") throws -> [ExportedPeriod] {
        let texts = lists.map { ExportPlan.Text(path: $0, bytes: Array($1.utf8)) }
        let outer = try #require(texts.first { $0.path == outermost })
        let sources = lists.keys.sorted(by: >).filter { lists.count == 1 || $0 != outermost }
            .map { HLSParts.Source(path: $0, language: $0.contains("audio") ? "de" : nil) }
        return try HLSParts(outer, sources, among: texts) { path, extent in
            switch path.split(separator: "/").last {
            case "small.mp4": Self.map(width: 160)
            case "large.mp4": Self.map(width: extent == .whole ? 320 : 160)
            default: nil
            }
        }.periods()
    }

    private static func text(_ period: ExportedPeriod) -> String {
        String(decoding: period.playlists.first?.bytes ?? [], as: UTF8.self)
    }

    @Test("each part has its map, the key that holds, its sequence number and its place in a file")
    func divides() throws {
        let periods = try Self.periods([
            "film.m3u8": """
            #EXTM3U
            #EXT-X-VERSION:7
            #EXT-X-TARGETDURATION:2
            #EXT-X-MEDIA-SEQUENCE:5
            #EXT-X-KEY:METHOD=AES-128,URI="key.ts"
            #EXT-X-MAP:URI="media-1/large.mp4",BYTERANGE="700@0"
            #EXTINF:2,
            #EXT-X-BYTERANGE:100@700
            media-1/a.m4s
            #EXT-X-DISCONTINUITY
            #EXT-X-MAP:URI="media-1/small.mp4"
            #EXTINF:2,
            #EXT-X-BYTERANGE:50
            media-1/a.m4s
            #EXTINF:1,
            media-1/b.m4s
            #EXT-X-ENDLIST

            """
        ])
        #expect(periods.map(\.name) == ["part 1", "part 2"])
        #expect(periods.map(\.playlistName) == ["film-part-1.m3u8", "film-part-2.m3u8"])
        #expect(
            Self.text(periods[0]) == """
                #EXTM3U
                #EXT-X-VERSION:7
                #EXT-X-TARGETDURATION:2
                #EXT-X-MEDIA-SEQUENCE:5
                #EXT-X-KEY:METHOD=AES-128,URI="key.ts"
                #EXT-X-MAP:URI="media-1/large.mp4",BYTERANGE="700@0"
                #EXTINF:2,
                #EXT-X-BYTERANGE:100@700
                media-1/a.m4s
                #EXT-X-ENDLIST

                """)
        #expect(
            Self.text(periods[1]) == """
                #EXTM3U
                #EXT-X-VERSION:7
                #EXT-X-TARGETDURATION:2
                #EXT-X-KEY:METHOD=AES-128,URI="key.ts"
                #EXT-X-MAP:URI="media-1/large.mp4",BYTERANGE="700@0"
                #EXT-X-MEDIA-SEQUENCE:6
                #EXT-X-BYTERANGE:50@800
                #EXT-X-DISCONTINUITY
                #EXT-X-MAP:URI="media-1/small.mp4"
                #EXTINF:2,
                media-1/a.m4s
                #EXTINF:1,
                media-1/b.m4s
                #EXT-X-ENDLIST

                """)
        #expect(try ExportedPeriod.orders(of: periods).count == 2, "both have pictures of 160 points")
    }

    /// A list of two segments with these maps.
    private static func list(_ first: String, _ second: String, between: String = "#EXT-X-DISCONTINUITY\n") -> String {
        """
        #EXTM3U
        #EXT-X-TARGETDURATION:2
        #EXT-X-MAP:URI="\(first)"
        #EXTINF:2,
        a.m4s
        \(between)#EXT-X-MAP:URI="\(second)"
        #EXTINF:2,
        b.m4s
        #EXT-X-ENDLIST
        """
    }

    @Test("a stream with one map is divided at discontinuities only, and only where nothing is missing")
    func oneMap() throws {
        let (map, cut) = ("small.mp4", "#EXT-X-DISCONTINUITY\n")
        for (between, count) in [(cut, 2), ("", 0), (cut + "#EXT-X-GAP\n#EXTINF:2,\nlost.m4s\n", 0)] {
            let periods = try Self.periods(["film.m3u8": Self.list(map, map, between: between)])
            let orders = try ExportedPeriod.orders(of: periods)
            #expect(periods.count == count && orders.count == count, "\(between)")
        }
    }

    @Test("a part of MPEG-TS, which has no map, is not compared with one of MP4")
    func noMap() throws {
        let list = Self.list("small.mp4", "small.mp4")
            .replacing("#EXT-X-MAP:URI=\"small.mp4\"\n#EXTINF:2,\na.m4s", with: "#EXTINF:2,\na.ts")
        let periods = try Self.periods(["film.m3u8": list])
        let orders = try ExportedPeriod.orders(of: periods)
        #expect(periods.count == 2 && orders.count == 2)
    }

    @Test("parts with pictures of another size do not fit")
    func otherSize() throws {
        for between in ["#EXT-X-DISCONTINUITY\n", ""] {
            let periods = try Self.periods([
                "film.m3u8": Self.list("small.mp4", "large.mp4", between: between)
            ])
            let reason = "the picture is 160x90 in part 1 and 320x90 in part 2"
            #expect(throws: ExportedPeriod.Mismatch(reason: reason)) { try ExportedPeriod.orders(of: periods) }
        }
    }

    @Test("the maps of encrypted parts cannot be compared")
    func encrypted() throws {
        let periods = try Self.periods(["film.m3u8": Self.list("small.mp4", "secret.mp4")])
        let mismatch = ExportedPeriod.Mismatch(
            reason: "part 2 is encrypted or damaged where it says what it has")
        #expect(throws: mismatch) { try ExportedPeriod.orders(of: periods) }
    }

    @Test("a map that serves for all parts of its playlist is not compared")
    func oneUnreadableMap() throws {
        let periods = try Self.periods([
            "film.m3u8": """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="A",URI="audio-1/index.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a"
            variant-1/index.m3u8

            """, "variant-1/index.m3u8": Self.list("small.mp4", "small-2/small.mp4"),
            "audio-1/index.m3u8": Self.list("secret.mp4", "secret.mp4"),
        ])
        #expect(try ExportedPeriod.orders(of: periods).count == 2)
    }

    @Test("all playlists are divided at the same places, and the outermost one names those of its part")
    func severalLists() throws {
        let outer = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="A",URI="audio-1/index.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a"
            variant-1/index.m3u8

            """
        let video = Self.list("small.mp4", "small-2/small.mp4")
        let sound = Self.list("../variant-1/small.mp4", "../variant-1/small.mp4")
        let periods = try Self.periods([
            "film.m3u8": outer, "variant-1/index.m3u8": video, "audio-1/index.m3u8": sound,
        ])
        let paths = ["variant-1/index-part-2.m3u8", "audio-1/index-part-2.m3u8", "film-part-2.m3u8"]
        #expect(periods.last?.playlists.map(\.path) == paths)
        let text = String(decoding: try #require(periods.last?.playlists.last?.bytes), as: UTF8.self)
        #expect(text == outer.replacing("index.m3u8", with: "index-part-2.m3u8"))

        let undivided = sound.replacing("#EXT-X-DISCONTINUITY\n", with: "")
        let unequal = try Self.periods([
            "film.m3u8": outer, "variant-1/index.m3u8": video, "audio-1/index.m3u8": undivided,
        ])
        #expect(throws: ExportedPeriod.Mismatch.self) { try ExportedPeriod.orders(of: unequal) }
    }
}
