import ByteRanges

/// Reads one format; keeps what it has found, so that it goes on when bytes have arrived.
protocol FormatReader: Sendable {
    var format: MediaFormat { get }
    /// What is known if the reading ends here.
    var outlook: Outlook { get }
    /// Bytes before this place are not read again.
    var keptFrom: Int64 { get }
    /// The bytes of the first seconds; throws what is missing.
    mutating func read(_ bytes: MediaBytes) throws(Stop) -> ByteRangeSet
}

/// What an estimate uses.
struct Outlook: Sendable {
    /// Bytes that a player needs in any case.
    var headers = ByteRangeSet()
    /// Where the media begin.
    var mediaStart: Int64 = 0
    /// How far the media were walked.
    var position: Int64 = 0
    /// The seconds from `mediaStart` to `position`.
    var elapsed = 0.0
    /// The seconds of the whole file.
    var duration: Double?
    /// A place at or behind the end of the wanted seconds, from a coarse table.
    var point: Int64?

    /// Where these seconds end if they go on like those so far.
    func end(of goal: Double) -> Int64? {
        guard elapsed >= 0.5, position > mediaStart else { return nil }
        let rate = Double(position - mediaStart) / elapsed
        return mediaStart + Int64(saturating: rate * goal)
    }
}

extension FormatReader {
    /// The need of a walk, with what the seconds so far let expect behind it, less a tenth.
    func extended(_ need: MediaNeed, goal: Double) -> MediaNeed {
        let outlook = outlook
        let isWalk = !need.isOptional && need.window.lowerBound >= outlook.mediaStart && need.extent == need.window
        guard isWalk, let end = outlook.end(of: goal * 0.9), end > need.window.upperBound else { return need }
        return MediaNeed(window: need.window, extent: need.window.lowerBound..<end)
    }

    /// The best guess, in this order: a coarse table, the proportion, the average, the first MiB.
    func estimate(goal: Double, length: Int64?) -> MediaStart {
        let (end, basis) = estimatedEnd(goal: goal, length: length)
        let ranges = outlook.headers.union(ByteRangeSet(0..<max(0, end)))
        return MediaStart(ranges, of: format, basis: basis, length: length)
    }

    private func estimatedEnd(goal: Double, length: Int64?) -> (Int64, MediaStart.Basis) {
        let outlook = outlook
        if let point = outlook.point { return (max(point, outlook.position), .coarseTable) }
        if let length, let duration = outlook.duration, duration > 0, length > outlook.mediaStart {
            let part = Double(length - outlook.mediaStart) * min(1, goal / duration)
            return (outlook.mediaStart + Self.withMargin(part), .proportion)
        }
        if let end = outlook.end(of: goal) {
            return (outlook.mediaStart + Self.withMargin(Double(end - outlook.mediaStart)), .average)
        }
        return (outlook.mediaStart + MediaStart.unknownLength, .firstBytes)
    }

    private static func withMargin(_ bytes: Double) -> Int64 { Int64(saturating: bytes * 1.1) + MediaStart.margin }
}

/// How far one stream of a walk has come, where frames may be stored in another order than they are shown.
///
/// Frames that are shown before the goal may come behind one that is shown later, on which they depend. When the next
/// such frame comes, those before it are complete. So a stream has come to the goal with the second frame that is at
/// or behind the goal and later than all before it.
struct StreamClock: Sendable {
    private var newest = -Double.infinity
    private var framesBeyond = 0

    /// Seconds of the latest frame; −∞ before the first.
    var latest: Double { newest }

    /// Whether all frames before the goal have come.
    var isDone: Bool { framesBeyond >= 2 }

    /// Whether the frame at `time` is shown before `goal`.
    mutating func note(_ time: Double, goal: Double) -> Bool {
        if time > newest {
            newest = time
            if time >= goal { framesBeyond += 1 }
        }
        return time < goal
    }
}
