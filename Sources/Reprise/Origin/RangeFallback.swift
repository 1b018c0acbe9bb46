/// What a reader does where the origin sends the whole in place of a range (RFC 9110 §14.2).
enum RangeFallback: Sendable {
    /// Waits until its bytes have come.
    case wait
    /// Waits, and keeps the response, paused behind its bytes, until it leaves: later readers go on with it.
    case keep
    /// Fails with code `rangesUnsupported`: its bytes are not worth those before them.
    case fail
}
