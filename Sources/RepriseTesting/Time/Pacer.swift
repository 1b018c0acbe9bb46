internal import NIOCore

/// Spreads a body over time in small slices.
struct Pacer {
    let bytesPerSecond: Int
    private var next = NIODeadline.now()

    init(bytesPerSecond: Int) {
        self.bytesPerSecond = max(1, bytesPerSecond)
    }

    /// The bytes of two milliseconds: small enough to look steady, large enough to cost little.
    var bytesPerSlice: Int64 { Int64(max(1, bytesPerSecond / 500)) }

    /// How long to wait before the next slice; `nil` if it may be sent now, which is always true of the first `free`
    /// bytes.
    func delay(after produced: Int64, free: Int) -> TimeAmount? {
        guard produced >= Int64(free) else { return nil }
        let delay = next - .now()
        return delay > .zero ? delay : nil
    }

    /// Notes that the previous slice has not left yet; the next one waits as long as it takes to send one.
    ///
    /// Bytes that count as sent have thus been sent: a client that stops reading and then leaves costs only its own
    /// buffers.
    mutating func sliceIsHeld() {
        if next <= .now() { sent(bytesPerSlice) }
    }

    /// Advances the time of the next slice.
    ///
    /// A client that stalled does not get the time back.
    mutating func sent(_ count: Int64) {
        let nanoseconds = Double(count) / Double(bytesPerSecond) * 1e9
        next = max(next, .now()) + .nanoseconds(Int64(nanoseconds))
    }
}
