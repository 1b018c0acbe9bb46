import ByteRanges
import MediaTiming

/// The first seconds of files: what must hold of every window and every result.
enum TimingTargets {
    /// The input is the beginning of a file: all of it, of unknown length, and with the same bytes over and over again.
    static func read(_ bytes: [UInt8]) {
        let length = Int64(bytes.count)
        for duration in [Duration.zero, .seconds(2), .seconds(Int64.max)] {
            let whole = run(bytes, first: duration, length: length, fileLength: length)
            _ = run(bytes, first: duration, length: nil, fileLength: length)
            // In one piece instead of windows.
            var timer = MediaTimer(first: duration, completeLength: length, limits: limits)
            timer.receive(bytes, at: 0)
            precondition(timer.next() == .done(whole))
            if length > 0 { _ = run(bytes, first: duration, length: 1 << 40, fileLength: 1 << 40) }
        }
    }

    /// Small ones, so that inputs reach them.
    private static let limits: TimingLimits = {
        var limits = TimingLimits()
        (limits.windows, limits.bytesSeen, limits.bytesHeld, limits.steps) = (32, 64 << 10, 64 << 10, 4096)
        (limits.smallestWindow, limits.largestWindow, limits.wholeTable) = (512, 8 << 10, 2 << 10)
        return limits
    }()

    private static func run(_ bytes: [UInt8], first duration: Duration, length: Int64?, fileLength: Int64) -> MediaStart
    {
        var timer = MediaTimer(first: duration, completeLength: length, limits: limits)
        var seen = ByteRangeSet()
        var windows = 0
        while case .needs(let need) = timer.next() {
            windows += 1
            precondition(windows <= limits.windows && !need.window.isEmpty && need.window.lowerBound >= 0)
            precondition(
                need.extent.contains(need.window.lowerBound) && need.extent.upperBound >= need.window.upperBound)
            precondition(need.window.upperBound <= length ?? .max && !seen.contains(need.window))
            seen.insert(need.window)
            let window = need.window.clamped(to: 0..<fileLength)
            if window.upperBound < need.window.upperBound { timer.end(at: fileLength) }
            timer.receive(window.map { bytes[Int($0 % Int64(bytes.count))] }, at: window.lowerBound)
        }
        guard case .done(let start) = timer.next() else { preconditionFailure("A result is no result.") }
        precondition(seen.byteCount <= limits.bytesSeen && start.ranges.spanCount <= 512)
        let bounds = start.ranges.bounds ?? 0..<0
        precondition(bounds.lowerBound >= 0 && bounds.upperBound <= length ?? .max)
        precondition(!start.ranges.isEmpty || fileLength == 0 || start.basis == .exact)
        return start
    }
}
