import TestLimits
import Testing

@testable import Playlists

/// What of a playlist stays when only some of its files are stored (rfc8216bis §4.4.6).
@Suite("Offline selection") struct OfflineSelectionTests {
    /// The text that stays, or `nil` if nothing plays; `stored` are the links by their text.
    private static func kept(_ text: String, stored: Set<String>) throws -> String? {
        let list = try HLSPlaylist(Array(text.utf8))
        let selection = OfflineSelection(of: list) { stored.contains(list.text(list.links[$0].place)) }
        if selection.isEmpty { return nil }
        var editor = PlaylistEditor(list.bytes)
        try editor.keep(selection)
        return String(decoding: try editor.edited(), as: UTF8.self)
    }

    private static let master = """
        #EXTM3U
        #EXT-X-UNKNOWN:stays
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",DEFAULT=YES,AUTOSELECT=YES,URI="en.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Deutsch",DEFAULT=NO,URI="de.m3u8"
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="English",URI="subtitles.m3u8"
        #EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID="c",NAME="CC",INSTREAM-ID="CC1"
        #EXT-X-STREAM-INF:BANDWIDTH=5000000,AUDIO="a",SUBTITLES="s",CLOSED-CAPTIONS="c"
        # a comment between tag and URI
        high.m3u8
        #EXT-X-STREAM-INF:SUBTITLES="s",BANDWIDTH=800000,AUDIO="a"
        low.m3u8
        #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=90000,URI="fast.m3u8"
        #EXT-X-SESSION-DATA:DATA-ID="title",VALUE="Pilot"
        #EXT-X-SESSION-DATA:DATA-ID="more",URI="more.json"
        #EXT-X-SESSION-KEY:METHOD=AES-128,URI="key"

        """

    @Test("an interstitial goes unless all that it plays is stored, with every tag of its date range")
    func interstitials() throws {
        func range(_ id: String, _ attributes: String) -> String {
            "#EXT-X-DATERANGE:ID=\"\(id)\",\(attributes)\n"
        }
        let name = "CLASS=\"com.apple.hls.interstitial\""
        let head = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n"
        let ad = range("1", name + ",X-ASSET-URI=\"ad.m3u8\"")
        let kept = range("2", name + ",X-ASSET-URI=\"kept.m3u8\"")
        let list = range("3", name + ",X-ASSET-LIST=\"list.json\"")
        let later = range("1", name + ",DURATION=30")
        let other = range("1", "CLASS=\"com.example.mark\"") + range("4", "X-ASSET-URI=\"other.m3u8\"")
        let segments = "#EXTINF:4,\n1.ts\n#EXT-X-ENDLIST\n"
        let text = head + ad + kept + list + later + other + segments
        #expect(try Self.kept(text, stored: ["1.ts", "kept.m3u8"]) == head + kept + other + segments)
        #expect(try Self.kept(text, stored: ["1.ts", "kept.m3u8", "ad.m3u8", "list.json"]) == text)
    }

    @Test func allStaysThatIsStored() throws {
        let stored: Set = [
            "en.m3u8", "de.m3u8", "subtitles.m3u8", "high.m3u8", "low.m3u8", "fast.m3u8", "more.json", "key",
        ]
        #expect(try Self.kept(Self.master, stored: stored) == Self.master)
    }

    @Test func aVariantGoesWithItsLineAndEmptySubtitlesWithTheirAttribute() throws {
        let kept = try Self.kept(Self.master, stored: ["en.m3u8", "low.m3u8"])
        #expect(
            kept == """
                #EXTM3U
                #EXT-X-UNKNOWN:stays
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",DEFAULT=YES,AUTOSELECT=YES,URI="en.m3u8"
                # a comment between tag and URI
                #EXT-X-STREAM-INF:BANDWIDTH=800000,AUDIO="a"
                low.m3u8
                #EXT-X-SESSION-DATA:DATA-ID="title",VALUE="Pilot"

                """)
    }

    @Test func closedCaptionsStayWithTheirVariant() throws {
        let kept = try #require(try Self.kept(Self.master, stored: ["en.m3u8", "high.m3u8"]))
        #expect(kept.contains("TYPE=CLOSED-CAPTIONS") && kept.contains(#"AUDIO="a",CLOSED-CAPTIONS="c""#))
        #expect(!kept.contains("SUBTITLES"))
    }

    @Test func anotherRenditionBecomesTheDefault() throws {
        let kept = try #require(try Self.kept(Self.master, stored: ["de.m3u8", "low.m3u8"]))
        #expect(kept.contains(#"NAME="Deutsch",DEFAULT=YES,URI="de.m3u8",AUTOSELECT=YES"# + "\n"))
        #expect(!kept.contains("en.m3u8"))
    }

    @Test func aVariantWithoutSoundDoesNotStay() throws {
        #expect(try Self.kept(Self.master, stored: ["high.m3u8", "low.m3u8", "subtitles.m3u8"]) == nil)
        #expect(try Self.kept(Self.master, stored: []) == nil)
    }

    @Test("all groups of a type have the same members (rfc8216bis §4.4.6.1.1)") func levelGroups() throws {
        let text = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="lo",NAME="English",URI="lo-en.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="lo",NAME="Deutsch",URI="lo-de.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="hi",NAME="English",URI="hi-en.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="hi",NAME="Deutsch",URI="hi-de.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=5000000,AUDIO="hi"
            high.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=800000,AUDIO="lo"
            low.m3u8

            """
        let common = try #require(
            try Self.kept(text, stored: ["high.m3u8", "low.m3u8", "lo-en.m3u8", "hi-en.m3u8", "hi-de.m3u8"]))
        #expect(!common.contains("Deutsch") && common.contains("high.m3u8") && common.contains("low.m3u8"))
        let one = try #require(try Self.kept(text, stored: ["high.m3u8", "low.m3u8", "lo-en.m3u8", "hi-de.m3u8"]))
        #expect(one.contains("hi-de.m3u8") && one.contains("high.m3u8"))
        #expect(!one.contains("lo-en.m3u8") && !one.contains("low.m3u8"))
    }

    @Test("a variant whose picture and sound come from groups needs no playlist of its own (rfc8216bis §6.3.2)")
    func madeOfGroups() throws {
        let text = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=VIDEO,GROUP-ID="v",NAME="Main",URI="video.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Main",URI="audio.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=5000000,AUDIO="a",VIDEO="v"
            both.m3u8

            """
        #expect(try Self.kept(text, stored: ["video.m3u8", "audio.m3u8"]) == text)
        #expect(try Self.kept(text, stored: ["video.m3u8"]) == nil)
    }

    @Test("segments that are not stored are gaps, with their maps and keys") func gaps() throws {
        let text = """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-MAP:URI="a.mp4"
            #EXTINF:4,
            1.mp4
            #EXTINF:4,
            2.mp4
            #EXT-X-KEY:METHOD=AES-128,URI="key"
            #EXTINF:4,
            3.mp4
            #EXT-X-KEY:METHOD=NONE
            #EXT-X-MAP:URI="b.mp4"
            #EXTINF:4,
            4.mp4
            #EXT-X-ENDLIST

            """
        let all: Set = ["a.mp4", "b.mp4", "key", "1.mp4", "2.mp4", "3.mp4", "4.mp4"]
        #expect(try Self.kept(text, stored: all) == text)
        for (missing, gaps) in [("2.mp4", ["2.mp4"]), ("key", ["3.mp4"]), ("b.mp4", ["4.mp4"])] {
            let expected = gaps.reduce(text) { $0.replacing("\n\($1)\n", with: "\n#EXT-X-GAP\n\($1)\n") }
            #expect(try Self.kept(text, stored: all.subtracting([missing])) == expected, "\(missing)")
        }
        #expect(try Self.kept(text, stored: ["a.mp4", "key"]) == nil)
    }

    @Test("of keys that hold together, one that every player can use is enough") func keysOfSeveralFormats() throws {
        let system = "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"system\",KEYFORMAT=\"com.apple.streamingkeydelivery\"\n"
        let rest = "#EXTINF:4,\n1.ts\n#EXT-X-ENDLIST\n"
        let begin = "#EXTM3U\n#EXT-X-VERSION:5\n#EXT-X-TARGETDURATION:4\n" + system
        let both = begin + "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"key\"\n" + rest
        #expect(try Self.kept(both, stored: ["key", "1.ts"]) == both)
        #expect(try Self.kept(both, stored: ["system", "1.ts"]) == nil)
        #expect(try Self.kept(begin + rest, stored: ["system", "1.ts"]) == begin + rest)
        #expect(try Self.kept(begin + rest, stored: ["1.ts"]) == nil)
    }

    @Test func aLiveListEndsWithoutItsOrigin() throws {
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n1.ts"
        #expect(try Self.kept(text, stored: ["1.ts"]) == text + "\n#EXT-X-ENDLIST\n")
    }

    @Test("what stays is read again as it was meant, whatever is missing") func everySelection() throws {
        let list = try HLSPlaylist(Array(Self.master.utf8))
        let names = list.links.map { list.text($0.place) }
        for bits in 0..<(1 << names.count) {
            let stored = Set(names.indices.filter { bits >> $0 & 1 == 1 }.map { names[$0] })
            guard let text = try Self.kept(Self.master, stored: stored) else { continue }
            let kept = try HLSPlaylist(Array(text.utf8))
            #expect(kept.kind == .multivariant && kept.problems.isEmpty)
            #expect(kept.links.allSatisfy { stored.contains(kept.text($0.place)) })
            for variant in kept.multivariant.variants {
                let groups = [variant.audioGroup, variant.subtitlesGroup, variant.closedCaptionsGroup].compactMap { $0 }
                for group in groups { #expect(kept.multivariant.renditions.contains { $0.groupID == group }) }
            }
            let audio = kept.multivariant.renditions.filter { $0.kind == .audio }
            #expect(audio.count(where: \.isDefault) == 1, "\(text)")
            #expect(try Self.kept(text, stored: stored) == text)
        }
    }
}

/// What of an MPD is named without the origin.
@Suite(.limit(minutes: 1)) struct OfflineMPDTests {
    private static func text(_ stored: Set<String>, _ sets: String) throws -> (text: String, isEmpty: Bool) {
        let bytes = Array("<MPD><Period>\(sets)</Period></MPD>".utf8)
        let mpd = try MPD(bytes)
        let selection = OfflineSelection(of: mpd) { path in
            let set = mpd.periods[path.period].adaptationSets[path.adaptationSet]
            return stored.contains(set.representations[path.representation].id)
        }
        var editor = PlaylistEditor(bytes)
        try editor.keep(selection)
        return (String(decoding: try editor.edited(), as: UTF8.self), selection.isEmpty)
    }

    private static let video =
        #"<AdaptationSet contentType="video"><Representation id="1"/><Representation id="2"><BaseURL>x</BaseURL></Representation></AdaptationSet>"#
    private static let audio =
        #"<AdaptationSet mimeType="audio/mp4"><Representation id="3" mimeType="audio/mp4"/></AdaptationSet>"#
    private static let other = #"<AdaptationSet contentType="audio"><Representation id="4"/></AdaptationSet>"#
    private static let words = #"<AdaptationSet contentType="text"><Representation id="5"/></AdaptationSet>"#

    @Test("all subsets of five representations name the stored ones, unless picture or sound is missing")
    func subsets() throws {
        let all = ["1", "2", "3", "4", "5"]
        for number in 0..<32 {
            let stored = Set(all.indices.filter { number >> $0 & 1 == 1 }.map { all[$0] })
            let (text, isEmpty) = try Self.text(stored, Self.video + Self.audio + Self.other + Self.words)
            #expect(
                isEmpty == (stored.isDisjoint(with: ["1", "2"]) || stored.isDisjoint(with: ["3", "4"])), "\(stored)")
            let mpd = try MPD(Array(text.utf8))
            let named = mpd.periods[0].adaptationSets.flatMap { $0.representations.map(\.id) }
            #expect(Set(named) == stored, "\(text)")
            #expect(mpd.periods[0].adaptationSets.allSatisfy { !$0.representations.isEmpty }, "\(text)")
        }
    }

    @Test("a representation where none belongs is left alone")
    func misplaced() throws {
        let (text, isEmpty) = try Self.text(["2"], "<Representation id=\"9\"></Representation>" + Self.video)
        #expect(!isEmpty)
        #expect(text.contains("id=\"9\"") && text.contains("<BaseURL>x</BaseURL>"), "\(text)")
        #expect(!text.contains("id=\"1\""), "\(text)")
    }
}
