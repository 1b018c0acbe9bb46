import Primitives

/// Counts events and delivers them to subscribers.
///
/// Its locks are leaves.
final class Reporter: Sendable {
    private let counts = Mutex(CacheTally())
    private let recorded = Mutex(CacheStatistics())
    private let subscribers = Mutex<[UInt64: AsyncStream<CacheEvent>.Continuation]>([:])
    private let nextSubscriber = Mutex<UInt64>(0)
    /// Events from before the first subscriber, such as those of the opening; the first subscriber gets them.
    private let early = Mutex<[CacheEvent]?>([])
    private static let earlyLimit = 64
    private let lastBypass = Mutex<Bypass?>(nil)
    private let remarks = Mutex(Remarks())

    /// The remarks about hosts.
    private struct Remarks {
        /// The latest, the oldest first.
        var latest: [HostRemark] = []
        /// Reported remarks, without details.
        var known: Set<HostRemark> = []

        static let most = 256
        /// Number of remarks at which all are forgotten, and may be repeated.
        static let mostKnown = 4096

        /// Records `remark`; returns it with its detail, or `nil` if it is not new.
        mutating func note(_ remark: HostRemark, detail: String?) -> HostRemark? {
            if known.count >= Self.mostKnown { known = [] }
            guard known.insert(remark).inserted else { return nil }
            let whole = HostRemark(host: remark.host, reason: remark.reason + (detail.map { " \($0)" } ?? ""))
            latest.append(whole)
            if latest.count > Self.most { latest.removeFirst() }
            return whole
        }
    }

    /// That bytes bypassed the store.
    struct Bypass: Sendable {
        /// Whose; `nil` for all.
        let key: CacheKey?
        /// Why, in words.
        let reason: String
        /// Whether there was no room on the disk or under a limit.
        let isForLackOfRoom: Bool
    }

    /// How bytes of `key`, or all bytes, bypassed the store last; `nil` if those of another key did.
    func bypass(of key: CacheKey) -> Bypass? {
        lastBypass.withLock { last in last.flatMap { $0.key == nil || $0.key == key ? $0 : nil } }
    }

    var current: CacheStatistics { counts.withLock { $0.statistics } }

    /// The latest remarks about hosts, the oldest first.
    var hostRemarks: [HostRemark] { remarks.withLock { $0.latest } }

    /// Reports `reason` and `detail` about `host`, unless the same reason was reported before.
    ///
    /// `key` is the entry for which it was noticed.
    func remark(_ reason: String, _ detail: String? = nil, about key: CacheKey, at host: String) {
        let remark = HostRemark(host: host, reason: reason)
        guard let new = remarks.withLock({ $0.note(remark, detail: detail) }) else { return }
        tell(.hostRemarked(key, host: host, reason: new.reason))
    }

    /// Everything that was counted.
    var tally: CacheTally { counts.withLock { $0 } }

    func count(_ change: (inout CacheTally) -> Void) { counts.withLock { change(&$0) } }

    /// Counts bytes of media of `host` that a reader got.
    func countPiece(_ source: PieceSource, bytes: Int, of host: String) {
        counts.withLock { $0.noteServed(Int64(bytes), from: source, of: host) }
    }

    /// Counts body bytes that `host` sent.
    func countFetched(_ bytes: Int, from host: String) { counts.withLock { $0.noteFetched(Int64(bytes), from: host) } }

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

    /// Counts and delivers `event`; `bypass` says why bytes bypass the store, if it is about that.
    func tell(_ event: CacheEvent, because bypass: BypassReason = .disk) {
        count { $0.note(event, because: bypass) }
        if case .storeBypassed(let key, let reason) = event {
            lastBypass.withLock { $0 = Bypass(key: key, reason: reason, isForLackOfRoom: bypass == .room) }
        }
        early.withLock { early in
            if let count = early?.count, count < Self.earlyLimit { early?.append(event) }
        }
        for subscriber in subscribers.withLock({ Array($0.values) }) { subscriber.yield(event) }
    }

    /// A new stream of events; a consumer that falls 1,024 events behind loses the oldest.
    ///
    /// The first stream `withEarlier` events begins with those from before it.
    func events(withEarlier: Bool = true) -> AsyncStream<CacheEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: CacheEvent.self, bufferingPolicy: .bufferingNewest(1024))
        let id = nextSubscriber.withLock { next in
            next += 1
            return next
        }
        if withEarlier { for event in takeEarly() { continuation.yield(event) } }
        subscribers.withLock { $0[id] = continuation }
        continuation.onTermination = { [weak self] _ in self?.subscribers.withLock { _ = $0.removeValue(forKey: id) } }
        return stream
    }

    private func takeEarly() -> [CacheEvent] {
        early.withLock { early in
            defer { early = nil }
            return early ?? []
        }
    }

    func finish() {
        let all = subscribers.withLock { subscribers in
            defer { subscribers = [:] }
            return Array(subscribers.values)
        }
        for subscriber in all { subscriber.finish() }
    }
}

/// Something about a host that is worth knowing.
package struct HostRemark: Codable, Sendable, Hashable {
    /// With its port, unless that is the usual one.
    package let host: String
    /// A sentence for people.
    package let reason: String
}
