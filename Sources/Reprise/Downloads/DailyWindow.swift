public import Foundation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Hours of each day in local time, such as 02:00 to 06:00, which may cross midnight.
///
/// An hour that daylight saving time skips is not there on that day, and one that it repeats is there twice.
///
/// ```swift
/// cache.downloads.window = try DailyWindow("22:30-06:00")
/// ```
public struct DailyWindow: Sendable, Hashable, CustomStringConvertible {
    /// When it begins: time since midnight, below 24 hours.
    public let start: Duration
    /// When it is over: time since midnight, below 24 hours; earlier than ``start`` if it crosses midnight.
    public let end: Duration
    /// Whose local time; `nil`, the default, for that of the device, as it is at each moment.
    public var timeZone: TimeZone?

    private static let day: Int64 = 86_400

    /// Creates a window that begins and ends so long after midnight, in whole seconds.
    ///
    /// Throws ``RepriseError`` with code `invalidArgument` unless both lie between 0 and 24 hours and differ; 24 hours
    /// are midnight, as 0 is.
    public init(start: Duration, end: Duration) throws(RepriseError) {
        guard (.zero ... .seconds(Self.day)).contains(start), (.zero ... .seconds(Self.day)).contains(end) else {
            throw RepriseError(.invalidArgument, "The hours of a day lie between 00:00 and 24:00.")
        }
        self.start = .seconds(start.components.seconds % Self.day)
        self.end = .seconds(end.components.seconds % Self.day)
        guard self.start != self.end else {
            throw RepriseError(.invalidArgument, "The hours of a day begin and end at different times.")
        }
    }

    /// Creates a window from text such as `02:00-06:00`, with hours from 0 to 24.
    ///
    /// Throws ``RepriseError`` with code `invalidArgument` for any other text.
    public init(_ text: String) throws(RepriseError) {
        let times = text.split(separator: "-", omittingEmptySubsequences: false).map { Self.time(String($0)) }
        guard times.count == 2, let start = times[0], let end = times[1] else {
            throw RepriseError(
                .invalidArgument, "\"\(text)\" are no hours of a day; write them as 02:00-06:00, or 22:30-06:00.")
        }
        try self.init(start: start, end: end)
    }

    /// The time since midnight that `text` says, such as `02:30`.
    private static func time(_ text: String) -> Duration? {
        let fields = text.filter { $0 != " " }.split(separator: ":", omittingEmptySubsequences: false)
        guard fields.count == 2, (1...2).contains(fields[0].count), fields[1].count == 2,
            fields.allSatisfy({ $0.allSatisfy { $0.isASCII && $0.isNumber } }),
            let hours = Int64(fields[0]), let minutes = Int64(fields[1]), minutes < 60
        else { return nil }
        return .seconds(hours * 3600 + minutes * 60)
    }

    /// As it is written: `02:00-06:00`.
    public var description: String { "\(Self.text(start))-\(Self.text(end))" }

    /// The time of day when it begins, as `02:00`.
    var opening: String { Self.text(start) }

    private static func text(_ time: Duration) -> String {
        let minutes = time.components.seconds / 60
        func padded(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(padded(minutes / 60)):\(padded(minutes % 60))"
    }

    /// Whether `date` lies within it.
    public func contains(_ date: Date) -> Bool { state(at: date).isOpen }

    /// Whether `date` lies within it, and after how long that is no longer so, unless the local time jumps.
    func state(at date: Date) -> (isOpen: Bool, remaining: Duration) {
        let local = Int64(date.timeIntervalSince1970.rounded(.down)) + secondsFromUTC(at: date)
        func wait(for time: Duration) -> Int64 { Self.modulo(time.components.seconds - local) }
        let (toStart, toEnd) = (wait(for: start), wait(for: end))
        // At its very beginning the next one is a day away.
        let isOpen = toEnd != 0 && (toStart == 0 || toEnd < toStart)
        return (isOpen, .seconds(isOpen ? toEnd : toStart))
    }

    private static func modulo(_ seconds: Int64) -> Int64 { (seconds % day + day) % day }

    private func secondsFromUTC(at date: Date) -> Int64 {
        if let timeZone { return Int64(timeZone.secondsFromGMT(for: date)) }
        // The time zone that Foundation has may be the one that the process began with.
        tzset()
        var (time, fields) = (time_t(date.timeIntervalSince1970.rounded(.down)), tm())
        localtime_r(&time, &fields)
        return Int64(fields.tm_gmtoff)
    }
}
