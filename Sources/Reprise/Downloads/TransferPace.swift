/// Spreads pulls of unknown sizes over time, so that together they keep to a rate: a budget of bytes, as a pure value.
///
/// Each pull claims its place in one row of bytes, about as many as the last one brought, and begins when the bytes
/// before its place are earned. If it brings fewer bytes than claimed, the difference is earned immediately. If it
/// brings more, the excess is a debt. Places never change. Time in which nothing is claimed earns nothing, so that no
/// burst follows a pause.
///
/// Times are those of one monotonic clock.
package struct TransferPace: Sendable {
    /// A place in the row of bytes.
    package struct Claim: Sendable {
        fileprivate let start: Double
        fileprivate let size: Double
    }

    /// Bytes per second; `nil` for as fast as they come.
    private(set) var rate: Double?
    /// Bytes that were claimed, from the beginning.
    private var claimed = 0.0
    /// Bytes that are earned, never more than were claimed.
    private var earned = 0.0
    /// The time up to which they are counted.
    private var time: Duration
    /// Bytes of the last pull.
    private var lastSize = Double(64 << 10)

    /// A pace of `rate` bytes per second.
    package init(rate: Int64?, at time: Duration) {
        self.rate = Self.checked(rate)
        self.time = time
    }

    private static func checked(_ rate: Int64?) -> Double? { rate.map { Double(max($0, 1)) } }

    /// Takes another rate, from now on.
    package mutating func change(to rate: Int64?, at now: Duration) {
        // What was claimed without a limit is no debt.
        if self.rate == nil { earned = claimed }
        advance(to: now)
        self.rate = Self.checked(rate)
    }

    /// Claims a place for a pull that brings at most `most` bytes.
    package mutating func claim(atMost most: Int64?, at now: Duration) -> Claim {
        advance(to: now)
        let claim = Claim(start: claimed, size: min(lastSize, most.map { Double($0) } ?? .infinity))
        claimed += claim.size
        return claim
    }

    /// How long a pull must still wait.
    package mutating func delay(of claim: Claim, at now: Duration) -> Duration {
        guard let rate else { return .zero }
        advance(to: now)
        // Less than a byte is an error of rounding.
        let missing = claim.start - earned
        return missing < 1 ? .zero : .seconds(missing / rate)
    }

    /// A pull has brought `count` bytes; 0 if it did not happen.
    package mutating func settle(_ claim: Claim, bytes count: Int64, at now: Duration) {
        advance(to: now)
        earned = min(claimed, earned + claim.size - Double(count))
        // One short piece must not let all others begin at once.
        lastSize = max(Double(count), lastSize / 2)
    }

    /// Whether what was pulled is not earned yet, so that the next pull would have to wait.
    package mutating func isInDebt(at now: Duration) -> Bool {
        advance(to: now)
        return rate != nil && claimed - earned >= 1
    }

    private mutating func advance(to now: Duration) {
        if let rate, now > time { earned = min(claimed, earned + rate * ((now - time) / .seconds(1))) }
        time = max(time, now)
    }
}
