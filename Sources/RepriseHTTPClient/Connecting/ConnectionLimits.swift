import NIOCore

/// The time and size limits of one connection.
struct ConnectionLimits: Sendable {
    /// How long a connection without a request is kept.
    let idleLifetime: TimeAmount
    /// How often the loop looks at the pace of a body's consumer.
    let paceInterval: TimeAmount
    /// The socket is read while fewer bytes than this are buffered.
    let window: Int

    /// Maximum number of bytes of one body that are in memory and not taken yet.
    static let maximumBuffered = 1 << 20
}
