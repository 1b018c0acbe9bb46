/// The cause of an `originTimedOut` error when no connection became free: the request was never sent.
package struct ConnectionQueueTimeout: Error, CustomStringConvertible {
    /// The name used in messages.
    package let description = "queue"

    /// Creates the cause; all values are equal.
    package init() {}
}
