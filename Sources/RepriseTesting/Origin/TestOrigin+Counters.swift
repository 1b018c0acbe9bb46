internal import NIOCore
internal import NIOPosix

extension TestOrigin {
    /// The counters at this moment.
    ///
    /// A client may receive a byte an instant before it is counted, and the origin notices an abort only after the
    /// client has closed. Use ``settledSnapshot()`` or ``waitUntil(_:)`` to compare counters with a client's
    /// observations.
    public var snapshot: Snapshot { state.read { $0.snapshot } }

    /// The counters after every byte that a client can have received by now was counted.
    public func settledSnapshot() async -> Snapshot {
        // Bytes are counted in the same turn of the event loop that hands them to the kernel.
        for eventLoop in group.makeIterator() where isRunning {
            try? await eventLoop.submit {}.get()
        }
        return snapshot
    }

    /// Waits until `condition` is true of the counters, and returns those counters.
    ///
    ///     await origin.waitUntil { $0["/song.mp3"].requestCount == 3 }
    ///
    /// The condition is checked now and after each change; changes in quick succession may be seen as one. There is no
    /// time limit. If the task is canceled, the function returns at once, whatever the condition.
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
    /// Bytes of responses that are under way still count at their path. Requests keep their numbering, and so does each
    /// resource: what its personality does to the first requests does not start again.
    public func resetCounters() {
        state.update { $0.resetCounters() }
    }
}
