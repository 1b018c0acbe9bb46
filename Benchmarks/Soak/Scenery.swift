import RepriseTesting

/// The playlists of the origins: live and finished HLS streams, and hostile ones.
enum Scenery {
    /// A playlist at one moment.
    struct List {
        let text: String
        let type: String
        let tag: String
    }

    static let channels = 6
    static let shows = 12
    static let hostiles = 96
    /// Seconds.
    static let segmentDuration = 2.0
    /// Segments in the window of a live stream.
    static let window = 6
    private static let segmentsInShow = 12
    static let segmentsInStream = 1_000_000
    private static let appleType = "application/vnd.apple.mpegurl"

    static func livePath(_ channel: Int) -> String { "/live/\(channel).m3u8" }

    /// The number of the origin that has a show, of so many.
    static func origin(ofShow show: Int, of count: Int) -> Int { (channels + show) % count }

    static func showPath(_ show: Int) -> String { "/show/\(show).m3u8" }

    static func hostilePath(_ number: Int) -> String {
        "/hostile/\(number).\(HostileList.Shape(number).isDASH ? "mpd" : "m3u8")"
    }

    /// The number of the newest segment that a live stream has at that time, in seconds of uptime.
    static func newest(at time: Double) -> Int { Int(time / segmentDuration) % segmentsInStream }

    /// The playlist at `path`, if there is one.
    static func list(at path: String, time: Double) -> List? {
        let words = path.split(whereSeparator: { $0 == "/" || $0 == "." })
        guard words.count == 3, let number = Int(words[1]) else { return nil }
        switch words[0] {
        case "live":
            let newest = newest(at: time)
            return hls(number, max(0, newest - window + 1)..<newest + 1, isLive: true)
        case "show": return hls(channels + number, 0..<segmentsInShow, isLive: false)
        case "hostile":
            let shape = HostileList.Shape(number)
            let type = shape.isDASH ? "application/dash+xml" : appleType
            return List(text: HostileList(seed: UInt64(number)).text, type: type, tag: "\"h\(number)\"")
        default: return nil
        }
    }

    private static func hls(_ stream: Int, _ segments: Range<Int>, isLive: Bool) -> List {
        let lines = segments.map { number in
            "#EXTINF:\(segmentDuration),\n/segment/\(stream * segmentsInStream + number).ts\n"
        }
        let head =
            "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:\(Int(segmentDuration))\n"
            + "#EXT-X-MEDIA-SEQUENCE:\(segments.lowerBound)\n"
        let text = head + lines.joined() + (isLive ? "" : "#EXT-X-ENDLIST\n")
        return List(text: text, type: appleType, tag: "\"\(segments.lowerBound)\"")
    }

    /// The segments that a client finds in an HLS list: their numbers in the stream, and their paths at the origin.
    static func segments(in text: String) -> [(number: Int, path: String)] {
        text.split(whereSeparator: \.isNewline).compactMap { line in
            guard !line.hasPrefix("#"), let name = line.split(separator: "/").last,
                let number = Int(name.prefix { $0.isNumber })
            else { return nil }
            return (number % segmentsInStream, "/segment/\(name)")
        }
    }
}
