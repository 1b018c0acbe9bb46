import Playlists
import TestLimits
import Testing

/// `SegmentTemplate` and `SegmentList` on several levels of an MPD.
@Suite("Segments by what several levels say", .limit(minutes: 1)) struct SegmentLevelsTests {
    private static let path = MPD.Path(period: 0, adaptationSet: 0, representation: 0)
    private static let url = "https://a.example/d/m.mpd"

    /// An MPD of six seconds whose segments are found by what a period, a set and a representation say.
    private func levels(_ period: String = "", _ set: String = "", _ representation: String = "") -> String {
        """
        <MPD mediaPresentationDuration="PT6S"><Period>\(period)<AdaptationSet>\(set)<Representation id="r">\
        \(representation)</Representation></AdaptationSet></Period></MPD>
        """
    }

    private func names(_ text: String) throws -> [String] {
        let mpd = try MPD(Array(text.utf8))
        let base = URIReference(Self.url)
        let map = mpd.initialization(of: Self.path, base: base).map { [$0] } ?? []
        return try (map + mpd.segments(of: Self.path, base: base)).map { segment in
            guard case .fetchable(let uri) = segment.target else { return "" }
            return String(uri.text.dropFirst("https://a.example/d/".count))
        }
    }

    @Test(
        "What is missing on a level comes from those around it, attribute by attribute: ISO/IEC 23009-1 §5.3.9.1",
        arguments: [
            ("timescale='10' duration='20'", "startNumber='3'", "media='m$Number$'", ["m3", "m4", "m5"]),
            ("media='m$Number$' initialization='i'", "duration='20'", "timescale='10'", ["i", "m1", "m2", "m3"]),
            ("media='a$Number$'", "startNumber='1' duration='3'", "media='m$Number$' startNumber='8'", ["m8", "m9"]),
            ("duration='1' endNumber='9'", "startNumber='8'", "media='m$Number$'", ["m8", "m9"]),
            ("duration='1' timescale='1'", "duration='3'", "media='m$Number$'", ["m1", "m2"]),
            ("presentationTimeOffset='7'", "media='m$Time$'", "duration='3'", ["m7", "m10"]),
        ])
    func templatesOnLevels(period: String, set: String, representation: String, expected: [String]) throws {
        let all = [period, set, representation].map { "<SegmentTemplate \($0)/>" }
        #expect(try names(levels(all[0], all[1], all[2])) == expected)
    }

    @Test("The same holds of lists")
    func listsOnLevels() throws {
        let urls = "<SegmentURL media='a'/><SegmentURL media='b'/>"
        let map = "<Initialization sourceURL='i'/>"
        let text = levels(
            "<SegmentList timescale='10' duration='30'/>", "<SegmentList startNumber='4'>\(map)</SegmentList>",
            "<SegmentList>\(urls)</SegmentList>")
        #expect(try names(text) == ["i", "a", "b"])
        let segments = try MPD(Array(text.utf8)).segments(of: Self.path, base: URIReference(Self.url))
        #expect(segments.map(\.start) == [0, 3] && segments.map(\.number) == [4, 5])
        #expect(try names(levels("", "<SegmentList duration='3'>\(map)\(urls)</SegmentList>")) == ["i", "a", "b"])
        // Other URLs replace all of them.
        let other = "<SegmentList><SegmentURL media='c'/></SegmentList>"
        #expect(try names(levels("", "<SegmentList duration='3'>\(map)\(urls)</SegmentList>", other)) == ["i", "c"])
    }

    @Test("A timeline on any level comes before a duration, as in ffmpeg and GStreamer")
    func timelineOnLevels() throws {
        let timeline = "<SegmentTimeline><S t='0' d='2' r='1'/></SegmentTimeline>"
        let inner = "<SegmentTemplate media='m$Number$'>\(timeline)</SegmentTemplate>"
        let outer = "<SegmentTemplate>\(timeline)</SegmentTemplate>"
        let all = [
            levels("<SegmentTemplate duration='1'/>", "", inner),
            levels("", outer, "<SegmentTemplate duration='1' media='m$Number$'/>"),
        ]
        for text in all { #expect(try names(text) == ["m1", "m2"]) }
    }

    @Test("A template with a pattern for its initialization has no other one, as in ffmpeg and GStreamer")
    func initializationOnLevels() throws {
        let element = "<SegmentTemplate duration='6' media='m'><Initialization sourceURL='e'/></SegmentTemplate>"
        #expect(try names(levels("", "<SegmentTemplate initialization='i'/>", element)) == ["i", "m"])
        #expect(try names(levels("", element, "<SegmentTemplate initialization='i'/>")) == ["i", "m"])
        #expect(try names(levels("", "", element)) == ["e", "m"])
    }

    @Test("Levels that differ in kind: a template comes before a list, as in ffmpeg and GStreamer")
    func kindsOnLevels() throws {
        let list = "<SegmentList duration='3'><SegmentURL media='a'/><SegmentURL media='b'/></SegmentList>"
        let template = "<SegmentTemplate duration='3' media='m$Number$'/>"
        #expect(try names(levels(template, list)) == ["m1", "m2"])
        #expect(try names(levels("", list, template)) == ["m1", "m2"])
        #expect(try names(levels(template, list, "<SegmentTemplate startNumber='5'/>")) == ["m5", "m6"])
        #expect(try names(levels("<SegmentBase timescale='10'/>", "", template)) == ["m1", "m2"])
    }
}
