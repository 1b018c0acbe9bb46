/// The segments of a WebVTT rendition as one text.
///
/// Each segment has a header, and repeats the cues that began before it. Its times count from the one that its
/// X-TIMESTAMP-MAP names (RFC 8216 §3.5); here they count from that of the first segment.
struct SubtitleText {
    private var blocks: [String] = []
    private var known: Set<String> = []
    /// Seconds between a time in the first segment that has a map, and the clock of the stream.
    private var firstStart: Double?

    /// Adds the cues of a segment; those that are there already are left out.
    mutating func add(_ segment: String) {
        var shift = 0.0
        let lines = segment.drop { $0 == "\u{FEFF}" }.split(
            omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for block in lines.split(whereSeparator: { $0.allSatisfy(\.isWhitespace) }) {
            guard let first = block.first, !first.hasPrefix("NOTE") else { continue }
            guard !first.hasPrefix("WEBVTT") else {
                guard let start = block.compactMap({ Self.start($0) }).first else { continue }
                shift = start - (firstStart ?? start)
                firstStart = firstStart ?? start
                continue
            }
            let text = block.map { Self.shifted($0, by: shift) }.joined(separator: "\n")
            if known.insert(text).inserted { blocks.append(text) }
        }
    }

    /// The text.
    var text: String { (["WEBVTT"] + blocks).joined(separator: "\n\n") + "\n" }

    /// What a map says: `X-TIMESTAMP-MAP=MPEGTS:900000,LOCAL:00:00:00.000`.
    private static func start(_ line: Substring) -> Double? {
        guard line.hasPrefix("X-TIMESTAMP-MAP="), let clock = line.firstMatch(of: /MPEGTS:(\d+)/),
            let ticks = Double(clock.1), let local = line.firstMatch(of: /LOCAL:(\d[\d:.]*)/),
            let time = seconds(local.1)
        else { return nil }
        return ticks / 90_000 - time
    }

    /// `line` with its times later by so many seconds, if it has those of a cue.
    private static func shifted(_ line: Substring, by shift: Double) -> String {
        guard abs(shift) >= 0.001, line.contains("-->") else { return String(line) }
        return String(line).replacing(/\d+:[\d:]*\d\.\d{3}/) { match in
            seconds(match.output).map { time(max(0, $0 + shift)) } ?? String(match.output)
        }
    }

    /// Hours, which may be missing, minutes and seconds.
    private static func seconds(_ time: Substring) -> Double? {
        var sum = 0.0
        for part in time.split(separator: ":") {
            guard let number = Double(part) else { return nil }
            sum = sum * 60 + number
        }
        return sum
    }

    private static func time(_ seconds: Double) -> String {
        let count = Int((min(seconds, 1e9) * 1000).rounded())
        func padded(_ number: Int, _ width: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        let (hours, minutes) = (padded(count / 3_600_000, 2), padded(count / 60_000 % 60, 2))
        return "\(hours):\(minutes):\(padded(count / 1000 % 60, 2)).\(padded(count % 1000, 3))"
    }
}
