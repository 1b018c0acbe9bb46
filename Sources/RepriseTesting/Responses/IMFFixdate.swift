/// A time in the only format that HTTP senders use: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7).
struct IMFFixdate: Comparable {
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Year, month from 0, day, hour, minute, second.
    private let parts: [Int]

    /// Reads a field value, except for the weekday; `nil` for every other format.
    init?(_ value: String) {
        let words = value.split(separator: " ", omittingEmptySubsequences: false)
        guard value.utf8.count == 29, words.count == 6, words[5] == "GMT",
            let day = Int(words[1]), let month = Self.months.firstIndex(of: String(words[2])), let year = Int(words[3])
        else { return nil }
        let time = words[4].split(separator: ":").compactMap { Int($0) }
        guard time.count == 3 else { return nil }
        parts = [year, month, day] + time
    }

    /// Creates the time this many seconds after the beginning of 1970.
    init(secondsSince1970 seconds: Int) {
        var day = seconds / 86_400
        var year = 1970
        while day >= Self.length(ofYear: year) {
            day -= Self.length(ofYear: year)
            year += 1
        }
        var month = 0
        while day >= Self.length(ofMonth: month, year: year) {
            day -= Self.length(ofMonth: month, year: year)
            month += 1
        }
        let second = seconds % 86_400
        parts = [year, month, day + 1, second / 3600, second / 60 % 60, second % 60]
    }

    /// The field value; the weekday is computed from the date.
    var description: String {
        let elapsed = (1970..<parts[0]).reduce(0) { $0 + Self.length(ofYear: $1) }
        let inYear = (0..<parts[1]).reduce(0) { $0 + Self.length(ofMonth: $1, year: parts[0]) }
        let weekday = Self.days[(elapsed + inYear + parts[2] - 1) % 7]
        let time = parts[3...].map(Self.twoDigits).joined(separator: ":")
        return "\(weekday), \(Self.twoDigits(parts[2])) \(Self.months[parts[1]]) \(parts[0]) \(time) GMT"
    }

    static func < (first: IMFFixdate, second: IMFFixdate) -> Bool {
        first.parts.lexicographicallyPrecedes(second.parts)
    }

    private static func twoDigits(_ number: Int) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }

    private static func isLeap(_ year: Int) -> Bool {
        year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    }

    private static func length(ofYear year: Int) -> Int {
        isLeap(year) ? 366 : 365
    }

    private static func length(ofMonth month: Int, year: Int) -> Int {
        month == 1 && isLeap(year) ? 29 : [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month]
    }
}
