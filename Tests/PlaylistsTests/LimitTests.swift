import Playlists
import TestLimits
import Testing

@Suite("Limits", .serialized, .limit(minutes: 2)) struct LimitTests {
    private func bytes(_ text: String, _ count: Int) -> [UInt8] {
        Array(("#EXTM3U\n" + String(repeating: text, count: count)).utf8)
    }

    @Test("Case 39: size, lines, line length and links have limits, and errors say where")
    func sizes() throws {
        var limits = PlaylistLimits()
        #expect(failure { _ = try HLSPlaylist(bytes("a", 8 << 20)) }?.code == .tooLarge)
        #expect(failure { _ = try MPD(bytes("a", 8 << 20)) }?.code == .tooLarge)
        #expect(failure { _ = try HLSPlaylist(bytes("a", 2 << 20)) }?.code == .lineTooLong)
        let lines = failure { _ = try HLSPlaylist(bytes("\n", 200_000)) }
        #expect(lines?.code == .tooManyLines && lines?.line == 200_001)
        limits.links = 10
        let links = failure { _ = try HLSPlaylist(bytes("a\n", 11), limits: limits) }
        #expect(
            links?.code == .tooManyLinks && links?.offset == 28 && links?.description.hasPrefix("Line 12: ") == true)
        #expect(try HLSPlaylist(bytes("a\n", 10), limits: limits).links.count == 10)
    }

    @Test("Case 39: keys of many formats at once are refused")
    func keyFormats() throws {
        let keys = (0..<17).map { "#EXT-X-KEY:METHOD=AES-128,URI=\"k\",KEYFORMAT=\"\($0)\"\n" }
        #expect(failure { _ = try hls("#EXTM3U\n" + keys.joined()) }?.code == .tooManyKeys)
        #expect(try hls("#EXTM3U\n" + keys.dropLast().joined()).media.keys.count == 16)
    }

    @Test("Case 39: a thousand faults are counted up to a limit")
    func faults() throws {
        #expect(try HLSPlaylist(bytes("#EXTINF:x\na\n", 1000)).problems.count == 32)
    }

    @Test(
        "Cases 41 and 42: what begins like no playlist is none, whatever it is called",
        arguments: [
            "", "<html>", "{\"a\":1}", "#EXTM3U8\n", "EXTM3U", "#EXTINF:1,\na", "#extm3u\n", "\u{0}#EXTM3U", "<!--",
        ])
    func otherTexts(text: String) {
        #expect(PlaylistFormat(of: text.utf8) == nil)
        #expect(failure { _ = try Playlist(Array(text.utf8)) }?.code == .notAPlaylist)
        #expect(failure { _ = try HLSPlaylist(Array(text.utf8)) }?.code == .notAPlaylist)
    }

    @Test(
        "Case 42: playlists are known by their first bytes",
        arguments: [
            ("#EXTM3U", PlaylistFormat.hls), ("#EXTM3U \r\n", .hls), ("\u{FEFF}\n# c\r\n#EXTM3U\n", .hls),
            ("<MPD>", .dash), ("\u{FEFF}<?xml version=\"1.0\"?>\n<!-- c -->\n<d:MPD x=\"\"", .dash),
            ("<Patch/>", .dash),
            ("<!DOCTYPE MPD><MPD ", .dash),
        ])
    func knownTexts(text: String, format: PlaylistFormat) {
        #expect(PlaylistFormat(of: text.utf8) == format)
    }

    @Test(
        "a beginning is judged once it is long enough, and not before",
        arguments: [
            ("", .undecided), ("#", .undecided), ("#EXTM", .undecided), ("\u{FEFF}", .undecided), (" \n", .undecided),
            ("# comment\n# more", .undecided), ("<", .undecided), ("<!-- c", .undecided), ("<?xml ?>\n<M", .undecided),
            ("<MPD", .format(.dash)), ("#EXTM3U", .format(.hls)), ("# c\n#EXTM3U\n", .format(.hls)),
            ("I", .none), ("\u{0}", .none), ("<html", .undecided), ("<html>", .none), ("<?xml ?><rss ", .none),
            ("# comment\nx", .none),
        ] as [(String, PlaylistFormat.Look)]) func looks(text: String, look: PlaylistFormat.Look)
    {
        #expect(PlaylistFormat.look(at: text.utf8) == look)
    }

    @Test("half a byte order mark decides nothing") func halfAMark() {
        #expect(PlaylistFormat.look(at: [0xEF]) == .undecided)
        #expect(PlaylistFormat.look(at: [0xEF, 0xBB]) == .undecided)
        #expect(PlaylistFormat.look(at: [0xEF, 0xBA]) == .none)
    }

    /// A reader that went through the rest of the text for each of its bytes would not end within the suite's time.
    @Test(
        "Case 39: long repeated text of every kind is read to its end",
        arguments: [
            "#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n", "#EXTINF:4,\n#EXT-X-BYTERANGE:5\na.ts\n", "\r", "#", "{$", "\"",
            ",", "a=\"",
            "#EXT-X-DEFINE:NAME=\"a\",VALUE=\"b\"\n", "#EXT-X-STREAM-INF:BANDWIDTH=1\n", "#EXT-X-MEDIA:URI=\"{$a}\"\n",
            "#EXT-X-PART:URI=\"a\",BYTERANGE=\"1\"\n", "../", "<S d=\"1\"/>", "<BaseURL>", "<a b='", "&amp;", "<!--",
            "<!",
            "<SegmentTimeline/>", "<Period/>",
        ])
    func longTexts(text: String) {
        let repeated = String(repeating: text, count: 8000)
        let texts = [
            "#EXTM3U\n" + repeated, "#EXTM3U\n#EXT-X-MEDIA:URI=\"\(repeated)", "<MPD><Period>\(repeated)",
            "<MPD a=\"\(repeated)",
        ]
        for text in texts {
            guard let list = try? Playlist(Array(text.utf8)) else { continue }
            for link in list.links { _ = list.target(of: link, base: URIReference(listURL)) }
            #expect(list.links.allSatisfy { $0.place.upperBound <= text.utf8.count })
        }
    }
}
