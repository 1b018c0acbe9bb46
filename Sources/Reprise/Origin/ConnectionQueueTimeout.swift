/// The cause of an `originTimedOut` error when no connection became free: the request was never sent.
package struct ConnectionQueueTimeout: Error, CustomStringConvertible {
    /// Whether the process has no file descriptor left for a connection.
    package let isLackOfDescriptors: Bool

    /// The name used in messages.
    package var description: String { isLackOfDescriptors ? "no file descriptor" : "queue" }

    /// Creates the cause.
    package init(isLackOfDescriptors: Bool = false) { self.isLackOfDescriptors = isLackOfDescriptors }
}
