/// Which networks a request may use, in the words of Apple's systems.
///
/// `URLSessionOrigin` keeps to it on Apple's systems; elsewhere, and with other clients, every network is the same.
public enum NetworkPolicy: Sendable, Hashable {
    /// Any network.
    case any
    /// None that the system calls expensive: cellular, or a personal hotspot.
    case inexpensive
    /// None that is expensive, and none for which the user chose Low Data Mode.
    case inexpensiveAndUnconstrained
}
