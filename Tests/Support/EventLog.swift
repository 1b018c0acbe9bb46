import Primitives
public import Reprise

/// All events of a cache from now on.
public final class EventLog: Sendable {
    private let events: AsyncStream<CacheEvent>
    private let seen = Mutex<[CacheEvent]>([])

    /// Subscribes to `cache`.
    public init(_ cache: MediaCache) { events = cache.events() }

    /// Waits for the first event from now on that satisfies `condition`.
    public func first(_ condition: (CacheEvent) -> Bool) async -> CacheEvent? {
        for await event in events {
            seen.withLock { $0.append(event) }
            if condition(event) { return event }
        }
        return nil
    }

    /// All events until the cache is closed.
    public func all() async -> [CacheEvent] {
        for await event in events { seen.withLock { $0.append(event) } }
        return seen.withLock { $0 }
    }
}
