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
