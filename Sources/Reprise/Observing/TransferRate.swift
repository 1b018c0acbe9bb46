/// How fast bytes arrived over the last seconds.
///
/// Times are those of one monotonic clock.
package struct TransferRate: Sendable {
    /// The rate is that of so much time.
    package static let window = Duration.seconds(5)
    /// Closer samples tell nothing more.
    private static let sampleInterval = Duration.milliseconds(100)

    private struct Sample {
        let time: Duration
        let count: Int64
    }

    private var count: Int64
    private var samples: [Sample]

    /// Begins with so many bytes.
    package init(count: Int64 = 0, at time: Duration) {
        self.count = count
        samples = [Sample(time: time, count: count)]
    }

    /// So many bytes have arrived by now.
    package mutating func note(_ count: Int64, at time: Duration) {
        self.count = count
        guard let last = samples.last, time - last.time >= Self.sampleInterval else { return }
        samples.append(Sample(time: time, count: count))
        // One that is older than the window stays: the window begins between it and the next.
        while samples.count > 2, time - samples[1].time >= Self.window { samples.removeFirst() }
    }

    /// Bytes per second.
    package func bytesPerSecond(at time: Duration) -> Double {
        let begin = time - Self.window
        let first = samples.last { $0.time <= begin } ?? samples[0]
        let elapsed = time - first.time
        guard elapsed > .zero else { return 0 }
        return Double(count - first.count) / (elapsed / .seconds(1))
    }
}
