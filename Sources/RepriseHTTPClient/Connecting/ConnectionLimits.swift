import NIOCore

/// The time and size limits of one connection.
struct ConnectionLimits: Sendable {
    /// From the request to the head of its response.
    let responseTimeout: TimeAmount
    /// Between two pieces of a body while the consumer waits.
    let idleTimeout: TimeAmount
    /// How long a connection without a request is kept.
    let idleLifetime: TimeAmount
    /// How often the loop looks at the pace of a body's consumer.
    let paceInterval: TimeAmount
    /// The socket is read while fewer bytes than this are buffered.
    let window: Int

    /// Maximum number of bytes of one body that are in memory and not taken yet.
    static let maximumBuffered = 1 << 20
}
