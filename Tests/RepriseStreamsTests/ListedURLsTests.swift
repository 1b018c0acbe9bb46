import Reprise
import TestLimits
import Testing

@testable import RepriseStreams

/// What the stored playlists of a stream name: all of it, or it is said that that is not known.
@Suite(.limit(minutes: 1)) struct ListedURLsTests {
    private static let master = """
        #EXTM3U
        #EXT-X-DEFINE:NAME="show",VALUE="film"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",URI="en.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=2000000,AUDIO="a"
        high.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=800000,AUDIO="a"
        low.m3u8

        """
    private static let beginning = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n"
    private static let ended = "#EXT-X-ENDLIST\n"

    private static func names(_ text: String, at path: String, _ lists: [String: String] = [:]) throws -> Set<String>? {
        func document(_ text: String, _ url: ResourceURL) -> StreamDocument {
            StreamDocument(bytes: Array(text.utf8), url: url)
        }
        let urls = try PlaylistPlanner().names(
            in: document(text, try ResourceURL("https://a.example/\(path)"))
        ) { url in lists[url.lastPathComponent].map { document($0, url) } }
        return urls.map { Set($0.map { String($0.description.dropFirst("https://a.example/".count)) }) }
    }

    @Test func allListsCount() throws {
        let high = """
            \(Self.beginning)#EXT-X-DEFINE:IMPORT="show"
            #EXT-X-KEY:METHOD=AES-128,URI="key"
            #EXT-X-MAP:URI="high.mp4"
            #EXTINF:4,
            {$show}1.m4s
            #EXT-X-GAP
            #EXTINF:4,
            {$show}2.m4s
            \(Self.ended)
            """
        let low = Self.beginning + "#EXTINF:4,\nlow.ts\n" + Self.ended
        #expect(
            try Self.names(Self.master, at: "master.m3u8", ["high.m3u8": high, "low.m3u8": low])
                == [
                    "en.m3u8", "high.m3u8", "low.m3u8", "key", "high.mp4", "film1.m4s", "film2.m4s", "low.ts",
                ])
        #expect(try Self.names(low, at: "low.m3u8") == ["low.ts"])
    }

    @Test(
        "what is named is not known while a list goes on, or has a link that cannot be read",
        arguments: ["#EXTINF:4,\n1.ts\n", "#EXTINF:4,\n{$other}.ts\n#EXT-X-ENDLIST\n"])
    func open(rest: String) throws {
        #expect(try Self.names(Self.beginning + rest, at: "high.m3u8") == nil)
        #expect(try Self.names(Self.master, at: "master.m3u8", ["high.m3u8": Self.beginning + rest]) == nil)
    }

    @Test func aListThatCannotBeReadThrows() throws {
        let error = #expect(throws: RepriseError.self) {
            try Self.names(Self.master, at: "master.m3u8", ["high.m3u8": "no playlist"])
        }
        #expect(error?.code == .notDownloadable)
    }

    @Test("of an MPD, all representations; not one that changes, or leaves players a choice of places")
    func dash() throws {
        func mpd(_ type: String, bases: String = "") -> String {
            """
            <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="\(type)" mediaPresentationDuration="PT8S">\(bases)<Period>
            <AdaptationSet contentType="video">
            <SegmentTemplate media="v$RepresentationID$-$Number$.m4s" initialization="v$RepresentationID$.mp4" duration="4"/>
            <Representation id="1" bandwidth="800000"/><Representation id="2" bandwidth="2000000"/>
            </AdaptationSet></Period></MPD>
            """
        }
        let names = try #require(try Self.names(mpd("static"), at: "film.mpd"))
        #expect(
            names.isSuperset(of: ["v1.mp4", "v1-1.m4s", "v1-2.m4s", "v2.mp4", "v2-1.m4s", "v2-2.m4s"]), "\(names)")
        #expect(!names.contains("v1-3.m4s"))
        #expect(try Self.names(mpd("dynamic"), at: "film.mpd") == nil)
        let two = "<BaseURL>a/</BaseURL><BaseURL>b/</BaseURL>"
        #expect(try Self.names(mpd("static", bases: two), at: "film.mpd") == nil)
    }

    @Test func aListOfStationsIsNoStream() throws {
        #expect(try Self.names("#EXTM3U\n#EXTINF:-1,Radio\nradio.mp3\n", at: "radio.m3u") == nil)
    }
}
