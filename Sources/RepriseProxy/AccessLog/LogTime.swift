import HTTPSemantics

/// Moments as access logs write them, in UTC.
enum LogTime {
    /// RFC 3339, to the millisecond.
    static func iso(_ time: Double) -> String {
        let (day, month, year, clock) = parts(time)
        let number = (months.firstIndex(of: month) ?? 0) + 1
        let fraction = time.isFinite ? time - time.rounded(.down) : 0
        let milliseconds = "\(1000 + Int(fraction * 1000))".dropFirst()
        return "\(year)-\(number < 10 ? "0" : "")\(number)-\(day)T\(clock).\(milliseconds)Z"
    }

    /// As in the common log format, such as `06/Nov/1994:08:49:37 +0000`.
    static func common(_ time: Double) -> String {
        let (day, month, year, clock) = parts(time)
        return "\(day)/\(month)/\(year):\(clock) +0000"
    }

    /// The parts of the date as HTTP writes it: `Sun, 06 Nov 1994 08:49:37 GMT`.
    private static func parts(
        _ time: Double
    ) -> (day: Substring, month: Substring, year: Substring, clock: Substring) {
        let seconds = Int64(exactly: time.rounded(.down)) ?? 0
        let words = HTTPDate(secondsSince1970: seconds).description.split(separator: " ")
        return words.count == 6 ? (words[1], words[2], words[3], words[4]) : ("01", "Jan", "1970", "00:00:00")
    }

    private static let months: [Substring] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
