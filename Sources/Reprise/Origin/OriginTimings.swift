import Primitives

/// The cost of a new request, by origin: time to first byte and rate, as moving averages.
///
/// Waiting for a running fetch is better than a new request while fewer bytes lie in between than rate × time to first
/// byte. The lock is a leaf.
final class OriginTimings: Sendable {
    private struct Timing {
        var firstByte: Double?
        var bytesPerSecond: Double?
    }

    /// Bounds of the distance worth waiting for, in bytes.
    ///
    /// The bytes in between may be wanted by no reader: players that skip from one fragment header to the next, half a
    /// megabyte apart, would otherwise fetch a whole film for a few kilobytes.
    static let bounds: ClosedRange<Double> = 65_536...262_144
    /// The distance before the first measurement.
    static let unmeasured: Int64 = 64 << 10
    /// The rate before the first measurement, in bytes per second.
    private static let unmeasuredRate = 1_048_576.0
    /// Weight of the newest measurement.
    private static let weight = 0.3
    /// Number of origins remembered; beyond it the table is cleared.
    private static let capacity = 1024

    private let timings = Mutex<[String: Timing]>([:])

    /// How many bytes before the wanted one a running fetch may be for a reader to wait for it.
    func joinDistance(for host: String) -> Int64 {
        timings.withLock { timings in
            guard let timing = timings[host], let delay = timing.firstByte, let rate = timing.bytesPerSecond else {
                return Self.unmeasured
            }
            return Int64(min(max(rate * delay, Self.bounds.lowerBound), Self.bounds.upperBound))
        }
    }

    /// How many bytes arrive from there in `duration`.
    func bytes(in duration: Duration, from host: String) -> Int64 {
        let rate = timings.withLock { $0[host]?.bytesPerSecond } ?? Self.unmeasuredRate
        return Int64(min(rate * (duration / .seconds(1)), Double(Int64.largestPosition)))
    }

    func noteFirstByte(_ delay: Duration, from host: String) {
        update(host) { $0.firstByte = Self.average($0.firstByte, with: delay / .seconds(1)) }
    }

    /// Notes that `bytes` arrived in `duration`, during which the socket was being read.
    func noteRate(bytes: Int64, in duration: Duration, from host: String) {
        guard bytes >= 64 << 10, duration > .zero else { return }
        update(host) {
            $0.bytesPerSecond = Self.average($0.bytesPerSecond, with: Double(bytes) / (duration / .seconds(1)))
        }
    }

    private func update(_ host: String, _ change: (inout Timing) -> Void) {
        timings.withLock { timings in
            if timings.count >= Self.capacity, timings[host] == nil { timings = [:] }
            change(&timings[host, default: Timing()])
        }
    }

    private static func average(_ old: Double?, with new: Double) -> Double {
        old.map { $0 + weight * (new - $0) } ?? new
    }
}
