#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// What a listener's thread waits for: a wish of its owner, clients, and the end of its own connection.
struct ListenerWait {
    /// How a wait ended.
    enum Outcome {
        /// A byte came for the thread.
        case woken
        /// A client may be there, or the listener has failed.
        case client
        /// The connection that examines the listener was refused or broken off.
        case probeEnded
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
    /// The descriptors of the listener; none while it accepts no clients.
    let listeners: [CInt]
    /// The connection that examines the listener, on which nothing is ever received; `nil` if there is none.
    let probe: CInt?

    /// How late a wait may end on a busy device.
    static let tolerance = Duration.milliseconds(500)

    /// Waits at most so many milliseconds; `elapsed` reads a clock that goes on while the device sleeps.
    func outcome(within milliseconds: Int, elapsed: () -> Duration) -> Outcome {
        // Darwin reports the end of a connection only to those who want to read.
        var files = ([wake] + listeners + [probe ?? -1]).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        let start = elapsed()
        let count = poll(&files, nfds_t(files.count), CInt(milliseconds))
        let code = errno
        if count > 0 { return ready(files) }
        if elapsed() - start > Duration.milliseconds(milliseconds) + Self.tolerance { return .resumed }
        if count == 0 { return .timedOut }
        return code == EINTR ? .interrupted : .failed
    }

    private func ready(_ files: [pollfd]) -> Outcome {
        if files[0].revents != 0 { return .woken }
        return files.dropFirst().dropLast().contains { $0.revents != 0 } ? .client : .probeEnded
    }
}
