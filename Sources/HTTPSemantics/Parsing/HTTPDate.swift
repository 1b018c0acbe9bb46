/// A moment with the resolution of HTTP: whole seconds, years 0 to 9999, UTC (RFC 9110 §5.6.7).
public struct HTTPDate: Sendable, Hashable {
    /// Seconds since 1970-01-01T00:00:00Z, negative before.
    public let secondsSince1970: Int64

    /// Creates a moment, clamped to the range of an HTTP-date (years 0 to 9999).
    public init(secondsSince1970: Int64) {
        self.secondsSince1970 = min(max(secondsSince1970, Self.earliest), Self.latest)
    }

    /// Seconds from `other` to this moment; negative if `other` is later.
    public func seconds(since other: HTTPDate) -> Int64 {
        secondsSince1970 - other.secondsSince1970
    }

    private static let earliest: Int64 = -62_167_219_200  // 0000-01-01T00:00:00Z
    private static let latest: Int64 = 253_402_300_799  // 9999-12-31T23:59:59Z
}

extension HTTPDate: Comparable {
    /// Whether `lhs` is the earlier moment.
    public static func < (lhs: HTTPDate, rhs: HTTPDate) -> Bool {
        lhs.secondsSince1970 < rhs.secondsSince1970
    }
}

extension HTTPDate: CustomStringConvertible {
    /// The preferred form, IMF-fixdate: `Sun, 06 Nov 1994 08:49:37 GMT`.
    public var description: String {
        let civil = CivilTime(secondsSince1970: secondsSince1970)
        let date = "\(twoDigits(civil.day)) \(CivilTime.months[civil.month - 1]) \(fourDigits(civil.year))"
        let time = "\(twoDigits(civil.hour)):\(twoDigits(civil.minute)):\(twoDigits(civil.second))"
        return "\(CivilTime.weekdays[civil.weekday].prefix(3)), \(date) \(time) GMT"
    }

    private func twoDigits(_ number: Int) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }

    private func fourDigits(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}

extension HTTPDate {
    /// Parses any of the three forms of RFC 9110 §5.6.7: IMF-fixdate, RFC 850 and asctime; `nil` for anything else.
    ///
    /// Names are compared case-insensitively, because recipients ought to be lenient with dates. The day of the week is
    /// not compared with the date. A 60th second counts as the next minute's first. The two-digit year of an RFC 850
    /// date is interpreted relative to `now`, as the latest year with these digits that is not more than 50 years
    /// ahead; without `now`, 70 to 99 are 19xx and 00 to 69 are 20xx.
    public init?(_ value: String, now: HTTPDate? = nil) {
        guard let scanner = FieldScanner(value),
            let civil = Self.imfFixdate(scanner) ?? Self.rfc850(scanner, now: now) ?? Self.asctime(scanner),
            let seconds = civil.secondsSince1970
        else { return nil }
        self.init(secondsSince1970: seconds)
    }

    // Sun, 06 Nov 1994 08:49:37 GMT
    private static func imfFixdate(_ value: FieldScanner) -> CivilTime? {
        var scanner = value
        guard scanner.name(in: CivilTime.weekdays, length: 3) != nil, scanner.skip(", "),
            let day = scanner.digits(2), scanner.skip(" "),
            let month = scanner.name(in: CivilTime.months, length: 3), scanner.skip(" "),
            let year = scanner.digits(4), scanner.skip(" "),
            let time = scanner.timeOfDay(), scanner.skipIgnoringCase(" GMT"), scanner.isAtEnd
        else { return nil }
        return CivilTime(year: year, month: month + 1, day: day, time: time)
    }

    // Sunday, 06-Nov-94 08:49:37 GMT
    private static func rfc850(_ value: FieldScanner, now: HTTPDate?) -> CivilTime? {
        var scanner = value
        guard scanner.name(in: CivilTime.weekdays) != nil, scanner.skip(", "),
            let day = scanner.digits(2), scanner.skip("-"),
            let month = scanner.name(in: CivilTime.months, length: 3), scanner.skip("-"),
            let year = scanner.digits(2), scanner.skip(" "),
            let time = scanner.timeOfDay(), scanner.skipIgnoringCase(" GMT"), scanner.isAtEnd
        else { return nil }
        var civil = CivilTime(year: 0, month: month + 1, day: day, time: time)
        guard let now else {
            civil.year = year < 70 ? 2000 + year : 1900 + year
            return civil
        }
        // Compared field by field: the date 50 years ahead need not exist (29 February).
        let ahead = CivilTime(secondsSince1970: now.secondsSince1970)
        let limit = ahead.year + 50
        civil.year = limit - (limit - year) % 100
        if civil.year == limit, ahead.precedesWithinYear(civil) { civil.year -= 100 }
        return civil
    }

    // Sun Nov  6 08:49:37 1994
    private static func asctime(_ value: FieldScanner) -> CivilTime? {
        var scanner = value
        guard scanner.name(in: CivilTime.weekdays, length: 3) != nil, scanner.skip(" "),
            let month = scanner.name(in: CivilTime.months, length: 3), scanner.skip(" "),
            let day = scanner.skip(" ") ? scanner.digits(1) : scanner.digits(2), scanner.skip(" "),
            let time = scanner.timeOfDay(), scanner.skip(" "),
            let year = scanner.digits(4), scanner.isAtEnd
        else { return nil }
        return CivilTime(year: year, month: month + 1, day: day, time: time)
    }
}

extension FieldScanner {
    /// Exactly `count` digits.
    fileprivate mutating func digits(_ count: Int) -> Int? {
        var value = 0
        for _ in 0..<count {
            guard let byte = next, Self.isDigit(byte) else { return nil }
            _ = take()
            value = value * 10 + Int(byte - UInt8(ascii: "0"))
        }
        return value
    }

    /// One of `names`, or of their first `length` letters, as an index.
    fileprivate mutating func name(in names: [String], length: Int? = nil) -> Int? {
        var scanner = self
        guard let letters = scanner.run(where: { $0 > UInt8(ascii: "@") }),
            let index = names.firstIndex(where: { name in
                letters.elementsEqual(name.utf8.prefix(length ?? .max)) { Self.lowercased($0) == Self.lowercased($1) }
            })
        else { return nil }
        self = scanner
        return index
    }

    fileprivate mutating func skipIgnoringCase(_ text: StaticString) -> Bool {
        var scanner = self
        for offset in 0..<text.utf8CodeUnitCount {
            guard let byte = scanner.next, Self.lowercased(byte) == Self.lowercased(text.utf8Start[offset]) else {
                return false
            }
            _ = scanner.take()
        }
        self = scanner
        return true
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }

    // 08:49:37
    fileprivate mutating func timeOfDay() -> (hour: Int, minute: Int, second: Int)? {
        guard let hour = digits(2), skip(":"), let minute = digits(2), skip(":"), let second = digits(2) else {
            return nil
        }
        return (hour, minute, second)
    }
}

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
