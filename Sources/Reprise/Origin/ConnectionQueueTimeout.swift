/// The cause of an `originTimedOut` that no connection became free for: the request was never sent.
package struct ConnectionQueueTimeout: Error, CustomStringConvertible {
    /// What it is called in messages.
    package let description = "queue"

    /// The only one there is.
    package init() {}
}
