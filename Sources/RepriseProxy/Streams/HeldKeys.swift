import HTTPSemantics
import HTTPTypes
import Primitives
import Reprise

/// Decryption keys in memory, for as long as their origins allow.
///
/// A key without a lifetime is held within a play: until it was not used for five minutes, and for at most an hour. A
/// cache of several users holds keys only with a lifetime, only if they may be stored for others, and gives them to
/// requests with the same fields alone.
final class HeldKeys: Sendable {
    /// A key and the response that brought it.
    struct Key: Sendable {
        let bytes: [UInt8]
        let head: HTTPResponse
        let freshness: Freshness
    }

    private struct Entry {
        let key: Key
        let url: ResourceURL
        let fields: HTTPFields
        let received: Duration
        var lastUsed: Duration
    }

    private static let capacity = 256
    private static let longestHold = Duration.seconds(3600)

    private let isShared: Bool
    private let clock: CacheClock
    private let playWindow = Duration.seconds(300)
    /// A leaf; the one used last at the end.
    private let entries = Mutex<[Entry]>([])

    init(isShared: Bool, clock: CacheClock) {
        self.isShared = isShared
        self.clock = clock
    }

    /// The number of keys held.
    var count: Int { entries.withLock { $0.count } }

    /// The key that answers a request with these fields and directives.
    func key(at url: ResourceURL, fields: HTTPFields, directives: CacheControl) -> Key? {
        let (date, elapsed) = (HTTPDate(secondsSince1970: Int64(clock.now())), clock.elapsed())
        return entries.withLock { entries in
            entries.removeAll { !isUsable($0, at: date, elapsed: elapsed) }
            guard !directives.noCache,
                let index = entries.firstIndex(where: { $0.url == url && (!isShared || $0.fields == fields) })
            else { return nil }
            var entry = entries.remove(at: index)
            entry.lastUsed = elapsed
            entries.append(entry)
            return entry.key
        }
    }

    /// Holds a key that was received at `date` in answer to a request with these fields, if that is allowed.
    func hold(_ bytes: [UInt8], head: HTTPResponse, at url: ResourceURL, fields: HTTPFields) {
        let now = HTTPDate(secondsSince1970: Int64(clock.now()))
        let freshness = Freshness(head.headerFields, requestTime: now, responseTime: now, isShared: isShared)
        guard StreamContent.keyLengths.contains(Int64(bytes.count)), !freshness.requiresValidation,
            mayHold(head.headerFields, for: fields),
            freshness.hasExplicitLifetime ? freshness.lifetime > 0 : !isShared
        else { return }
        let elapsed = clock.elapsed()
        let entry = Entry(
            key: Key(bytes: bytes, head: head, freshness: freshness), url: url, fields: fields, received: elapsed,
            lastUsed: elapsed)
        entries.withLock { entries in
            entries.removeAll { $0.url == url && (!isShared || $0.fields == fields) }
            entries.append(entry)
            if entries.count > Self.capacity { entries.removeFirst() }
        }
    }

    /// Drops the keys of a restarted stream, because new keys may have the same URLs.
    func drop(_ urls: Set<ResourceURL>) {
        guard !urls.isEmpty else { return }
        entries.withLock { $0.removeAll { urls.contains($0.url) } }
    }

    private func mayHold(_ response: HTTPFields, for request: HTTPFields) -> Bool {
        var storage = StoragePolicy(isShared: isShared, hasAuthorization: request[.authorization] != nil)
        if isShared { storage.unkeyedFields = request.unkeyed }
        let vary = Vary(response)
        guard vary?.isEmpty == true, !isShared || response[.setCookie] == nil else { return false }
        return storage.objection(to: CacheControl(response, isShared: isShared), vary: vary) == nil
    }

    private func isUsable(_ entry: Entry, at date: HTTPDate, elapsed: Duration) -> Bool {
        if entry.key.freshness.hasExplicitLifetime { return entry.key.freshness.isFresh(now: date) }
        return elapsed - entry.lastUsed < playWindow && elapsed - entry.received < Self.longestHold
    }
}
