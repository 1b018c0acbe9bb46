import Reprise

/// An event of the cache as `events` sends it.
///
/// URLs have no query. Bytes; seconds.
struct EventReport: Encodable, Sendable {
    /// The name of the event.
    let event: String
    /// When it was noticed, in seconds since 1970.
    let time: Double
    /// What happened, for people.
    let words: String
    /// What it concerns; missing if that is the whole cache.
    var url: String?
    var bytes: Int64?
    var first, end: Int64?
    var store, joined, origin: Int64?
    var seconds: Double?
    var error: String?

    init(_ event: CacheEvent, at time: Double) {
        self.time = time
        switch event {
        case .readEnded(let key, let store, let joined, let origin):
            self.event = "readEnded"
            url = key.shown
            (self.store, self.joined, self.origin) = (store, joined, origin)
            let (all, fetched) = (ByteText.decimal(store + joined + origin), ByteText.decimal(origin))
            words = "Read \(all) of \(key.shown), \(fetched) of that from the origin"
        case .fetchStarted(let key, let range):
            self.event = "fetchStarted"
            url = key.shown
            first = range.lowerBound
            end = range.upperBound == .max ? nil : range.upperBound
            words = "Fetching \(key.shown) from byte \(range.lowerBound) on"
        case .fetchEnded(let key, let bytes, let error):
            self.event = "fetchEnded"
            (url, self.bytes, self.error) = (key.shown, bytes, error.map { "\($0.code)" })
            let reason = error.map { ", then failed: \($0.message)" } ?? ""
            words = "Fetched \(ByteText.decimal(bytes)) of \(key.shown)\(reason)"
        case .fetchRetried(let key, let delay, let error):
            self.event = "fetchRetried"
            (url, seconds, self.error) = (key.shown, delay / .seconds(1), "\(error.code)")
            words = "Trying \(key.shown) again: \(error.message)"
        case .fetchStalled(let key, let position, let time):
            self.event = "fetchStalled"
            (url, first, seconds) = (key.shown, position, time / .seconds(1))
            words = "Gave up a fetch of \(key.shown) that stood still at byte \(position)"
        case .generationReplaced(let key, let reason):
            self.event = "generationReplaced"
            url = key.shown
            words = "\(key.shown) changed at the origin: \(reason)"
        case .hostSplices(let key, let host):
            self.event = "hostSplices"
            url = key.shown
            words = "\(host) gives each request for \(key.shown) another file"
        case .hostRemarked(let key, let host, let reason):
            self.event = "hostRemarked"
            url = key.shown
            words = "\(host): \(reason)"
        case .verificationFailed(let key, let range):
            self.event = "verificationFailed"
            (url, first, end) = (key.shown, range.lowerBound, range.upperBound)
            words = "Stored bytes of \(key.shown) were damaged and will be fetched again"
        case .servedStale(let key, let reason):
            self.event = "servedStale"
            url = key.shown
            words = "Served \(key.shown) although it is stale: \(reason)"
        case .evicted(let key, let bytes):
            self.event = "evicted"
            (url, self.bytes) = (key.shown, bytes)
            words = "Evicted \(ByteText.decimal(bytes)) of \(key.shown)"
        case .storeBypassed(let key, let reason):
            self.event = "storeBypassed"
            url = key?.shown
            words = "Not stored\(key.map { ": \($0.shown)" } ?? ""): \(reason)"
        case .storeReset(let reason):
            self.event = "storeReset"
            words = "The cache started empty: \(reason)"
        case .preloadEstimated(let key, let reason):
            self.event = "preloadEstimated"
            url = key.shown
            words = "Estimated what the beginning of \(key.shown) needs: \(reason)"
        case .downloadEnded(let key, let error):
            self.event = "downloadEnded"
            (url, self.error) = (key.shown, error.map { "\($0.code)" })
            words = error.map { "The download of \(key.shown) stopped: \($0.message)" } ?? "Downloaded \(key.shown)"
        }
    }

    /// Whether it belongs to the events that are remembered: reads and fetches that went well are too many.
    var isRemembered: Bool {
        !["readEnded", "fetchStarted"].contains(event) && !(event == "fetchEnded" && error == nil)
    }
}

extension CacheKey {
    fileprivate var shown: String { ShownURL.text(redacted) }
}
