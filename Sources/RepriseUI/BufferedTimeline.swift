public import Reprise

/// What a buffer bar shows of one file: its stored parts, and where the player is.
///
/// Needs no SwiftUI, so that other views can draw it, too.
///
/// ```swift
/// for await progress in cache.progress(of: url) {
///     timeline = BufferedTimeline(progress, position: seconds, duration: length)
/// }
/// ```
public struct BufferedTimeline: Sendable, Equatable {
    /// The stored parts as fractions of the whole, ascending, each within 0...1; empty while the length is unknown.
    public let buffered: [ClosedRange<Double>]
    /// The stored fraction of the whole, 0 to 1.
    public let fraction: Double
    /// Where the player is, in seconds; 0 or more, and at most ``duration``.
    public let position: Double
    /// The length in seconds; 0 while unknown.
    public let duration: Double

    /// Creates a timeline of stored bytes, and of a player's time in seconds.
    ///
    /// Times that are no numbers, infinite or negative, as players report them of streams that go on, count as 0.
    public init(_ progress: StoredProgress, position: Double = 0, duration: Double = 0) {
        buffered = progress.fractions
        fraction = progress.fraction
        self.duration = Self.time(duration)
        self.position = min(Self.time(position), self.duration)
    }

    /// Where the player is as a fraction of the whole, 0 to 1; 0 while the duration is unknown.
    public var playhead: Double { duration > 0 ? position / duration : 0 }

    /// Whether places in a bar are times: not while the duration is unknown, or the stream goes on.
    var canSeek: Bool { duration > 0 }

    /// The stored parts as they are drawn in a bar so wide: from where to where, ascending, without overlaps.
    ///
    /// A part that is narrower than `minimum` is drawn that wide, so that it can be seen, but never beyond the bar.
    /// Parts that touch then are drawn as one.
    public func spans(width: Double, minimum: Double = 1) -> [ClosedRange<Double>] {
        guard width > 0 else { return [] }
        var spans: [ClosedRange<Double>] = []
        for part in buffered {
            let least = min(minimum, width)
            let start = min(part.lowerBound * width, width - least)
            let end = max(part.upperBound * width, start + least)
            if let last = spans.last, start <= last.upperBound {
                spans[spans.count - 1] = last.lowerBound...max(last.upperBound, end)
            } else {
                spans.append(start...end)
            }
        }
        return spans
    }

    /// The time in seconds of a place in a bar so wide; places outside of it are its ends.
    ///
    /// 0 while the duration is unknown, so that it is no time to seek to then.
    public func time(at place: Double, width: Double) -> Double {
        guard width > 0, !place.isNaN else { return 0 }
        return min(max(place / width, 0), 1) * duration
    }

    /// What the bar shows, in words for people who do not see it, such as `62 % stored, at 1:05 of 1:32:07`.
    public var words: String {
        let stored = "\(Int(fraction * 100 + 1e-9)) % stored"
        guard duration > 0 else { return stored }
        return "\(stored), at \(Self.words(position)) of \(Self.words(duration))"
    }

    /// Hours, minutes and seconds, such as `1:05` or `1:32:07`.
    private static func words(_ seconds: Double) -> String {
        let whole = Int(min(seconds, 1e9))
        let (hours, minutes) = (whole / 3600, whole / 60 % 60)
        let tail = twoDigits(whole % 60)
        return hours > 0 ? "\(hours):\(twoDigits(minutes)):\(tail)" : "\(minutes):\(tail)"
    }

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    private static func time(_ seconds: Double) -> Double { seconds.isFinite ? max(seconds, 0) : 0 }
}

/// Where a person has moved the position of a player in steps.
///
/// Steps in quick succession add up, although the player is not yet where the first one leads.
struct SteppedPosition {
    private struct Last {
        let time: Double
        let duration: Double
        let instant: ContinuousClock.Instant
    }

    /// How long a step begins where the last one led, not where the player is.
    static let memory = Duration.seconds(3)

    private var last: Last?

    /// The time in seconds to seek to for a step by that part of the whole; within the duration.
    mutating func move(by part: Double, in timeline: BufferedTimeline, at now: ContinuousClock.Instant) -> Double {
        var start = timeline.position
        if let last, last.duration == timeline.duration, last.instant.duration(to: now) < Self.memory {
            start = last.time
        }
        let time = min(max(start + part * timeline.duration, 0), timeline.duration)
        last = Last(time: time, duration: timeline.duration, instant: now)
        return time
    }
}
