import MediaTiming

/// Tells live media from a file by how fast they came.
///
/// A file that is made on request, such as a transcode, comes faster than it plays.
enum LivePace {
    /// Bytes that are looked at.
    static let lookLength: Int64 = 4 << 20
    /// Shorter bodies tell nothing.
    private static let shortest = Duration.seconds(2)
    private static let mostMeasured = Duration.seconds(5)
    /// A live stream begins with what its server keeps for new listeners, and so comes somewhat faster.
    private static let mostSpeed = 2.0

    /// Whether a body of `length` bytes that begins with `beginning` plays for about as long as it took to come.
    ///
    /// False for formats whose bytes do not tell how long they play.
    static func isLive(_ beginning: [UInt8], length: Int64, after elapsed: Duration) -> Bool {
        guard elapsed >= shortest else { return false }
        let part = min(elapsed / 2, mostMeasured)
        var timer = MediaTimer(first: part, completeLength: length)
        timer.comesInOrder = true
        timer.receive(beginning, at: 0)
        let count: Int64
        switch timer.next() {
        // More bytes than were looked at.
        case .needs: count = Int64(beginning.count)
        case .done(let start):
            guard start.basis == .exact else { return false }
            count = start.ranges.byteCount
        }
        return count > 0 && part * (Double(length) / Double(count)) < elapsed * mostSpeed
    }
}

extension LiveGeneration {
    /// Notes if a body without a length, whose end has come at `end`, may be something live.
    func judgePace(endingAt end: Int64) async {
        let (record, elapsed) = (record, elapsed)
        guard record.role == nil, record.isLive, !record.mayBeLive,
            let began = ask({ $0.response.began }), end > 0
        else { return }
        let beginning = await storedBeginning(atMost: LivePace.lookLength)
        guard LivePace.isLive(beginning, length: end, after: elapsed - began) else { return }
        changeResponse { $0.noteLive() }
    }
}
