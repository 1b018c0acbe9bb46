extension MediaResource {
    /// The stored progress, without asking the origin; consults the index if the resource has not been used yet.
    ///
    /// If the index cannot be read, nothing counts as stored, and playback fetches.
    public func storedProgress() async -> StoredProgress {
        var progress = StoredProgress()
        progress.statistics = engine.reporter.current
        if let stored = await stored() {
            progress.ranges = stored.ranges
            progress.completeLength = stored.information.completeLength
        }
        return progress
    }

    /// ``storedProgress()`` now and after each change, at most once per `interval`; 100 ms by default.
    public func storedProgressUpdates(every interval: Duration = .milliseconds(100)) -> Updates<StoredProgress> {
        Updates(
            every: interval, clock: engine.clock, changes: { [self] in engine.progress.changes(of: key) }
        ) { [self] isUpdate in
            let progress = await storedProgress()
            // The state of a closed cache is not a change.
            return isUpdate && engine.isClosed ? nil : progress
        }
    }
}
