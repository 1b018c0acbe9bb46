import Playlists
import TestLimits
import Testing

@testable import RepriseStreams

/// Which periods fit into one file, and how long a stream plays.
@Suite(.limit(minutes: 1)) struct ExportedPeriodTests {
    /// A set with one representation.
    private static func set(_ attributes: String) -> String {
        "<AdaptationSet \(attributes)><Representation/></AdaptationSet>"
    }

    private static let picture = set("contentType='video' codecs='avc1.42c00b' width='320' height='180'")
    private static let english = set("contentType='audio' lang='en' codecs='mp4a.40.2' audioSamplingRate='44100'")
    private static let german = set("contentType='audio' lang='de' codecs='mp4a.40.2' audioSamplingRate='44100'")
    private static let texts = set("contentType='text' lang='en'")

    /// The periods of an MPD with these contents, the second of which has an identifier.
    private static func periods(_ first: String, _ second: String) throws -> [ExportedPeriod] {
        let mpd = try MPD(Array("<MPD><Period>\(first)</Period><Period id='b'>\(second)</Period></MPD>".utf8))
        return try mpd.periods.indices.map { try ExportedPeriod($0, of: mpd, at: "film.mpd") }
    }

    @Test("streams are put in the order of the first period")
    func order() throws {
        let periods = try Self.periods(
            Self.picture + Self.texts + Self.english + Self.german,
            Self.german + Self.english.replacing("'en'", with: "'EN'") + Self.texts
                + Self.picture.replacing("avc1.42c00b", with: "avc3.640028"))
        let orders = try ExportedPeriod.orders(of: periods)
        #expect(orders.map(\.sound) == [[0, 1], [1, 0]])
        #expect(orders.map(\.subtitles) == [[0], [0]])
        let voices = Self.english + Self.english
        let alike = try ExportedPeriod.orders(of: Self.periods(voices, voices))
        #expect(alike.map(\.sound) == [[0, 1], [0, 1]], "two voices in one language stay in their order")
    }

    @Test(
        "periods that need other decoders, or lack a track, do not fit",
        arguments: [
            ("avc1.42c00b", "hvc1.1.6.L93", "the picture is avc1.42c00b in period 1 and hvc1.1.6.L93 in period 2 (b)"),
            ("height='180'", "height='240'", "the picture is 320x180 in period 1 and 320x240 in period 2 (b)"),
            ("44100", "48000", "the sound in en is 44100 Hz in period 1 and 48000 Hz in period 2 (b)"),
            ("mp4a.40.2", "mp4a.40.5", "the sound in en is mp4a.40.2 in period 1 and mp4a.40.5 in period 2 (b)"),
            ("lang='en'", "lang='fr'", "period 2 (b) has no sound in en, which period 1 has"),
        ])
    func mismatches(text: String, other: String, reason: String) throws {
        let period = Self.picture + Self.english
        let periods = try Self.periods(period, period.replacing(text, with: other))
        #expect(throws: ExportedPeriod.Mismatch(reason: reason)) { try ExportedPeriod.orders(of: periods) }
    }

    @Test func aTrackThatOnlyALaterPeriodHasDoesNotFit() throws {
        let periods = try Self.periods(Self.picture + Self.english, Self.picture + Self.english + Self.texts)
        let reason = "period 1 has no subtitles in en, which period 2 (b) has"
        #expect(throws: ExportedPeriod.Mismatch(reason: reason)) { try ExportedPeriod.orders(of: periods) }
    }

    @Test("pictures do not matter to a file of sound alone")
    func soundAlone() throws {
        let periods = try Self.periods(
            Self.picture + Self.english, Self.picture.replacing("320", with: "640") + Self.english)
        #expect(throws: ExportedPeriod.Mismatch.self) { try ExportedPeriod.orders(of: periods) }
        let orders = try ExportedPeriod.orders(of: periods.map(\.soundAlone))
        #expect(orders.map(\.sound) == [[0], [0]])
    }

    // MARK: - Playing time

    private static func list(version: Int, _ durations: [String]) throws -> PlayingTime? {
        let segments = durations.enumerated().map { "#EXTINF:\($1)\n\($0).ts\n" }.joined()
        let text = "#EXTM3U\n#EXT-X-VERSION:\(version)\n#EXT-X-TARGETDURATION:9\n\(segments)#EXT-X-ENDLIST\n"
        return PlayingTime(of: try HLSPlaylist(Array(text.utf8)))
    }

    @Test("a list plays for the sum of its segments; before version 3 each is rounded")
    func timeOfAList() throws {
        let exact = try #require(try Self.list(version: 3, ["4.5", "4.5", "2"]))
        #expect(exact.seconds == 11)
        // A segment of 4.5 s, and a twentieth of 11 s.
        #expect(!exact.isMissed(by: 5.96) && exact.isMissed(by: 5.94))
        let rounded = try #require(try Self.list(version: 2, ["4", "4", "4"]))
        #expect(!rounded.isMissed(by: 5.91) && rounded.isMissed(by: 5.89))
        let gap = try #require(try Self.list(version: 8, ["4", "4\n#EXT-X-GAP", "4"]))
        #expect(gap.seconds == 8)
        #expect(try Self.list(version: 3, ["4", "0"]) == nil)
    }

    @Test("an MPD plays for the shorter of picture and sound in each period, and no longer than the period")
    func timeOfAnMPD() throws {
        func set(_ kind: String, _ segments: String) -> String {
            "<AdaptationSet contentType='\(kind)'><SegmentTemplate media='$Number$' \(segments)</AdaptationSet>"
        }
        let (timeline, end) = ("><SegmentTimeline><S d='4' r='2'/></SegmentTimeline>", "</SegmentTemplate>")
        let representation = "<Representation/>"
        let mpd = try MPD(
            Array(
                """
                <MPD><Period duration='PT10S'>\(set("video", timeline + end + representation))\
                \(set("text", "duration='1' endNumber='1'/>" + representation))</Period>\
                <Period duration='PT6S'>\(set("video", "duration='2'/>" + representation))\
                \(set("audio", "duration='2' endNumber='2'/>" + representation))</Period></MPD>
                """.utf8))
        let time = try #require(PlayingTime(of: mpd))
        #expect(time.seconds == 14 && time.tolerance == 4)
    }
}
