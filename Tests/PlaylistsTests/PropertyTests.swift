import Playlists
import TestLimits
import Testing

/// Generated and damaged playlists: nothing traps, nothing that is not edited changes.
@Suite("Generated playlists", .limit(minutes: 3)) struct PropertyTests {
    static let ends = ["\n", "\r\n", "\r", "\n\n"]
    static let lines = [
        "#EXTM3U", "#EXT-X-VERSION:9", "#EXTINF:4.0,Title, x", "s.ts", "https://b/s.ts?a=1&b=2", "../é 1.ts",
        "#EXT-X-BYTERANGE:100@7", "#EXT-X-BYTERANGE:100", "#EXT-X-KEY:METHOD=AES-128,URI=\"k,\",IV=0x1", "# comment",
        "#EXT-X-KEY:METHOD=NONE", "#EXT-X-MAP:URI=\"i.mp4\",BYTERANGE=\"5@0\"",
        "#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS=\"a,b\"",
        "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"g\",URI=\"{$v}/a.m3u8\"", "#EXT-X-DEFINE:NAME=\"v\",VALUE=\"//c\"",
        "{$v}/x",
        "#EXT-X-PART:URI=\"p\",DURATION=0.3,BYTERANGE=\"5\"",
        "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"p\",BYTERANGE-START=5",
        "#EXT-X-DATERANGE:ID=\"1\",X-ASSET-URI=\"https://b/a\"", "#EXT-X-ENDLIST", "#EXT-X-UNKNOWN:\"", "", "\t",
        "#EXT-X-RENDITION-REPORT:URI=\"r\"", "#EXT-X-PREFETCH:p.ts", "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES",
        "#EXT-X-MEDIA-SEQUENCE:9007199254740992", "#EXT-X-SKIP:SKIPPED-SEGMENTS=9007199254740992",
        "#EXT-X-DISCONTINUITY",
    ]
    static let elements = [
        "<Period>", "</Period>", "<AdaptationSet>", "</AdaptationSet>", "<Representation id=\"r\" bandwidth='9'>",
        "</Representation>", "<BaseURL>a/&amp;b</BaseURL>", "<BaseURL/>",
        "<SegmentTemplate media=\"$Number%02d$&#38;\" duration='2'/>",
        "<SegmentTemplate media='$Time$'><SegmentTimeline>", "<S t=\"0\" d=\"9007199254740992\" r=\"-1\"/>",
        "<S d=\"2\" r=\"3\"/>",
        "</SegmentTimeline></SegmentTemplate>", "<SegmentList>",
        "<SegmentURL media=\"a\" mediaRange=\"0-9007199254740991\"/>",
        "</SegmentList>", "<!-- c -->", "<![CDATA[x]]>", "text", "<?pi?>", "<Location> https://b/ </Location>", "\r\n",
    ]

    /// A generated text: a list, an MPD that is nested rightly, or pieces of one in any order.
    static func text(_ generator: inout SeededGenerator) -> [UInt8] {
        var text = ""
        if Bool.random(using: &generator) {
            text = "#EXTM3U\n"
            for _ in 0..<Int.random(in: 0...30, using: &generator) {
                text += lines.randomElement(using: &generator) ?? ""
                text += ends.randomElement(using: &generator) ?? ""
            }
        } else {
            text = "<MPD mediaPresentationDuration=\"PT9S\">"
            let isOrdered = Bool.random(using: &generator)
            for element in elements where isOrdered || Bool.random(using: &generator) {
                text += isOrdered ? element : elements.randomElement(using: &generator) ?? ""
            }
            text += "</MPD>"
        }
        return Array(text.utf8)
    }

    /// Reads everything that can be read, and checks what must hold of every result.
    static func check(_ bytes: [UInt8]) throws {
        var limits = PlaylistLimits()
        limits.lines = 5000
        let context = HLSContext(url: URIReference(listURL), imported: Variables(["v": "w"]))
        guard let playlist = try? Playlist(bytes, context: context, limits: limits) else { return }
        var end = 0
        for link in playlist.links {
            guard link.place.lowerBound >= end, link.place.upperBound <= bytes.count, !link.place.isEmpty else {
                Issue.record("The links are not in order: \(String(decoding: bytes, as: UTF8.self))")
                return
            }
            end = link.place.upperBound
            if case .range(let range) = link.extent { #expect(range.lowerBound >= 0 && range.upperBound <= 1 << 53) }
            _ = playlist.target(of: link, base: URIReference(listURL))
        }
        #expect(try PlaylistEditor(bytes).edited() == bytes)
        try checkIdentity(playlist)
        try checkReplacement(playlist)
        if case .dash(let mpd) = playlist { checkSegments(mpd) }
    }

    /// Each link replaced by itself gives the same text.
    static func checkIdentity(_ playlist: Playlist) throws {
        var editor = PlaylistEditor(playlist.bytes)
        for link in playlist.links where link.obstacle == nil {
            let value = link.context == .line || link.context == .quotedString ? nil : link.decoded
            let text = value ?? Array(playlist.bytes[link.place])
            let same = String(decoding: text, as: UTF8.self)
            guard Array(same.utf8) == text else { continue }
            try editor.replace(link, with: same)
        }
        let edited = try editor.edited()
        if edited != playlist.bytes { Issue.record("Changed: \(String(decoding: playlist.bytes, as: UTF8.self))") }
    }

    /// Each link replaced by another gives a text with as many links, which name that other; all else stays.
    static func checkReplacement(_ playlist: Playlist) throws {
        let new = "/https/h/a?b&c"
        var editor = PlaylistEditor(playlist.bytes)
        for link in playlist.links { try editor.replace(link, with: new) }
        let edited = try Playlist(try editor.edited())
        let expected = playlist.links.map(\.kind)
        guard edited.links.map(\.kind) == expected,
            edited.links.allSatisfy({ edited.reference(of: $0).text == new })
        else {
            Issue.record("Replaced: \(String(decoding: playlist.bytes, as: UTF8.self))")
            return
        }
    }

    static func checkSegments(_ mpd: MPD) {
        for (period, sets) in mpd.periods.map(\.adaptationSets).enumerated() {
            for (set, representations) in sets.map(\.representations).enumerated() {
                for index in representations.indices {
                    let path = MPD.Path(period: period, adaptationSet: set, representation: index)
                    let segments = try? mpd.segments(of: path, base: URIReference(listURL), limit: 50)
                    #expect(segments?.count ?? 0 <= 50)
                    _ = mpd.initialization(of: path, base: URIReference(listURL))
                }
            }
        }
    }

    @Test("Round trip: 1,000 generated playlists come out as they went in, and edits change links only")
    func generated() throws {
        var generator = SeededGenerator(state: 8216)
        for _ in 0..<1000 { try Self.check(Self.text(&generator)) }
    }

    @Test("3,000 damaged playlists trap nothing, and keep the same properties")
    func damaged() throws {
        var generator = SeededGenerator(state: 23_009)
        let alphabet = Array("\r\n\0\"'=,:#<>&;/{}$%@-0123456789ETXMPDa é".utf8) + [0xFF, 0xEF, 0xBB, 0xBF]
        for _ in 0..<3_000 {
            var bytes = Self.text(&generator)
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let place = Int.random(in: 0...bytes.count, using: &generator)
                let byte = alphabet.randomElement(using: &generator) ?? 0
                switch Int.random(in: 0..<4, using: &generator) {
                case 0 where place < bytes.count: bytes[place] = byte
                case 1 where place < bytes.count: bytes.remove(at: place)
                case 2: bytes.removeSubrange(place..<min(bytes.count, place + 20))
                default: bytes.insert(byte, at: place)
                }
            }
            try Self.check(bytes)
        }
    }
}
