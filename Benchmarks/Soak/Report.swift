import Foundation

/// The lines of a soak, one per minute, and its verdict.
struct Report {
    private struct Moment {
        let time: Double
        let counts: Tally.Counts
        let originBytes: Int64
        let processorTime: Double
    }

    private let limit: Int64
    /// Seconds between two samples.
    private let pace: Double
    private var samples: [ServerUnderTest.Sample] = []
    /// Index of the first sample of the next line.
    private var lineBegin = 0
    private var last: Moment?

    /// `limit` is that of the server under test, in bytes; a sample follows every `pace` seconds.
    init(limit: Int64, pace: Double) { (self.limit, self.pace) = (limit, pace) }

    static let heading = """
        | min | requests | MB served | wrong bytes | wrong answers | no answer | hangs | broken off: explained \
        | unexplained | RSS MiB | descriptors | threads | CPU % | stored of limit % | origin MB | origin / served |
        |---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
        """

    /// Adds the server's current resource usage.
    mutating func add(_ sample: ServerUnderTest.Sample?) {
        if let sample { samples.append(sample) }
    }

    /// The line for the time since the last one; counts are for that time, sizes are its maximum.
    mutating func line(at time: Double, _ counts: Tally.Counts, originBytes: Int64) -> String {
        let then = last?.counts ?? Tally.Counts()
        let served = Double(counts.servedBytes - then.servedBytes) / 1e6
        let origin = Double(originBytes - (last?.originBytes ?? 0)) / 1e6
        let recent = samples[lineBegin...]
        lineBegin = samples.count
        let processorTime = recent.last?.processorTime ?? 0
        let cpu = (processorTime - (last?.processorTime ?? 0)) / max(time - (last?.time ?? 0), 0.001) * 100
        func peak(_ value: (ServerUnderTest.Sample) -> Double, _ digits: Int) -> String {
            recent.map(value).max().map { Self.text($0, digits) } ?? "–"
        }
        let cells = [
            Self.text(time / 60, 1), "\(counts.requests - then.requests)", Self.text(served, 0),
            "\(counts.wrongBytes - then.wrongBytes)", "\(counts.wrongAnswers - then.wrongAnswers)",
            "\(counts.silent - then.silent + counts.refusedConnections - then.refusedConnections)",
            "\(counts.hangs - then.hangs)", "\(counts.explained - then.explained)",
            "\(counts.unexplained - then.unexplained)",
            peak({ Double($0.memory) / 1_048_576 }, 1), peak({ Double($0.descriptors) }, 0),
            peak({ Double($0.threads) }, 0), recent.isEmpty ? "–" : Self.text(cpu, 0),
            peak({ Double($0.stored) / Double(limit) * 100 }, 1), Self.text(origin, 0),
            Self.text(origin / max(served, 0.001), 3),
        ]
        last = Moment(time: time, counts: counts, originBytes: originBytes, processorTime: processorTime)
        return "| " + cells.joined(separator: " | ") + " |"
    }

    /// The failures, one per line; empty if the soak passed.
    func failures(_ counts: Tally.Counts) -> [String] {
        var failures: [String] = []
        if counts.wrongBytes > 0 { failures.append("\(counts.wrongBytes) wrong bytes") }
        if counts.wrongAnswers > 0 { failures.append("\(counts.wrongAnswers) wrong answers") }
        if counts.silent > 0 { failures.append("\(counts.silent) requests without an answer in \(Link.patience) s") }
        if counts.hangs > 0 { failures.append("\(counts.hangs) requests hung") }
        if counts.refusedConnections > 0 { failures.append("\(counts.refusedConnections) connections not accepted") }
        if counts.unexplained > 0 { failures.append("\(counts.unexplained) responses ended without a reason") }
        for (name, unit, value, share, amount) in Self.measures {
            let values = samples.map(value)
            guard let growth = Growth(values, warmUp: Int(600 / pace), share: share, amount: amount), growth.isGrowth
            else { continue }
            failures.append(
                "\(name) grow: \(Self.text(growth.rise, 1)) \(unit) more in the last two thirds, "
                    + "\(Self.text(growth.allowance, 1)) allowed")
        }
        // Measuring a changing directory may count both a removed file and its replacement.
        let excess = samples.filter { $0.stored > limit + 1 << 20 }.count
        if excess * 4 > samples.count { failures.append("the directory was above the limit in \(excess) looks") }
        return failures
    }

    /// Measurements that must not grow, with the allowed share and amount.
    private static let measures:
        [(
            name: String, unit: String, value: @Sendable (ServerUnderTest.Sample) -> Double, share: Double,
            amount: Double
        )] = [
            ("memory", "MiB", { Double($0.memory) / 1_048_576 }, 0.1, 4),
            ("descriptors", "", { Double($0.descriptors) }, 0.1, 16),
            // Dispatch adds some while the disk is slow.
            ("threads", "", { Double($0.threads) }, 0, 8),
        ]

    /// `value` with this many decimal places.
    static func text(_ value: Double, _ digits: Int) -> String { String(format: "%.\(digits)f", value) }
}
