import Locks

/// What a new request costs, by origin: time to first byte and rate, as moving averages.
///
/// Waiting for a running fetch is better than a new request while the bytes between are worth less than rate × time to
/// first byte. The lock is a leaf.
final class OriginTimings: Sendable {
    private struct Timing {
        var firstByte: Double?
        var bytesPerSecond: Double?
    }

    /// Bounds of the distance that is worth waiting for, in bytes.
    ///
    /// What lies between may be wanted by nobody: players that skip from one fragment header to the next, half a
    /// megabyte apart, would fetch a whole film for a few kilobytes.
    static let bounds: ClosedRange<Double> = 65_536...262_144
    /// The distance before anything was measured.
    static let unmeasured: Int64 = 64 << 10
    /// Weight of the newest measurement.
    private static let weight = 0.3
    /// Origins remembered; beyond it the table starts anew.
    private static let capacity = 1024

    private let timings = Mutex<[String: Timing]>([:])

    /// How many bytes behind the wanted one a running fetch may be to be waited for.
    func patience(for host: String) -> Int64 {
        timings.withLock { timings in
            guard let timing = timings[host], let delay = timing.firstByte, let rate = timing.bytesPerSecond else {
                return Self.unmeasured
            }
            return Int64(min(max(rate * delay, Self.bounds.lowerBound), Self.bounds.upperBound))
        }
    }

    func noteFirstByte(_ delay: Duration, from host: String) {
        update(host) { $0.firstByte = Self.average($0.firstByte, delay / .seconds(1)) }
    }

    /// `bytes` came in `duration`, during which the socket was being read.
    func noteRate(bytes: Int64, in duration: Duration, from host: String) {
        guard bytes >= 64 << 10, duration > .zero else { return }
        update(host) { $0.bytesPerSecond = Self.average($0.bytesPerSecond, Double(bytes) / (duration / .seconds(1))) }
    }

    private func update(_ host: String, _ change: (inout Timing) -> Void) {
        timings.withLock { timings in
            if timings.count >= Self.capacity, timings[host] == nil { timings = [:] }
            change(&timings[host, default: Timing()])
        }
    }

    private static func average(_ old: Double?, _ new: Double) -> Double {
        old.map { $0 + weight * (new - $0) } ?? new
    }
}
