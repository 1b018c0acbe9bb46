public import ByteRanges

/// How much of a resource is on disk, for a buffer bar or a download mark.
public struct StoredProgress: Sendable, Equatable {
    /// The stored bytes.
    public var ranges = ByteRangeSet()
    /// Complete length in bytes; `nil` while unknown.
    public var completeLength: Int64?
    /// The counts of the whole cache since it was opened, ``CacheStatistics/bytesSaved`` among them.
    public var statistics = CacheStatistics()

    /// Creates the progress of a resource of which nothing is stored.
    public init() {}

    /// Whether every byte is stored.
    public var isComplete: Bool { completeLength.map { ranges.contains(0..<$0) } ?? false }

    /// The stored fraction of the whole, 0 to 1; 0 while the length is unknown.
    public var fraction: Double {
        guard let completeLength, completeLength > 0 else { return 0 }
        return min(Double(ranges.byteCount) / Double(completeLength), 1)
    }

    /// The stored ranges as fractions of the whole, ascending, each within 0...1; empty while the length is unknown.
    public var fractions: [ClosedRange<Double>] {
        guard let completeLength, completeLength > 0 else { return [] }
        let whole = Double(completeLength)
        return ranges.map { min(Double($0.lowerBound) / whole, 1)...min(Double($0.upperBound) / whole, 1) }
    }
}

/// The stored progress of a resource, now and after each change, as an asynchronous sequence.
///
/// Changes that occur while the consumer is busy are merged. Ends when the cache is closed or the consumer's task is
/// canceled.
public struct StoredProgressSequence: AsyncSequence, Sendable {
    /// The stored progress.
    public typealias Element = StoredProgress
    /// The sequence never fails.
    public typealias Failure = Never

    let resource: MediaResource
    let interval: Duration

    /// Iterates over the changes.
    public struct Iterator: AsyncIteratorProtocol {
        private let resource: MediaResource
        private let interval: Duration
        private var changes: AsyncStream<Void>.Iterator
        private var isFirst = true

        init(_ sequence: StoredProgressSequence) {
            resource = sequence.resource
            interval = sequence.interval
            changes = resource.core.engine.progress.changes(of: resource.key).makeAsyncIterator()
        }

        /// The progress after the next change; `nil` at the end.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> StoredProgress? {
            let isUpdate = !isFirst
            isFirst = false
            if isUpdate {
                guard await changes.next(isolation: actor) != nil else { return nil }
                // A canceled sleep ends the sequence at its next step, because the stream ends with its task too.
                try? await resource.core.engine.configuration.clock.sleep(interval)
                if Task.isCancelled { return nil }
            }
            let progress = await resource.storedProgress()
            // The state of a closed cache is not a change.
            return isUpdate && resource.core.engine.isClosed ? nil : progress
        }

        /// The progress after the next change; `nil` at the end.
        public mutating func next() async -> StoredProgress? { await next(isolation: nil) }
    }

    /// Starts with the current progress.
    public func makeAsyncIterator() -> Iterator { Iterator(self) }
}

extension MediaResource {
    /// The stored progress, without asking the origin; consults the index if the resource has not been used yet.
    ///
    /// If the index cannot be read, nothing counts as stored, and playback fetches.
    public func storedProgress() async -> StoredProgress {
        var progress = StoredProgress()
        progress.statistics = core.engine.reporter.current
        if let generation = liveGeneration {
            progress.ranges = generation.storedRanges
            progress.completeLength = generation.information.completeLength
        } else if let recorded = await recordedGeneration() {
            progress.ranges = recorded.ranges
            progress.completeLength = recorded.information.completeLength
        }
        return progress
    }

    /// ``storedProgress()`` now and after each change, at most once per `interval`; 100 ms by default.
    public func storedProgressUpdates(every interval: Duration = .milliseconds(100)) -> StoredProgressSequence {
        StoredProgressSequence(resource: self, interval: interval)
    }

    /// The metadata, from memory or the index, without asking the origin.
    package func knownInformation() async -> ContentInformation? {
        if let information = storedInformation { return information }
        return await recordedGeneration()?.information
    }

    private func recordedGeneration() async -> (information: ContentInformation, ranges: ByteRangeSet)? {
        await withTaskExecutorPreference(DiskExecutor.shared) { recorded() }
    }

    /// Whether memory has the current state of `key`; the index may still list a response that was just replaced.
    private func isKnownInMemory(_ key: CacheKey) -> Bool {
        core.engine.liveResource(key)?.knowsWhatIsStored ?? false
    }

    /// Looks the resource up in the index unless it is in memory; waits for the disk.
    func recorded() -> (information: ContentInformation, ranges: ByteRangeSet)? {
        guard let store = core.engine.store, !isKnownInMemory(key) else { return nil }
        do throws(RepriseError) {
            let vary = try store.index.vary(of: key)
            let selected = vary.map { key.variant(by: $0, for: originRequest) } ?? key
            guard !isKnownInMemory(selected) else { return nil }
            guard let stored = try store.index.generation(for: selected) else { return nil }
            return (ContentInformation(stored.record), ChunkLedger(blocks: stored.chunks).ranges)
        } catch {
            core.engine.reporter.tell(.storeBypassed(key, reason: error.description))
            return nil
        }
    }
}
