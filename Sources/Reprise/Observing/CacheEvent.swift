import Locks

/// Something that happened in the cache, with exact numbers.
///
/// Names follow RFC 9211 where it defines them.
public enum CacheEvent: Sendable {
    /// A read ended. Counts the bytes given to its reader by source; `origin` includes those that bypassed the store.
    case readEnded(CacheKey, store: Int64, joined: Int64, origin: Int64)
    /// A request for `range` went to the origin; an upper bound of `Int64.max` means the end.
    case fetchStarted(CacheKey, range: Range<Int64>)
    /// A fetch ended after `bytes` had arrived.
    case fetchEnded(CacheKey, bytes: Int64, error: RepriseError?)
    /// A fetch failed and resumes after `delay` from the byte it had reached.
    case fetchRetried(CacheKey, after: Duration, error: RepriseError)
    /// The representation changed at the origin.
    case generationReplaced(CacheKey, reason: String)
    /// Stored bytes failed their checksum. They are a hole now and will be fetched again.
    case verificationFailed(CacheKey, range: Range<Int64>)
    /// A stale response was used because the origin could not be reached or its answer was unusable (RFC 9111 §4.2.4).
    case servedStale(CacheKey, reason: String)
    /// An entry was removed to make room, because of its age, or by `prune`; or a part of an entry in use, to make
    /// room.
    case evicted(CacheKey, bytes: Int64)
    /// Bytes bypass the store from here on; playback continues.
    case storeBypassed(CacheKey?, reason: String)
    /// The cache started empty. Its index was unusable and set aside, or it had another key and the configuration
    /// resets it.
    case storeReset(reason: String)
    /// A download completed, or failed and will be retried when the cache is next opened.
    case downloadEnded(CacheKey, error: RepriseError?)
}

/// Sums since the cache was opened, or over its whole life.
public struct CacheStatistics: Sendable, Equatable {
    /// Bytes given to readers that were on disk before the read began.
    public var bytesFromStore: Int64 = 0
    /// Bytes given to readers that another reader's fetch brought.
    public var bytesFromJoinedFetch: Int64 = 0
    /// Bytes given to readers that their own fetch brought.
    public var bytesFromOrigin: Int64 = 0
    /// Body bytes received from origins.
    public var bytesFetched: Int64 = 0
    /// Requests sent to origins.
    public var originRequests: Int64 = 0
    /// Reads begun.
    public var reads: Int64 = 0

    /// Bytes given to readers.
    public var bytesServed: Int64 { bytesFromStore + bytesFromJoinedFetch + bytesFromOrigin }
    /// Bytes that did not have to be fetched; negative when aborted reads fetched more than was used.
    public var bytesSaved: Int64 { bytesServed - bytesFetched }

    /// Zero in everything.
    public init() {}

    private static var columns: [(String, WritableKeyPath<CacheStatistics, Int64>)] {
        [
            ("bytesFromStore", \.bytesFromStore), ("bytesFromJoinedFetch", \.bytesFromJoinedFetch),
            ("bytesFromOrigin", \.bytesFromOrigin), ("bytesFetched", \.bytesFetched),
            ("originRequests", \.originRequests), ("reads", \.reads),
        ]
    }

    init(totals: [String: Int64]) {
        for (name, path) in Self.columns { self[keyPath: path] = totals[name] ?? 0 }
    }

    var totals: [String: Int64] {
        Dictionary(uniqueKeysWithValues: Self.columns.map { ($0, self[keyPath: $1]) }).filter { $0.value != 0 }
    }

    static func - (left: CacheStatistics, right: CacheStatistics) -> CacheStatistics {
        combine(left, right, -)
    }

    static func + (left: CacheStatistics, right: CacheStatistics) -> CacheStatistics {
        combine(left, right, +)
    }

    private static func combine(
        _ left: CacheStatistics, _ right: CacheStatistics, _ operation: (Int64, Int64) -> Int64
    ) -> CacheStatistics {
        var result = CacheStatistics()
        for (_, path) in columns { result[keyPath: path] = operation(left[keyPath: path], right[keyPath: path]) }
        return result
    }
}

/// Counts events and delivers them to subscribers.
///
/// Its locks are leaves.
final class Reporter: Sendable {
    private let statistics = Mutex(CacheStatistics())
    private let recorded = Mutex(CacheStatistics())
    private let subscribers = Mutex<[UInt64: AsyncStream<CacheEvent>.Continuation]>([:])
    private let nextSubscriber = Mutex<UInt64>(0)
    /// Events from before the first subscriber, such as those of the opening; the first subscriber gets them.
    private let early = Mutex<[CacheEvent]?>([])
    private static let earlyLimit = 64
    private let lastBypass = Mutex<(key: CacheKey?, reason: String)?>(nil)

    /// Why bytes of `key`, or all bytes, bypassed the store last; `nil` if those of another key did.
    func bypassReason(of key: CacheKey) -> String? {
        lastBypass.withLock { last in last.flatMap { $0.key == nil || $0.key == key ? $0.reason : nil } }
    }

    var current: CacheStatistics { statistics.withLock { $0 } }

    func count(_ change: (inout CacheStatistics) -> Void) { statistics.withLock { change(&$0) } }

    func countPiece(_ source: PieceSource, _ bytes: Int) {
        statistics.withLock { statistics in
            switch source {
            case .store: statistics.bytesFromStore += Int64(bytes)
            case .joined: statistics.bytesFromJoinedFetch += Int64(bytes)
            case .origin: statistics.bytesFromOrigin += Int64(bytes)
            }
        }
    }

    /// What was counted since the last call, to add to the totals in the index.
    func takeUnrecorded() -> CacheStatistics {
        let now = current
        return recorded.withLock { recorded in
            defer { recorded = now }
            return now - recorded
        }
    }

    /// Puts back the counts taken last, which could not be recorded.
    func putBack(_ counts: CacheStatistics) { recorded.withLock { $0 = $0 - counts } }

    func tell(_ event: CacheEvent) {
        if case .storeBypassed(let key, let reason) = event { lastBypass.withLock { $0 = (key, reason) } }
        early.withLock { early in
            if let count = early?.count, count < Self.earlyLimit { early?.append(event) }
        }
        for subscriber in subscribers.withLock({ Array($0.values) }) { subscriber.yield(event) }
    }

    /// A new stream of events; a consumer that falls 1,024 events behind loses the oldest.
    func events() -> AsyncStream<CacheEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: CacheEvent.self, bufferingPolicy: .bufferingNewest(1024))
        let id = nextSubscriber.withLock { next in
            next += 1
            return next
        }
        for event in early.withLock({ early in
            defer { early = nil }
            return early ?? []
        }) { continuation.yield(event) }
        subscribers.withLock { $0[id] = continuation }
        continuation.onTermination = { [weak self] _ in self?.subscribers.withLock { _ = $0.removeValue(forKey: id) } }
        return stream
    }

    func finish() {
        let all = subscribers.withLock { subscribers in
            defer { subscribers = [:] }
            return Array(subscribers.values)
        }
        for subscriber in all { subscriber.finish() }
    }
}
