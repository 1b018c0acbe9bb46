internal import NIOCore
internal import NIOPosix

extension TestOrigin {
    /// The counters at this moment.
    ///
    /// A client may have got a byte an instant before it counts, and the origin notices an abort only after the client
    /// has closed. Use ``settledSnapshot()`` or ``waitUntil(_:)`` to compare counters with what a client has seen.
    public var snapshot: Snapshot { state.read { $0.snapshot } }

    /// The counters after every byte that a client can have got by now was counted.
    public func settledSnapshot() async -> Snapshot {
        // Bytes are counted in the same turn of the event loop that hands them to the kernel.
        for eventLoop in group.makeIterator() where isRunning {
            try? await eventLoop.submit {}.get()
        }
        return snapshot
    }

    /// Waits until `condition` is true of the counters, and returns the counters for which it was.
    ///
    ///     await origin.waitUntil { $0["/song.mp3"].requestCount == 3 }
    ///
    /// It is asked now and after each change; changes that follow each other quickly may be seen as one. There is no time
    /// limit. If the task is cancelled, the function returns at once, whatever the condition.
    @discardableResult
    public func waitUntil(_ condition: @Sendable (Snapshot) -> Bool) async -> Snapshot {
        while true {
            let version = state.changes.version
            let snapshot = snapshot
            if condition(snapshot) || Task.isCancelled { return snapshot }
            await state.changes.wait(past: version)
        }
    }

    /// Sets all counters but ``Snapshot/openConnections`` to zero and empties the request log.
    ///
    /// Bytes of responses that are under way go on to count at their path. Requests keep their numbering, and so does
    /// each resource: what its personality does to the first requests does not begin again.
    public func resetCounters() {
        state.update { $0.resetCounters() }
    }
}
