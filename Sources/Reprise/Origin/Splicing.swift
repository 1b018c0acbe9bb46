import HTTPSemantics
import Primitives

/// What the origin sent for one URL during one play, and whether that shows that its host gives each request another
/// file.
///
/// Pure. A file that is published once more looks the same to all requests from then on; a spliced one does not.
struct SplicingEvidence: Sendable {
    /// A representation, as a response described it.
    struct Sighting: Sendable {
        /// The URL that answered.
        let url: ResourceURL
        /// Its length in bytes; `nil` if the response did not say.
        let completeLength: Int64?
        let validators: Validators

        init(url: ResourceURL, completeLength: Int64?, validators: Validators) {
            self.url = url
            self.completeLength = completeLength
            self.validators = validators
        }

        /// The representation that `response` brings.
        init(_ response: OriginResponse, _ placement: BodyPlacement) {
            self.init(
                url: response.url, completeLength: placement.completeLength,
                validators: Validators(response.head.headerFields))
        }

        /// Whether this one and `other` are of different files for sure.
        ///
        /// Servers that share their load give one file different entity tags.
        func isOther(than other: Self) -> Bool {
            if let completeLength, let length = other.completeLength, completeLength != length { return true }
            if hasDate(of: other) { return false }
            return GenerationIdentity(validators: validators).contradicts(other.validators)
        }

        /// Whether the two together show that the host splices: a new edition of a file keeps its URL, and gets another
        /// date.
        func isSplicedLike(_ other: Self) -> Bool {
            guard let completeLength, let length = other.completeLength, completeLength != length else { return false }
            return url != other.url || hasDate(of: other)
        }

        private func hasDate(of other: Self) -> Bool {
            guard let date = validators.lastModified else { return false }
            return date == other.validators.lastModified
        }
    }

    /// How many files within one play show that the host splices, however they differ.
    static let enough = 3

    /// The different ones, at most ``enough``.
    private(set) var sightings: [Sighting] = []

    /// Adds what a response described; true if it is another file than those before, and they show that the host
    /// splices.
    mutating func add(_ sighting: Sighting) -> Bool {
        guard sightings.allSatisfy({ $0.isOther(than: sighting) }) else { return false }
        let before = sightings
        if sightings.count < Self.enough { sightings.append(sighting) }
        return before.count + 1 >= Self.enough || before.contains { $0.isSplicedLike(sighting) }
    }
}

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
