import Playlists
import Reprise
import TestLimits
import Testing

@testable import RepriseStreams

/// Which variants, renditions and representations a selection means.
@Suite(.limit(minutes: 1)) struct TrackChoiceTests {
    private static let ladder = [
        TrackQuality(index: 0, height: 360, bandwidth: 800_000, codecs: "avc1.64001e,mp4a.40.2"),
        TrackQuality(index: 1, height: 1080, bandwidth: 5_000_000, codecs: "avc1.640028, mp4a.40.2"),
        TrackQuality(index: 2, height: 1080, bandwidth: 3_000_000, codecs: "hvc1.2.4.L123"),
        TrackQuality(index: 3, height: 720, bandwidth: 2_500_000, codecs: "avc1.64001f"),
        TrackQuality(index: 4, height: nil, bandwidth: 64_000, codecs: "mp4a.40.2"),
    ]

    @Test(arguments: [
        (StreamSelection.Quality.best, nil as String?, 1), (.best, "hevc", 2), (.best, "HVC1", 2), (.best, "avc", 1),
        (.smallest, nil, 4), (.smallest, "h264", 0), (.height(1080), nil, 1), (.height(1079), nil, 3),
        (.height(400), nil, 0), (.height(100), nil, 0), (.bandwidth(3_000_000), nil, 2),
        (.bandwidth(2_999_999), nil, 3),
        (.bandwidth(1), nil, 0), (.bandwidth(.max), nil, 1),
    ])
    func quality(quality: StreamSelection.Quality, codec: String?, wanted: Int) throws {
        let selection = StreamSelection(quality: quality, codec: codec)
        #expect(try TrackQuality.choice(of: Self.ladder, by: selection) == wanted)
        #expect(try TrackQuality.choice(of: Self.ladder.reversed(), by: selection) == wanted, "whatever the order")
    }

    @Test func aCodecThatIsNotThereIsNamedWithThoseThatAre() throws {
        let error = #expect(throws: RepriseError.self) {
            _ = try TrackQuality.choice(of: Self.ladder, by: StreamSelection(codec: "av1"))
        }
        #expect(error?.code == .notDownloadable)
        #expect(error?.message.contains("hvc1.2.4.L123") == true)
    }

    @Test("without heights and bandwidths it is the first")
    func nothingToChooseBy() throws {
        let all = (0..<3).map { TrackQuality(index: $0, height: nil, bandwidth: nil, codecs: nil) }
        for quality in [StreamSelection.Quality.best, .smallest, .height(1), .bandwidth(1)] {
            #expect(try TrackQuality.choice(of: all, by: StreamSelection(quality: quality)) == 0)
        }
    }

    private static let voices = [
        LanguageTrack(language: "en-US", isPreset: false), LanguageTrack(language: "de", isPreset: true),
        LanguageTrack(language: nil, isPreset: false), LanguageTrack(language: "en", isPreset: false),
    ]

    @Test(
        "languages by RFC 4647 §3.3.1",
        arguments: [
            (StreamSelection.Languages.preset, [1]), (.all, [0, 1, 2, 3]), (.none, []), (.only(["en"]), [0, 3]),
            (.only(["EN-us"]), [0]), (.only(["de", "en", "de"]), [1, 0, 3]), (.only([]), []),
        ])
    func languages(languages: StreamSelection.Languages, wanted: [Int]) throws {
        #expect(try LanguageTrack.choice(of: Self.voices, by: languages, word: "sound", needsOne: true) == wanted)
    }

    @Test func aLanguageThatIsNotThereIsNamedWithThoseThatAre() throws {
        let error = #expect(throws: RepriseError.self) {
            _ = try LanguageTrack.choice(of: Self.voices, by: .only(["e"]), word: "sound", needsOne: true)
        }
        #expect(error?.message == "The stream has no sound in e; it has de, en, en-US.")
    }

    @Test func withoutADefaultTheFirstIsHeardAndNoneIsRead() throws {
        let all = (0..<2).map { _ in LanguageTrack(language: "en", isPreset: false) }
        #expect(try LanguageTrack.choice(of: all, by: .preset, word: "sound", needsOne: true) == [0])
        #expect(try LanguageTrack.choice(of: all, by: .preset, word: "subtitles", needsOne: false) == [])
    }

    @Test("a group without a playlist of its own needs none")
    func muxedSound() throws {
        let list = try HLSPlaylist(
            Array(
                """
                #EXTM3U
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Main",DEFAULT=YES
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Comments",LANGUAGE="en",URI="comments.m3u8"
                #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a"
                v.m3u8

                """.utf8))
        #expect(
            try HLSSelection(list, by: StreamSelection()).links.map { list.text(list.links[$0].place) } == ["v.m3u8"])
        #expect(try HLSSelection(list, by: StreamSelection(audio: .all)).links.count == 2)
    }

    @Test("a wanted language goes before a better picture whose sound has none")
    func muxedSoundBesideLanguages() throws {
        let list = try HLSPlaylist(
            Array(
                """
                #EXTM3U
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Deutsch",LANGUAGE="de",DEFAULT=YES,URI="de.m3u8"
                #EXT-X-STREAM-INF:BANDWIDTH=2,RESOLUTION=1920x1080
                best.m3u8
                #EXT-X-STREAM-INF:BANDWIDTH=1,RESOLUTION=1280x720,AUDIO="a"
                german.m3u8

                """.utf8))
        func links(_ audio: StreamSelection.Languages) throws -> [String] {
            try HLSSelection(list, by: StreamSelection(audio: audio)).links.map { list.text(list.links[$0].place) }
        }
        #expect(try links(.only(["de"])) == ["german.m3u8", "de.m3u8"])
        #expect(try links(.preset) == ["best.m3u8"])
    }

    /// The playlists that a selection takes of variants of two pictures, with sound in groups of different languages.
    private static func links(_ selection: StreamSelection) throws -> [String] {
        let list = try HLSPlaylist(
            Array(
                """
                #EXTM3U
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a1",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="en.m3u8"
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a1",NAME="Deutsch",LANGUAGE="de-DE",URI="de.m3u8"
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a2",NAME="English",LANGUAGE="en-GB",DEFAULT=YES,URI="gb.m3u8"
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a2",NAME="Italiano",LANGUAGE="it",URI="it.m3u8"
                #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="Italiano",LANGUAGE="it",URI="text.m3u8"
                #EXT-X-STREAM-INF:BANDWIDTH=500000,RESOLUTION=320x180,CODECS="avc1.42c00d",AUDIO="a1",SUBTITLES="s"
                low.m3u8
                #EXT-X-STREAM-INF:BANDWIDTH=1300000,RESOLUTION=640x360,CODECS="avc1.42c01e",AUDIO="a2"
                best.m3u8
                #EXT-X-STREAM-INF:BANDWIDTH=1200000,RESOLUTION=640x360,CODECS="hvc1.2.4.L63",AUDIO="a1"
                second.m3u8

                """.utf8))
        return try HLSSelection(list, by: selection).links.map { list.text(list.links[$0].place) }
    }

    @Test("the quality is chosen among those that have the languages")
    func qualityWithALanguage() throws {
        let cases: [(StreamSelection, [String])] = [
            (StreamSelection(), ["best.m3u8", "gb.m3u8"]),
            (StreamSelection(audio: .only(["de"])), ["second.m3u8", "de.m3u8"]),
            (StreamSelection(audio: .only(["en"])), ["best.m3u8", "gb.m3u8"]),
            (StreamSelection(audio: .only(["it"])), ["best.m3u8", "it.m3u8"]),
            (StreamSelection(audio: .only([]), subtitles: .only([])), ["best.m3u8"]),
            (StreamSelection(codec: "avc", audio: .only(["de"])), ["low.m3u8", "de.m3u8"]),
            (StreamSelection(subtitles: .only(["it"])), ["low.m3u8", "en.m3u8", "text.m3u8"]),
        ]
        for (selection, wanted) in cases { #expect(try Self.links(selection) == wanted, "\(selection)") }
    }

    @Test(
        "languages that no quality has together, or the stream not at all, are refused with what is true",
        arguments: [
            (StreamSelection(audio: .only(["fr"])), "The stream has no sound in fr; it has de-DE, en, en-GB, it."),
            (StreamSelection(subtitles: .only(["de"])), "The stream has no subtitles in de; it has it."),
            (
                StreamSelection(audio: .only(["de", "it"])),
                "The stream has these languages, but no quality has all of them."
            ),
            (
                StreamSelection(codec: "hevc", audio: .only(["it"])),
                "The stream has these languages, but no quality in hevc has all of them."
            ),
        ])
    func languagesOfNoQuality(_ selection: StreamSelection, _ words: String) {
        let error = #expect(throws: RepriseError.self) { _ = try Self.links(selection) }
        #expect(error?.code == .notDownloadable && error?.message == words)
    }

    /// The languages that a selection takes of two periods, the second of which has English alone.
    private static func languages(_ selection: StreamSelection, second: [String] = ["en"]) throws -> [[String]] {
        func sets(_ kind: String, _ languages: [String]) -> String {
            languages.map { language in
                "<AdaptationSet contentType=\"\(kind)\" lang=\"\(language)\"><Representation/></AdaptationSet>"
            }.joined()
        }
        let mpd = try MPD(
            Array(
                """
                <MPD type="static"><Period id="film">\(sets("video", ["und"]))\(sets("audio", ["en", "de"]))\
                \(sets("text", ["en", "de"]))</Period>\
                <Period id="advertisement">\(sets("video", ["und"]))\(sets("audio", second))</Period></MPD>
                """.utf8))
        let paths = try DASHSelection(mpd, by: selection).paths
        return mpd.periods.indices.map { period in
            paths.filter { $0.period == period }.map { path in
                let set = mpd.periods[period].adaptationSets[path.adaptationSet]
                return set.medium + " " + (set.language ?? "")
            }
        }
    }

    @Test("a period that lacks a language is without it, and not without any sound")
    func languageOfOnePeriod() throws {
        let both = try Self.languages(StreamSelection(audio: .only(["en", "de"])))
        #expect(both == [["video und", "audio en", "audio de"], ["video und", "audio en"]])
        let german = try Self.languages(StreamSelection(audio: .only(["de"]), subtitles: .only(["de"])))
        #expect(german == [["video und", "audio de", "text de"], ["video und", "audio en"]])
        let silent = try Self.languages(StreamSelection(audio: .only(["de"])), second: [])
        #expect(silent == [["video und", "audio de"], ["video und"]])
    }

    @Test func aLanguageOfNoPeriodIsRefused() {
        let sound = #expect(throws: RepriseError.self) {
            _ = try Self.languages(StreamSelection(audio: .only(["en", "fr"])), second: ["it"])
        }
        #expect(sound?.message == "The stream has no sound in fr; it has de, en, it.")
        let texts = #expect(throws: RepriseError.self) {
            _ = try Self.languages(StreamSelection(subtitles: .only(["fr"])))
        }
        #expect(texts?.message == "The stream has no subtitles in fr; it has de, en.")
    }
}
