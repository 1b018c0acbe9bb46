import Locks

/// Something that happened in the cache, with truthful numbers.
///
/// Names follow RFC 9211 where it has them.
public enum CacheEvent: Sendable {
    /// A read ended: bytes given to its reader, by where they came from, and past the store.
    case readEnded(CacheKey, store: Int64, joined: Int64, origin: Int64)
    /// A request for `range` went to the origin; an upper bound of `Int64.max` means the end.
    case fetchStarted(CacheKey, range: Range<Int64>)
    /// A fetch ended after `bytes` had arrived.
    case fetchEnded(CacheKey, bytes: Int64, error: RepriseError?)
    /// A fetch failed and goes on from the byte it had reached after `delay`.
    case fetchRetried(CacheKey, after: Duration, error: RepriseError)
    /// The representation changed at the origin.
    case generationReplaced(CacheKey, reason: String)
    /// Stored bytes failed their checksum, became a hole, and are fetched again.
    case verificationFailed(CacheKey, range: Range<Int64>)
    /// A stale response was used because the origin could not be asked, or made no sense (RFC 9111 §4.2.4).
    case servedStale(CacheKey, reason: String)
    /// The entry, or a part of one in use, was removed to make room; or the entry for its age, or by `prune`.
    case evicted(CacheKey, bytes: Int64)
    /// Bytes go past the store from here on; playback continues.
    case storeBypassed(CacheKey?, reason: String)
    /// The cache started empty: its index could not be used and was set aside, or it had another key and was to be emptied.
    case storeReset(reason: String)
    /// A download is whole, or was given up until the cache is opened again.
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
    /// Bytes that did not have to be fetched; negative when aborted reads left more than was used.
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

/// Counts and tells.
///
/// Its locks are leaves.
final class Journal: Sendable {
    private let statistics = Mutex(CacheStatistics())
    private let recorded = Mutex(CacheStatistics())
    private let subscribers = Mutex<[UInt64: AsyncStream<CacheEvent>.Continuation]>([:])
    private let nextSubscriber = Mutex<UInt64>(0)
    /// What happened before anybody listened, such as while the cache was opened; given to the first who does.
    private let early = Mutex<[CacheEvent]?>([])
    private static let earlyLimit = 64

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

    /// What was counted since the last call, for the catalogue's totals.
    func takeUnrecorded() -> CacheStatistics {
        let now = current
        return recorded.withLock { recorded in
            defer { recorded = now }
            return now - recorded
        }
    }

    /// The last ones taken could not be recorded.
    func putBack(_ counts: CacheStatistics) { recorded.withLock { $0 = $0 - counts } }

    func tell(_ event: CacheEvent) {
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
