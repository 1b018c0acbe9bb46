import NIOCore

/// The times and sizes that one connection keeps to.
struct ConnectionLimits: Sendable {
    /// From the request to the head of its response.
    let responseTimeout: TimeAmount
    /// Between two pieces of a body while somebody waits.
    let idleTimeout: TimeAmount
    /// How long a connection without a request is kept.
    let idleLifetime: TimeAmount
    /// How often the loop looks at the pace of a body's consumer.
    let paceInterval: TimeAmount
    /// Below this many buffered bytes the socket is read.
    let window: Int

    /// Most bytes of one body in memory that were not taken yet.
    static let maximumBuffered = 1 << 20
}
