import HTTPTypes

/// Evaluates a request's conditions against the validators of a representation (RFC 9110 §13.1, in the order of
/// §13.2.2).
struct Conditions {
    let fields: HTTPFields
    let etag: String?
    let lastModified: String?

    /// 412 or 304, or `nil` if the request is answered as usual.
    var status: Int? {
        if let tags = fields[.ifMatch] {
            guard names(tags, etag: etag, isStrong: true) else { return 412 }
        } else if let date = fields[.ifUnmodifiedSince], isModified(since: date) == true {
            return 412
        }
        if let tags = fields[.ifNoneMatch] {
            return names(tags, etag: etag, isStrong: false) ? 304 : nil
        }
        if let date = fields[.ifModifiedSince], isModified(since: date) == false { return 304 }
        return nil
    }

    /// Whether If-Range allows the range: absent, or exactly the representation's strong validator (§13.1.5).
    var allowsRange: Bool {
        guard let condition = fields[.ifRange] else { return true }
        guard condition.hasPrefix("\"") || condition.hasPrefix("W/") else { return condition == lastModified }
        return condition == etag && !condition.hasPrefix("W/")
    }

    /// `nil` if a date is missing or invalid; the condition is then ignored.
    private func isModified(since date: String) -> Bool? {
        guard let date = IMFFixdate(date), let lastModified = lastModified.flatMap(IMFFixdate.init) else { return nil }
        return date < lastModified
    }

    private func names(_ list: String, etag: String?, isStrong: Bool) -> Bool {
        guard let etag else { return false }
        if list == "*" { return true }
        return Self.tags(in: list).contains { tag in
            isStrong ? tag == etag && !tag.hasPrefix("W/") : Self.opaque(tag) == Self.opaque(etag)
        }
    }

    private static func opaque(_ tag: some StringProtocol) -> String {
        String(tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...])
    }

    /// Splits a list of entity tags at the commas outside quotes.
    private static func tags(in list: String) -> [String] {
        var tags = [""]
        var isQuoted = false
        for character in list {
            if character == "\"" { isQuoted.toggle() }
            if character == ",", !isQuoted {
                tags.append("")
            } else if isQuoted || (character != " " && character != "\t") {
                tags[tags.count - 1].append(character)
            }
        }
        return tags
    }
}

/// A Range field that asks for one range of bytes (RFC 9110 §14.1.2, §14.2).
///
/// Deliberately written independently of HTTPSemantics: if the two readings of the RFC disagree, a test fails.
struct RangeHeader: Equatable {
    /// The first position; `nil` for a suffix.
    let first: Int64?
    /// The last position, inclusive as in the field; for a suffix its length; `nil` for "to the end".
    let last: Int64?

    /// Reads a field value; `nil` means that the origin ignores it: another unit, invalid, or several ranges.
    init?(_ value: String) {
        let unit = "bytes="
        guard value.lowercased().hasPrefix(unit) else { return nil }
        let ends = value.dropFirst(unit.count).split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2 else { return nil }
        guard let first = Self.number(ends[0]), let last = Self.number(ends[1]) else { return nil }
        if first == nil, last == nil { return nil }
        if first != nil, last != nil, Self.isLarger(ends[0], than: ends[1]) { return nil }
        self.first = first
        self.last = last
    }

    /// The bytes selected from a representation, or `nil` if the range cannot be satisfied.
    func resolve(length: Int64) -> Range<Int64>? {
        guard let first else {
            let count = min(last ?? 0, length)
            return count > 0 ? length - count..<length : nil
        }
        guard first < length else { return nil }
        guard let last, last < length else { return first..<length }
        return first..<last + 1
    }

    /// Reads digits only, neither sign nor space.
    ///
    /// The outer `nil` is an error, the inner one an empty text; a number that is too large becomes the largest one.
    private static func number(_ text: Substring) -> Int64?? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return .none }
        return .some(text.isEmpty ? nil : Int64(text) ?? .max)
    }

    /// Compares the digits, because both numbers may be larger than any integer type.
    private static func isLarger(_ one: Substring, than other: Substring) -> Bool {
        let (one, other) = (one.drop { $0 == "0" }, other.drop { $0 == "0" })
        return (one.utf8.count, String(one)) > (other.utf8.count, String(other))
    }
}

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
