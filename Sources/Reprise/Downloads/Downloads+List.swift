import Primitives

/// Lists of downloads.
extension Downloads {
    /// All downloads, in their order.
    public func list() async -> [Download] {
        await state.withLock { $0.resumption }?.value
        let now = clock.elapsed()
        let (items, figures) = state.withLock { ($0.queue.items, $0.figures) }
        return items.map { item in
            var item = item
            let stream = figures.stream(item.key)
            if let stream {
                (item.storedBytes, item.completeLength) = (stream.storedBytes, stream.completeLength)
            } else if !item.isStream, let stored = storedBytes(of: item) {
                (item.storedBytes, item.completeLength) = stored
            }
            switch item.phase {
            case .running:
                // The length of its playlist is not that of a stream.
                if stream == nil, isDeclaredStream(item) { item.completeLength = nil }
                var download = Download(
                    item, stream: stream, bytesPerSecond: figures.bytesPerSecond(of: item.key, at: now),
                    storedBefore: figures.storedBefore(item.key))
                let origin = item.request.url.authority
                download.yieldsToPlayback = engine?.precedence.isYielding(at: origin) ?? false
                return download
            case .done, .failed:
                return Download(item, stream: stream, storedBefore: figures.storedBefore(item.key))
            case .queued, .waiting, .paused: return Download(item, stream: stream)
            }
        }
    }

    /// The downloads of one partition, in their order.
    public func list(partition: String) async -> [Download] {
        await list().filter { $0.key.partition == partition }
    }

    /// The download of `key`; `nil` if there is none.
    public subscript(key: CacheKey) -> Download? {
        get async { await list().first { $0.key == key } }
    }

    /// ``list()`` now and after each change, at most once per `interval`; 250 ms by default.
    ///
    /// Changes that occur while the consumer is busy are merged. Ends when the cache is closed.
    public func updates(every interval: Duration = .milliseconds(250)) -> Updates<[Download]> {
        updates(every: interval) { [self] in await list() }
    }

    /// ``list(partition:)`` now and after each change; see ``updates(every:)``.
    public func updates(
        partition: String, every interval: Duration = .milliseconds(250)
    ) -> Updates<[Download]> {
        updates(every: interval) { [self] in await list(partition: partition) }
    }

    /// `value` now and after each change of a download.
    func updates<Value: Sendable>(
        every interval: Duration, value: @escaping @Sendable () async -> Value
    ) -> Updates<Value> {
        Updates(
            every: interval, clock: clock, changes: { [board] in board.changes(of: Self.signal) },
            value: { _ in await value() })
    }

    private func isDeclaredStream(_ item: DownloadQueue.Item) -> Bool {
        let generation = engine?.liveResource(item.key)?.liveGeneration(for: item.request)
        let planner = engine?.configuration.streamPlanner
        return planner?.isDeclaredStream(generation?.information, at: item.request.url) ?? false
    }

    /// The stored bytes and the complete length, if the resource is in memory.
    func storedBytes(of item: DownloadQueue.Item) -> (Int64, Int64?)? {
        guard let generation = engine?.liveResource(item.key)?.liveGeneration(for: item.request) else { return nil }
        return (generation.storedRanges.byteCount, generation.information.completeLength)
    }
}
