public import ByteRanges

/// What of a resource is on disk, for a buffer bar or a download mark.
public struct StoredProgress: Sendable, Equatable {
    /// The stored bytes.
    public var ranges = ByteRangeSet()
    /// Complete length in bytes; `nil` while nobody knows it.
    public var completeLength: Int64?
    /// The whole cache's counts since it was opened; ``CacheStatistics/bytesSaved`` among them.
    public var statistics = CacheStatistics()

    /// Nothing stored.
    public init() {}

    /// Whether every byte is stored.
    public var isComplete: Bool { completeLength.map { ranges.contains(0..<$0) } ?? false }

    /// Stored part of the whole, 0 to 1; 0 while the length is unknown.
    public var fraction: Double {
        guard let completeLength, completeLength > 0 else { return 0 }
        return min(Double(ranges.byteCount) / Double(completeLength), 1)
    }

    /// The stored ranges as parts of the whole, ascending, each within 0...1; empty while the length is unknown.
    public var fractions: [ClosedRange<Double>] {
        guard let completeLength, completeLength > 0 else { return [] }
        let whole = Double(completeLength)
        return ranges.map { min(Double($0.lowerBound) / whole, 1)...min(Double($0.upperBound) / whole, 1) }
    }
}

/// What is stored of a resource, now and after each change, as an asynchronous sequence.
///
/// Changes that come while the consumer is busy are one. Ends when the cache is closed or the consumer's task cancelled.
public struct StoredProgressSequence: AsyncSequence, Sendable {
    /// What is stored.
    public typealias Element = StoredProgress
    /// It never fails.
    public typealias Failure = Never

    let resource: MediaResource
    let interval: Duration

    /// Walks through the changes.
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

        /// What is stored after the next change; `nil` at the end.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> StoredProgress? {
            let isUpdate = !isFirst
            isFirst = false
            if isUpdate {
                guard await changes.next(isolation: actor) != nil else { return nil }
                // A cancelled sleep ends the sequence at its next step: the stream ends with its task, too.
                try? await resource.core.engine.configuration.clock.sleep(interval)
                if Task.isCancelled { return nil }
            }
            let progress = await resource.storedProgress()
            // What a closed cache tells is no change.
            return isUpdate && resource.core.engine.isClosed ? nil : progress
        }

        /// What is stored after the next change; `nil` at the end.
        public mutating func next() async -> StoredProgress? { await next(isolation: nil) }
    }

    /// Starts with what is stored now.
    public func makeAsyncIterator() -> Iterator { Iterator(self) }
}

extension MediaResource {
    /// What is stored, without asking the origin; looks into the index if the resource was not used yet.
    ///
    /// An index that cannot be read counts as nothing stored: playback then fetches.
    public func storedProgress() async -> StoredProgress {
        var progress = StoredProgress()
        progress.statistics = core.engine.journal.current
        if let generation = liveGeneration {
            progress.ranges = generation.storedRanges
            progress.completeLength = generation.information.completeLength
        } else if let recorded = await recordedGeneration() {
            progress.ranges = recorded.ranges
            progress.completeLength = recorded.information.completeLength
        }
        return progress
    }

    /// ``storedProgress()`` now and after each change, at most one in `interval`; 100 ms by default.
    public func storedProgressUpdates(every interval: Duration = .milliseconds(100)) -> StoredProgressSequence {
        StoredProgressSequence(resource: self, interval: interval)
    }

    /// What is known without asking the origin: in memory, or in the index.
    package func knownInformation() async -> ContentInformation? {
        if let information = storedInformation { return information }
        return await recordedGeneration()?.information
    }

    private func recordedGeneration() async -> (information: ContentInformation, ranges: ByteRangeSet)? {
        await withTaskExecutorPreference(DiskExecutor.shared) { recorded() }
    }

    /// Whether memory tells what is stored under `key`: the index may still list what was replaced just now.
    private func isKnownInMemory(_ key: CacheKey) -> Bool {
        core.engine.liveResource(key)?.knowsWhatIsStored ?? false
    }

    /// What the index knows of what is not in memory; waits for the disk.
    func recorded() -> (information: ContentInformation, ranges: ByteRangeSet)? {
        guard let store = core.engine.store, !isKnownInMemory(key) else { return nil }
        do throws(RepriseError) {
            let vary = try store.catalogue.vary(of: key)
            let selected = vary.map { key.selection(by: $0, for: originRequest) } ?? key
            guard !isKnownInMemory(selected) else { return nil }
            guard let stored = try store.catalogue.generation(for: selected) else { return nil }
            return (ContentInformation(stored.record), ChunkLedger(blocks: stored.chunks).ranges)
        } catch {
            core.engine.journal.tell(.storeBypassed(key, reason: error.description))
            return nil
        }
    }
}
