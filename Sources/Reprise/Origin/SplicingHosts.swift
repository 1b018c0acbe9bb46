import Primitives

/// Which hosts are known to splice, by their names in the index.
///
/// Pure: times come in.
struct SplicingHostTable: Sendable {
    /// Most hosts that are remembered; beyond it, the one that was seen longest ago is forgotten.
    static let capacity = 256
    /// How long a host is remembered after it was last seen to splice, in seconds.
    static let memory: Int64 = 28 * 86_400

    /// When each was last seen to splice, in seconds since 1970.
    private(set) var lastSeen: [String: Int64]

    init(_ recorded: [String: Int64] = [:]) { lastSeen = recorded }

    var isEmpty: Bool { lastSeen.isEmpty }

    /// When the host was last seen to splice; `nil` if it is not known to.
    func date(of name: String, at now: Int64) -> Int64? {
        guard let date = lastSeen[name] else { return nil }
        // A time far in the future is that of a clock that was wrong, or of a damaged row.
        let (age, overflows) = now.subtractingReportingOverflow(date)
        return !overflows && age.magnitude < Self.memory ? date : nil
    }

    /// The host was seen to splice.
    mutating func note(_ name: String, at now: Int64) {
        lastSeen[name] = now
        while lastSeen.count > Self.capacity, let oldest = lastSeen.min(by: { $0.value < $1.value })?.key {
            lastSeen[oldest] = nil
        }
    }
}

/// The hosts that are known to splice, for all resources of a cache.
final class SplicingHosts: Sendable {
    private let table: Mutex<SplicingHostTable>
    private let clock: CacheClock
    /// `nil` if nothing is stored.
    private let store: Store?

    init(_ store: Store?, clock: CacheClock) {
        table = Mutex(SplicingHostTable(store?.splicingHosts ?? [:]))
        self.store = store
        self.clock = clock
    }

    /// Whether no host is known to splice.
    var isEmpty: Bool { table.withLock { $0.isEmpty } }

    /// Whether the host of `url` is known to splice.
    func contains(_ url: ResourceURL) -> Bool {
        guard !isEmpty else { return false }
        let (name, now) = (name(of: url), clock.moment.date)
        return table.withLock { $0.date(of: name, at: now) } != nil
    }

    /// The host of `url` was seen to splice.
    func note(_ url: ResourceURL) {
        let (name, now) = (name(of: url), clock.moment.date)
        table.withLock { $0.note(name, at: now) }
        store?.recorder.noteSplicing(name, at: now)
    }

    private func name(of url: ResourceURL) -> String {
        let host = url.authority.lowercased()
        return store?.index.statistics.name(ofHost: host) ?? host
    }
}

extension MediaCache {
    /// Whether the host of `url` is known to give each request another file.
    package func isSpliced(_ url: ResourceURL) -> Bool { engine.splicing.contains(url) }
}
