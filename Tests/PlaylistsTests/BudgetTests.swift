import Playlists
import TestLimits
import Testing

/// Playlists that grow in one direction, and all the work that is done with them.
@Suite("The budget of a playlist", .limit(minutes: 3)) struct BudgetTests {
    /// A kind of playlist: its text with `count` of what it has many of.
    struct Shape: Sendable, CustomTestStringConvertible {
        let name: String
        let text: @Sendable (_ count: Int) -> String
        var testDescription: String { name }

        init(_ name: String, _ text: @escaping @Sendable (Int) -> String) { (self.name, self.text) = (name, text) }

        /// A playlist of HLS with a piece for each number.
        static func hls(
            _ name: String, head: String = "", each: @escaping @Sendable (Int) -> String, tail: String = ""
        ) -> Shape {
            Shape(name) { "#EXTM3U\n" + head + (0..<$0).map(each).joined() + tail }
        }

        /// An MPD of 40 seconds with a piece for each number.
        static func dash(
            _ name: String, head: String = "<Period>", each: @escaping @Sendable (Int) -> String,
            tail: String = "</Period>"
        ) -> Shape {
            Shape(name) {
                "<MPD mediaPresentationDuration=\"PT40S\">" + head + (0..<$0).map(each).joined() + tail + "</MPD>"
            }
        }
    }

    static let segment = "#EXTINF:4,\ns.ts\n"
    static let template = "<SegmentTemplate media=\"m$Number$\" duration=\"4\"/>"

    static let shapes: [Shape] = [
        .hls("segments") { "#EXTINF:4,\ns\($0).ts\n" },
        .hls("variants of one group", head: "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"g\",NAME=\"n\",URI=\"a\"\n") {
            "#EXT-X-STREAM-INF:BANDWIDTH=\($0),AUDIO=\"g\"\nv\($0)\n"
        },
        .hls("variants with groups of their own") {
            """
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="g\($0)",NAME="n\($0 % 3)",DEFAULT=YES,URI="a\($0)"
            #EXT-X-STREAM-INF:BANDWIDTH=\($0),AUDIO="g\($0)"
            v\($0)

            """
        },
        .hls("renditions of one group", head: "#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO=\"g\",SUBTITLES=\"h\"\nv\n") {
            "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"g\",NAME=\"n\($0)\",URI=\"a\($0)\"\n"
        },
        .hls("variables") { "#EXT-X-DEFINE:NAME=\"v\($0)\",VALUE=\"x\"\n#EXTINF:4,\n{$v\($0)}/{$v0}.ts\n" },
        .hls("variables of the query") { _ in "#EXT-X-DEFINE:QUERYPARAM=\"token\"\n" },
        .hls("one long line", head: "#EXT-X-STREAM-INF:", each: { _ in "A=1," }, tail: "\nv\n"),
        .hls("one long link", head: "#EXTINF:4,\n", each: { _ in "../a/" }, tail: "\n"),
        .hls("keys") { "#EXT-X-KEY:METHOD=AES-128,URI=\"k\($0)\"\n\(segment)" },
        .hls("keys of many formats") {
            "#EXT-X-KEY:METHOD=AES-128,URI=\"k\($0)\",KEYFORMAT=\"\($0 % 16)\"\n\(segment)"
        },
        .hls("maps") { "#EXT-X-MAP:URI=\"i\($0)\",BYTERANGE=\"9@0\"\n\(segment)" },
        .hls("parts") { "#EXT-X-PART:URI=\"p\($0)\",DURATION=1,BYTERANGE=\"9\"\n\(segment)" },
        .hls("date ranges", head: "#EXT-X-TARGETDURATION:4\n") {
            "#EXT-X-DATERANGE:ID=\"\($0)\",CLASS=\"com.apple.hls.interstitial\",X-ASSET-URI=\"https://b/\($0)\"\n"
        },
        .hls("data and keys of the session", head: "#EXT-X-STREAM-INF:BANDWIDTH=1\nv\n") {
            "#EXT-X-SESSION-DATA:DATA-ID=\"\($0)\",URI=\"d\"\n#EXT-X-SESSION-KEY:METHOD=AES-128,URI=\"k\($0)\"\n"
        },
        Shape("bases of a period, and of as many representations") { count in
            "<MPD><Period>" + (0..<count).map { "<BaseURL>b\($0)/</BaseURL>" }.joined() + "<AdaptationSet>"
                + (0..<count).map { "<Representation><BaseURL>r\($0)/</BaseURL>\(template)</Representation>" }.joined()
                + "</AdaptationSet></Period></MPD>"
        },
        .dash(
            "bases of one representation", head: "<Period><AdaptationSet><Representation>",
            each: { "<BaseURL>b\($0)/</BaseURL>" },
            tail: "\(template)</Representation></AdaptationSet></Period>"),
        .dash("empty sets with templates") { _ in "<AdaptationSet>\(template)</AdaptationSet>" },
        .dash("sets below the template of a period", head: "<Period>\(template)") {
            "<AdaptationSet contentType=\"video\"><Representation id=\"\($0)\"/></AdaptationSet>"
        },
        .dash(
            "representations with templates", head: "<Period><AdaptationSet>",
            each: { "<Representation id=\"\($0)\">\(template)</Representation>" },
            tail: "</AdaptationSet></Period>"),
        .dash(
            "representations that inherit on three levels", head: "<Period>\(template)<AdaptationSet>\(template)",
            each: { "<Representation id=\"\($0)\"><SegmentTemplate startNumber=\"\($0)\"/></Representation>" },
            tail: "</AdaptationSet></Period>"),
        .dash(
            "periods", head: "",
            each: {
                "<Period start=\"PT\($0 * 4)S\" duration=\"PT4S\"><AdaptationSet>\(template)<Representation/>"
                    + "</AdaptationSet></Period>"
            }, tail: ""),
        .dash(
            "runs of a timeline",
            head: "<Period><AdaptationSet><SegmentTemplate media=\"$Time$\"><SegmentTimeline>",
            each: { _ in "<S d=\"2\" r=\"2\"/>" },
            tail: "</SegmentTimeline></SegmentTemplate><Representation/></AdaptationSet></Period>"),
        .dash(
            "links of a list", head: "<Period><AdaptationSet><Representation><SegmentList duration=\"1\">",
            each: { "<SegmentURL media=\"s\($0)\"/>" },
            tail: "</SegmentList></Representation></AdaptationSet></Period>"),
        Shape("a long id in a template") { count in
            "<MPD mediaPresentationDuration=\"PT40S\"><Period><AdaptationSet><Representation id=\""
                + String(repeating: "i", count: count) + "\"><SegmentTemplate media=\""
                + String(repeating: "$RepresentationID$", count: 5)
                + "$Number$\" duration=\"4\"/></Representation></AdaptationSet></Period></MPD>"
        },
        Shape("a long literal in a template") { count in
            "<MPD mediaPresentationDuration=\"PT40S\"><Period><AdaptationSet><Representation><SegmentTemplate media=\""
                + String(repeating: "l", count: count)
                + "$Number$\" duration=\"4\"/></Representation></AdaptationSet></Period></MPD>"
        },
        .dash("attributes", head: "<Period", each: { " a\($0)=\"1\"" }, tail: "></Period>"),
        .dash("comments") { _ in "<!-- c --><?pi c?>" },
        .dash(
            "sections of a text", head: "<Period><BaseURL>", each: { _ in "<![CDATA[a]]>&amp;<!-- c -->" },
            tail: "</BaseURL></Period>"),
        .dash("elements of other namespaces") { "<x\($0):Period xmlns:x\($0)=\"urn:x\"></x\($0):Period>" },
    ]

    /// Everything that is done with a playlist; returns what it has cost, or the error.
    private static func work(
        _ text: String, limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistError) -> PlaylistBudget {
        let url = URIReference("https://a.example/v/list?token=t")
        let playlist = try Playlist(Array(text.utf8), context: HLSContext(url: url), limits: limits)
        for _ in playlist.linkTargets(in: url) {}
        var editor = PlaylistEditor(playlist.bytes, within: playlist.budget)
        for link in playlist.links { try editor.replace(link, with: "https://b.example/x") }
        _ = try editor.edited()
        switch playlist {
        case .hls(let list): _ = OfflineSelection(of: list) { $0 % 2 == 0 }
        case .dash(let mpd):
            for path in mpd.paths {
                do throws(PlaylistError) {
                    for _ in try mpd.segments(of: path, base: url) {}
                } catch {
                    if error.code == .budgetExceeded { throw error }
                }
                _ = mpd.initialization(of: path, base: url)
            }
            _ = OfflineSelection(of: mpd) { $0.representation % 2 == 0 }
        }
        try playlist.budget.check()
        return playlist.budget
    }

    @Test("Twice the input is at most two and a half times the work", arguments: shapes)
    func linear(shape: Shape) throws {
        // A timeline of 1,200 segments, or some kilobytes of a literal: what is constant counts for little.
        let count = shape.text(2).utf8.count - shape.text(1).utf8.count == 1 ? 5000 : 400
        let (once, twice) = (try Self.work(shape.text(count)).spent, try Self.work(shape.text(2 * count)).spent)
        #expect(twice.steps <= once.steps * 5 / 2, "\(once.steps) steps, then \(twice.steps)")
        #expect(twice.bytes <= once.bytes * 5 / 2, "\(once.bytes) bytes, then \(twice.bytes)")
        #expect(twice.steps > once.steps)
    }

    @Test("No more is made of a playlist than its budget allows", arguments: shapes)
    func bounded(shape: Shape) throws {
        var limits = PlaylistLimits()
        (limits.steps, limits.madeBytes) = (0, 0)
        let text = shape.text(2000)
        let budget = PlaylistBudget(limits, forInput: text.utf8.count)
        do throws(PlaylistError) {
            let spent = try Self.work(text, limits: limits).spent
            #expect(spent.steps <= budget.mostSteps && spent.bytes <= budget.mostBytes)
        } catch {
            #expect(error.code.isLimit)
        }
    }

    private static let path = MPD.Path(period: 0, adaptationSet: 0, representation: 0)

    /// An MPD with one representation and 20,000 segments.
    private static func mpd(
        id: String = "", media: String, limits: PlaylistLimits = PlaylistLimits()
    ) throws -> MPD {
        try MPD(
            Array(
                """
                <MPD mediaPresentationDuration="PT20000S"><Period><AdaptationSet><Representation id="\(id)">\
                <SegmentTemplate media="\(media)" initialization="\(media)" duration="1"/></Representation>\
                </AdaptationSet></Period></MPD>
                """.utf8), limits: limits)
    }

    @Test("A template that expands to a megabyte for each segment names none")
    func longTemplate() throws {
        let mpd = try Self.mpd(
            id: String(repeating: "b", count: 10_000), media: String(repeating: "$RepresentationID$", count: 100))
        let base = URIReference(listURL)
        #expect(failure { _ = try mpd.segments(of: Self.path, base: base) }?.code == .expansionTooLong)
        #expect(mpd.initialization(of: Self.path, base: base)?.target == .leftAlone(.unreadable(.expansionTooLong)))
        #expect(mpd.budget.spent.bytes < 1 << 20)
    }

    @Test("A segment whose number makes its link too long is unreadable, and those before it are not")
    func longNumber() throws {
        var limits = PlaylistLimits()
        limits.linkLength = 100
        let mpd = try Self.mpd(media: String(repeating: "l", count: 97) + "$Number$", limits: limits)
        let segments = Array(try mpd.segments(of: Self.path, base: URIReference(listURL)).prefix(1000))
        guard case .fetchable = segments[998].target else {
            Issue.record("Segment 999 has no link.")
            return
        }
        #expect(segments[999].target == .leftAlone(.unreadable(.expansionTooLong)))
    }

    @Test("Where the budget ends, the last segment is unreadable, and nothing else of the playlist is worked out")
    func exceeded() throws {
        var limits = PlaylistLimits()
        limits.madeBytes = 1 << 20
        let mpd = try Self.mpd(media: String(repeating: "l", count: 6000) + "$Number$", limits: limits)
        let base = URIReference(listURL)
        let segments = try mpd.segments(of: Self.path, base: base)
        #expect(segments.count == 20_000 && segments.times?.total == 20_000 && segments.times?.longest == 1)
        let made = Array(segments)
        #expect(made.count < 300)
        #expect(made.last?.target == .leftAlone(.unreadable(.budgetExceeded)))
        #expect(made.dropLast().allSatisfy { if case .fetchable = $0.target { true } else { false } })
        #expect(mpd.budget.spent.bytes <= mpd.budget.mostBytes)
        #expect(failure { try mpd.budget.check() }?.code == .budgetExceeded)
        #expect(failure { _ = try mpd.segments(of: Self.path, base: base) }?.code == .budgetExceeded)
        let rest = Array(Playlist.dash(mpd).linkTargets(in: base))
        #expect(rest.map(\.target) == [.leftAlone(.unreadable(.budgetExceeded))])
        #expect(Array(Playlist.dash(mpd).targets(in: base)).isEmpty)
        var editor = PlaylistEditor(mpd.bytes, within: mpd.budget)
        #expect(failure { try editor.remove(0..<1) }?.code == .budgetExceeded)
    }

    @Test("A value of the query costs as much as the query, however often it is read")
    func queryVariables() throws {
        let url = URIReference("https://a.example/list?token=" + String(repeating: "t", count: 60_000))
        let text = "#EXTM3U\n" + String(repeating: "#EXT-X-DEFINE:QUERYPARAM=\"token\"\n", count: 1000)
        var limits = PlaylistLimits()
        limits.madeBytes = 1 << 20
        let error = failure { _ = try HLSPlaylist(Array(text.utf8), context: HLSContext(url: url), limits: limits) }
        #expect(error?.code == .budgetExceeded)
    }

    @Test("A canceled task stops")
    func canceled() async throws {
        let text = "#EXTM3U\n" + String(repeating: Self.segment, count: 10_000)
        let list = try hls(text)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            let parsing = failure { _ = try hls(text) }
            let targets = Array(Playlist.hls(list).linkTargets(in: URIReference(listURL)))
            return (parsing?.code, targets.count, failure { try list.budget.check() }?.code)
        }
        let (parsing, count, rest) = await task.value
        #expect(parsing == .canceled && rest == .canceled)
        #expect(count < 2000)
    }

    /// The segments of a timeline, one after the other.
    private static func naive(
        _ runs: [(time: Int64?, duration: Int64, repeats: Int64)], first: Int64, last: Int64?, offset: Int64, end: Int64
    ) -> [[Double]] {
        var result: [[Double]] = []
        var time = offset
        for (index, run) in runs.enumerated() {
            time = run.time ?? time
            let next = runs.dropFirst(index + 1).first.map(\.time) ?? end
            var left = run.repeats + 1
            if run.repeats < 0, let next { left = max(0, (next - time + run.duration - 1) / run.duration) }
            while left > 0, last.map({ first + Int64(result.count) <= $0 }) ?? true {
                result.append([
                    Double(first + Int64(result.count)), Double(time), Double(time - offset) / 10,
                    Double(run.duration) / 10,
                ])
                time += run.duration
                left -= 1
            }
        }
        return result
    }

    @Test("Segments that are made one at a time are those of a plain walk over the timeline")
    func timelines() throws {
        var generator = SeededGenerator(state: 23_009)
        for _ in 0..<500 {
            var (text, time) = ("", Int64(5))
            var runs: [(time: Int64?, duration: Int64, repeats: Int64)] = []
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                let duration = Int64.random(in: 1...9, using: &generator)
                let repeats = Int64.random(in: -1...4, using: &generator)
                time += Int64.random(in: 0...40, using: &generator)
                runs.append((time, duration, repeats))
                text += "<S t=\"\(time)\" d=\"\(duration)\" r=\"\(repeats)\"/>"
            }
            let last = Bool.random(using: &generator) ? Int64.random(in: 3...20, using: &generator) : nil
            let mpd = try MPD(
                Array(
                    """
                    <MPD mediaPresentationDuration="PT30S"><Period><AdaptationSet><SegmentTemplate media="$Number$-$Time$" \
                    timescale="10" startNumber="3" presentationTimeOffset="5"\(last.map { " endNumber=\"\($0)\"" } ?? "")>\
                    <SegmentTimeline>\(text)</SegmentTimeline></SegmentTemplate><Representation/></AdaptationSet></Period>\
                    </MPD>
                    """.utf8))
            let segments = try mpd.segments(of: Self.path, base: URIReference("https://a/"))
            let expected = Self.naive(runs, first: 3, last: last, offset: 5, end: 305)
            let made = segments.map { segment -> [Double] in
                guard case .fetchable(let uri) = segment.target, let duration = segment.duration else { return [] }
                return uri.path.dropFirst().split(separator: "-").compactMap { Double($0) } + [segment.start, duration]
            }
            try #require(made == expected && segments.count == expected.count)
            let durations = expected.map { $0[3] }
            #expect(abs((segments.times?.total ?? 0) - durations.reduce(0, +)) < 1e-6)
            #expect(segments.times?.longest == durations.max())
        }
    }
}
