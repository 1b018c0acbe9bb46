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
