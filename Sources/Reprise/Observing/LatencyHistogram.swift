/// How often something took how long, in the buckets of Prometheus's clients, from 1 ms to 10 s.
package struct LatencyHistogram: Sendable, Equatable {
    /// The upper bounds of the buckets, in seconds and inclusive; one more bucket has no bound.
    package static let bounds: [Double] = [
        0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]

    /// Number of measurements in each bucket, not cumulated; the last bucket has no bound.
    package private(set) var counts = [Int64](repeating: 0, count: bounds.count + 1)
    /// Sum of all measurements, in seconds.
    package private(set) var sum = 0.0

    package init() {}

    /// Number of measurements.
    package var count: Int64 { counts.reduce(0, +) }

    /// Adds a measurement; one below zero counts as zero.
    package mutating func note(_ duration: Duration) {
        let seconds = max(0, duration / .seconds(1))
        var bucket = 0
        while bucket < Self.bounds.count, seconds > Self.bounds[bucket] { bucket += 1 }
        counts[bucket] += 1
        sum += seconds
    }

    /// Adds all measurements of `right` to `left`.
    package static func += (left: inout LatencyHistogram, right: LatencyHistogram) {
        for bucket in left.counts.indices { left.counts[bucket] += right.counts[bucket] }
        left.sum += right.sum
    }
}
