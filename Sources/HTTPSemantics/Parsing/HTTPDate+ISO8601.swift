extension HTTPDate {
    /// Parses a UTC time of ISO 8601 in the forms that signed URLs have: `20261124T101500Z`, `2026-11-24T10:15:00Z`.
    ///
    /// `nil` for anything else, and for dates that do not exist.
    package init?(iso8601 text: some StringProtocol) {
        let bytes = text.utf8.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: ":") }
        guard bytes.count == 16, bytes[8] == UInt8(ascii: "T"), bytes[15] == UInt8(ascii: "Z") else { return nil }
        func number(_ range: Range<Int>) -> Int? {
            var value = 0
            for byte in bytes[range] {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
                value = value * 10 + Int(byte - UInt8(ascii: "0"))
            }
            return value
        }
        guard let year = number(0..<4), let month = number(4..<6), let day = number(6..<8),
            let hour = number(9..<11), let minute = number(11..<13), let second = number(13..<15),
            let seconds = CivilTime(year: year, month: month, day: day, time: (hour, minute, second)).secondsSince1970
        else { return nil }
        self.init(secondsSince1970: seconds)
    }

    /// The moment as ISO 8601 and RFC 3339 write it: `1994-11-06T08:49:37Z`.
    package var iso8601: String {
        let civil = CivilTime(secondsSince1970: secondsSince1970)
        func digits(_ number: Int, _ count: Int = 2) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        return "\(digits(civil.year, 4))-\(digits(civil.month))-\(digits(civil.day))"
            + "T\(digits(civil.hour)):\(digits(civil.minute)):\(digits(civil.second))Z"
    }
}
