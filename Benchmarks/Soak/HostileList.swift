import RepriseTesting

/// A playlist or MPD that is much more expensive to expand than to send; equal for equal seeds.
struct HostileList {
    /// What there is too much of.
    enum Shape: Int, CaseIterable, Sendable {
        case variants, renditions, segments, longLinks, variables, keys, dateRanges, oneLine
        case representations, emptySets, bases, longTemplate, timeline, periods, nesting

        /// The shape of a list with this number.
        init(_ number: Int) { self = Self.allCases[number % Self.allCases.count] }

        var isDASH: Bool { rawValue >= Self.representations.rawValue }
    }

    /// Most bytes of a text.
    static let limit = 1 << 20

    let text: String

    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let shape = Shape(Int(seed % UInt64(Shape.allCases.count)))
        // As many in each octave.
        let count = 64 << Int.random(in: 0...9, using: &random)
        text = shape.isDASH ? Self.dash(shape, count) : Self.hls(shape, count)
    }

    private static func hls(_ shape: Shape, _ count: Int) -> String {
        let head = "#EXTM3U\n#EXT-X-VERSION:8\n#EXT-X-TARGETDURATION:2\n"
        let long = String(repeating: "x", count: 20_000)
        let body =
            switch shape {
            case .variants: lines(count) { "#EXT-X-STREAM-INF:BANDWIDTH=\($0),AUDIO=\"a\($0)\"\nv\($0).m3u8\n" }
            case .renditions:
                "#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO=\"a\"\nv.m3u8\n"
                    + lines(count) { "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"\($0)\",URI=\"r\($0).m3u8\"\n" }
            case .longLinks: lines(count) { "#EXTINF:2,\n\(long)\($0).ts\n" }
            case .variables:
                lines(count) { "#EXT-X-DEFINE:NAME=\"v\($0)\",VALUE=\"\(long.prefix(60))\"\n" }
                    + lines(count) { "#EXTINF:2,\n{$v\($0)}{$v0}{$v\($0 / 2)}.ts\n" }
            case .keys:
                lines(count) {
                    "#EXT-X-KEY:METHOD=AES-128,URI=\"k\($0)\"\n#EXT-X-MAP:URI=\"m\($0)\"\n#EXTINF:2,\ns\($0).ts\n"
                }
            case .dateRanges:
                lines(count) { "#EXT-X-DATERANGE:ID=\"\($0)\",START-DATE=\"2026-01-01T00:00:00Z\",X-A=\"\($0)\"\n" }
            case .oneLine: "#EXT-X-KEY:METHOD=AES-128," + lines(count * 16) { "A\($0)=\"b\"," }
            default: lines(count) { "#EXTINF:2,\ns\($0).ts\n" }
            }
        return head + body + "#EXT-X-ENDLIST\n"
    }

    private static func dash(_ shape: Shape, _ count: Int) -> String {
        let template = "<SegmentTemplate media=\"$RepresentationID$-$Number$.m4s\" duration=\"2\"/>"
        let representations = lines(count) {
            "<Representation id=\"\($0)\" bandwidth=\"\($0)\">\(shape == .bases ? "<BaseURL>\($0)/</BaseURL>" : template)"
                + "</Representation>\n"
        }
        let bases = lines(count) { "<BaseURL>b\($0)/</BaseURL>\n" }
        let content =
            switch shape {
            case .emptySets: lines(count) { _ in "<AdaptationSet>\(template)</AdaptationSet>\n" }
            case .bases: bases + "<AdaptationSet>\(template)\n\(representations)</AdaptationSet>\n"
            case .longTemplate:
                "<AdaptationSet><SegmentTemplate duration=\"1\" media=\""
                    + String(repeating: "$RepresentationID$", count: min(count, 400)) + "$Number$\"/>"
                    + "<Representation id=\"\(String(repeating: "i", count: 10_000))\" bandwidth=\"1\"/></AdaptationSet>"
            case .timeline:
                "<AdaptationSet><SegmentTemplate media=\"$Time$.m4s\"><SegmentTimeline>"
                    + lines(count) { _ in "<S d=\"1\" r=\"999999999\"/>\n" }
                    + "</SegmentTimeline></SegmentTemplate><Representation id=\"1\" bandwidth=\"1\"/></AdaptationSet>"
            case .nesting:
                String(repeating: "<AdaptationSet>", count: count) + String(repeating: "</AdaptationSet>", count: count)
            default: "<AdaptationSet>\n\(representations)</AdaptationSet>\n"
            }
        let periods =
            shape == .periods
            ? lines(count) { "<Period id=\"\($0)\"><AdaptationSet>\(template)</AdaptationSet></Period>\n" }
            : "<Period>\(content)</Period>\n"
        return "<MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\" type=\"static\" mediaPresentationDuration=\"PT19999S\">\n"
            + periods + "</MPD>\n"
    }

    /// Up to `count` lines, a third of ``limit`` at most.
    private static func lines(_ count: Int, _ line: (Int) -> String) -> String {
        var text = ""
        for number in 0..<count {
            let next = line(number)
            guard text.utf8.count + next.utf8.count < limit / 3 else { break }
            text += next
        }
        return text
    }
}
