#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// What a listener's thread waits for: a wish of its owner, and clients.
struct ListenerWait {
    /// How a wait ended.
    enum Outcome {
        /// A byte came for the thread.
        case woken
        /// A client may be there, or the listener has failed.
        case client
        case timedOut
        /// The time was up long before the thread went on: the process was suspended.
        case resumed
        /// A signal came.
        case interrupted
        /// The system cannot wait now.
        case failed
    }

    /// Where a byte wakes the thread.
    let wake: CInt
    /// The descriptors of the listener; none if no client is to be accepted.
    let listeners: [CInt]

    /// How late a wait may end on a busy device.
    static let tolerance = Duration.milliseconds(500)

    /// Waits at most so many milliseconds; `elapsed` reads a clock that goes on while the device sleeps.
    func outcome(within milliseconds: Int, elapsed: () -> Duration) -> Outcome {
        var files = ([wake] + listeners).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        let start = elapsed()
        let count = poll(&files, nfds_t(files.count), CInt(milliseconds))
        let code = errno
        if count > 0 { return files[0].revents != 0 ? .woken : .client }
        if elapsed() - start > Duration.milliseconds(milliseconds) + Self.tolerance { return .resumed }
        if count == 0 { return .timedOut }
        return code == EINTR ? .interrupted : .failed
    }
}
