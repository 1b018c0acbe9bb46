import ByteRanges
import MediaTiming
import Testing

/// Drives a timer over a file; returns the result, and all bytes that it looked at.
func timed(
    _ file: [UInt8], first duration: Duration, length: Int64?? = nil, limits: TimingLimits = TimingLimits()
) -> (MediaStart, ByteRangeSet) {
    var timer = MediaTimer(first: duration, completeLength: length ?? Int64(file.count), limits: limits)
    var seen = ByteRangeSet()
    while true {
        switch timer.next() {
        case .done(let start): return (start, seen)
        case .needs(let need):
            #expect(!need.window.isEmpty && need.extent.contains(need.window))
            #expect(!seen.contains(need.window), "asked twice for \(need.window)")
            let window = need.window.clamped(to: 0..<Int64(file.count))
            seen.insert(window)
            if window.upperBound < need.window.upperBound { timer.end(at: Int64(file.count)) }
            timer.receive(Array(file[Int(window.lowerBound)..<Int(window.upperBound)]), at: window.lowerBound)
        }
    }
}
