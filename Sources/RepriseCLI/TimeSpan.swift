import ArgumentParser
import Foundation

/// A time as people write it: `90s`, `30m`, `12h`, `7d`, `2w`.
struct TimeSpan: Measure, Sendable {
    let duration: Duration

    static let rule = "takes a time with its unit, \(units), such as 30s or 12h."
    /// The units, for people.
    static let units = "s, m, h, d or w"

    init?(argument: String) {
        guard let unit = argument.last.flatMap({ Self.factors[$0] }), let number = Int64(argument.dropLast()),
            number >= 0,
            number < Int64(Int32.max)
        else { return nil }
        duration = .seconds(number * unit)
    }

    /// A time that an option has by default.
    static func seconds(_ seconds: Int64) -> Self { Self(.seconds(seconds)) }

    /// The time as it is written, in the largest unit in which it is whole.
    var defaultValueDescription: String {
        let seconds = duration.components.seconds
        let unit = Self.factors.filter { seconds > 0 && seconds % $0.value == 0 && $0.key != "w" }.max {
            $0.value < $1.value
        }
        return unit.map { "\(seconds / $0.value)\($0.key)" } ?? "\(seconds)s"
    }

    /// A point in time as `list` shows it, in the user's time zone.
    static func date(_ time: Date) -> String {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .current
        let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute], from: time)
        func padded(_ number: Int?) -> String {
            let text = String(number ?? 0)
            return text.count < 2 ? "0" + text : text
        }
        return
            "\(parts.year ?? 0)-\(padded(parts.month))-\(padded(parts.day)) \(padded(parts.hour)):\(padded(parts.minute))"
    }

    /// A time of whole seconds.
    init(_ duration: Duration) { self.duration = duration }

    private static let factors: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]
}
