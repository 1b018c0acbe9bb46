import Reprise

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

    /// Without a byte for so long it counts as stalled.
    static let stall = Duration.seconds(3)

    /// Bytes of the whole; `nil` while unknown.
    private(set) var total: Int64?
    /// Bytes that are there.
    private(set) var bytes: Int64 = 0
    /// Those of them that an earlier run had stored.
    private(set) var fromStore: Int64 = 0
    /// Bytes that an earlier run had stored, those among them that were not read yet.
    private var stored: Int64 = 0
    private var start: Duration
    private var hasAnswer = false
    private var lastArrival: Duration
    private var rate: TransferRate

    init(at time: Duration) {
        start = time
        lastArrival = time
        rate = TransferRate(at: time)
    }

    private var fetched: Int64 { bytes - fromStore }

    /// The origin has answered, or did not have to; `stored` bytes were there before.
    mutating func begin(total: Int64?, stored: Int64, at time: Duration) {
        self.total = total
        self.stored = stored
        hasAnswer = true
        lastArrival = time
        rate = TransferRate(count: fetched, at: time)
    }

    /// Bytes may arrive again, after a time in which none were to.
    mutating func goOn(at time: Duration) {
        if !hasAnswer { start = time }
        lastArrival = time
        rate = TransferRate(count: fetched, at: time)
    }

    /// So many bytes are there, `fromStore` of them by an earlier run.
    mutating func note(bytes: Int64, fromStore: Int64, at time: Duration) {
        if bytes > self.bytes { lastArrival = time }
        let before = fetched
        self.bytes = bytes
        self.fromStore = fromStore
        stored = max(stored, fromStore)
        // What came of a version that is gone by now is no speed.
        if fetched < before { rate = TransferRate(count: fetched, at: time) } else { rate.note(fetched, at: time) }
    }

    func phase(at time: Duration) -> Phase {
        guard hasAnswer else { return .connecting(time - start) }
        if time - lastArrival >= Self.stall { return .stalled(time - lastArrival) }
        let rate = rate.bytesPerSecond(at: time)
        guard let total, rate >= 1 else { return .moving(rate: rate, remaining: nil) }
        return .moving(rate: rate, remaining: .seconds(Double(max(0, total - stored - fetched)) / rate))
    }
}
