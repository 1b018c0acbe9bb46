import MediaTiming

/// Distinguishes live media from files by their transfer rate.
///
/// A transcode arrives faster than real time, and a live stream doesn't.
enum LivePace {
    /// Maximum number of bytes that are inspected.
    static let lookLength: Int64 = 4 << 20
    /// Transfers shorter than this are too short to judge.
    private static let shortest = Duration.seconds(2)
    private static let mostMeasured = Duration.seconds(5)
    /// Maximum speed of a live stream, in multiples of real time.
    ///
    /// Servers send new listeners a buffered beginning.
    private static let mostSpeed = 2.0

    /// Whether a body of `length` bytes, transferred in `elapsed`, arrived at most twice as fast as real time.
    ///
    /// Returns false if the format doesn't reveal the playing time.
    static func isLive(_ beginning: [UInt8], length: Int64, after elapsed: Duration) -> Bool {
        guard elapsed >= shortest else { return false }
        let part = min(elapsed / 2, mostMeasured)
        var timer = MediaTimer(first: part, completeLength: length)
        timer.comesInOrder = true
        timer.receive(beginning, at: 0)
        let count: Int64
        switch timer.next() {
        // The measured part is longer than the inspected bytes.
        case .needs: count = Int64(beginning.count)
        case .done(let start):
            guard start.basis == .exact else { return false }
            count = start.ranges.byteCount
        }
        return count > 0 && part * (Double(length) / Double(count)) < elapsed * mostSpeed
    }
}

extension Generation {
    /// Marks the response as possibly live if its body had no length and arrived at the rate of a live stream.
    ///
    /// `end` is the length of the body, in bytes.
    func judgePace(endingAt end: Int64) async {
        let (record, elapsed) = (record, elapsed)
        guard record.role == nil, record.isLive, !record.mayBeLive,
            let began = ask({ $0.response.began }), end > 0
        else { return }
        let beginning = await storedBeginning(atMost: LivePace.lookLength)
        guard LivePace.isLive(beginning, length: end, after: elapsed - began) else { return }
        handle { $0.response.noteLive() }
    }
}
