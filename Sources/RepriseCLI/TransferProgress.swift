/// How far a download is, and how fast it goes.
///
/// Times are those of one monotonic clock. The rate is that of bytes which this run fetched, over the last seconds.
struct TransferProgress {
    /// What the download is doing.
    enum Phase: Equatable {
        /// The origin has not answered yet, for so long.
        case connecting(Duration)
        /// Bytes arrive, so many a second; `remaining` is how long the rest takes at that rate.
        case moving(rate: Double, remaining: Duration?)
        /// Nothing has arrived for so long.
        case stalled(Duration)
    }

    /// The rate is that of so much time.
    static let window = Duration.seconds(5)
    /// Without a byte for so long it counts as stalled.
    static let stall = Duration.seconds(3)
    /// Closer samples tell nothing more.
    private static let sampleInterval = Duration.milliseconds(100)

    private struct Sample {
        let time: Duration
        let fetched: Int64
    }

    /// Bytes of the whole; `nil` while unknown.
    private(set) var total: Int64?
    /// Bytes that are there.
    private(set) var bytes: Int64 = 0
    /// Those of them that an earlier run had stored.
    private(set) var fromStore: Int64 = 0
    /// Bytes that an earlier run had stored, those among them that were not read yet.
    private var stored: Int64 = 0
    private let start: Duration
    private var hasAnswer = false
    private var lastArrival: Duration
    private var samples: [Sample]

    init(at time: Duration) {
        start = time
        lastArrival = time
        samples = [Sample(time: time, fetched: 0)]
    }

    private var fetched: Int64 { bytes - fromStore }

    /// The origin has answered, or did not have to; `stored` bytes were there before.
    mutating func begin(total: Int64?, stored: Int64, at time: Duration) {
        self.total = total
        self.stored = stored
        hasAnswer = true
        lastArrival = time
        samples = [Sample(time: time, fetched: fetched)]
    }

    /// So many bytes are there, `fromStore` of them by an earlier run.
    mutating func note(bytes: Int64, fromStore: Int64, at time: Duration) {
        if bytes > self.bytes { lastArrival = time }
        self.bytes = bytes
        self.fromStore = fromStore
        stored = max(stored, fromStore)
        guard let last = samples.last, time - last.time >= Self.sampleInterval else { return }
        samples.append(Sample(time: time, fetched: fetched))
        // One that is older than the window stays: the window begins between it and the next.
        while samples.count > 2, time - samples[1].time >= Self.window { samples.removeFirst() }
    }

    func phase(at time: Duration) -> Phase {
        guard hasAnswer else { return .connecting(time - start) }
        if time - lastArrival >= Self.stall { return .stalled(time - lastArrival) }
        let rate = rate(at: time)
        guard let total, rate >= 1 else { return .moving(rate: rate, remaining: nil) }
        return .moving(rate: rate, remaining: .seconds(Double(max(0, total - stored - fetched)) / rate))
    }

    private func rate(at time: Duration) -> Double {
        let begin = time - Self.window
        let first = samples.last { $0.time <= begin } ?? samples[0]
        let elapsed = time - first.time
        guard elapsed > .zero else { return 0 }
        return Double(fetched - first.fetched) / (elapsed / .seconds(1))
    }
}
