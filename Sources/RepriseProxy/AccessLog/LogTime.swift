import HTTPSemantics

/// Moments as access logs write them, in UTC.
enum LogTime {
    /// RFC 3339, to the millisecond.
    static func iso(_ time: Double) -> String {
        let fraction = time.isFinite ? time - time.rounded(.down) : 0
        let milliseconds = "\(1000 + Int(fraction * 1000))".dropFirst()
        return "\(date(time).iso8601.dropLast()).\(milliseconds)Z"
    }

    /// As in the common log format, such as `06/Nov/1994:08:49:37 +0000`.
    static func common(_ time: Double) -> String {
        // The date as HTTP writes it: `Sun, 06 Nov 1994 08:49:37 GMT`.
        let words = date(time).description.split(separator: " ")
        return "\(words[1...3].joined(separator: "/")):\(words[4]) +0000"
    }

    /// The second of `time`; 1970 for what is no moment.
    private static func date(_ time: Double) -> HTTPDate {
        HTTPDate(secondsSince1970: Int64(exactly: time.rounded(.down)) ?? 0)
    }
}
