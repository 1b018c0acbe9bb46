/// Which networks a request may use, in the terms of Apple's systems.
///
/// `URLSessionOrigin` honors it on Apple's systems; elsewhere, and with other clients, all networks are treated alike.
/// ``never`` holds everywhere.
public enum NetworkPolicy: Sendable, Hashable {
    /// Any network.
    case any
    /// No network that the system considers expensive, such as cellular or a personal hotspot.
    case inexpensive
    /// No expensive network, and none for which the user turned on Low Data Mode.
    case inexpensiveAndUnconstrained
    /// No network: stored bytes are read, however stale, and a read of others throws `notStored`.
    case never
}
