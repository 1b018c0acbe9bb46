import HTTPSemantics

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
    /// A fetch made no progress for `after`, longer than an origin may take, while a reader waited for the byte at
    /// `position`. It was given up: players request these bytes for themselves, and other readers begin another fetch.
    case fetchStalled(CacheKey, position: Int64, after: Duration)
    /// The representation changed at the origin.
    case generationReplaced(CacheKey, reason: String)
    /// During a play the host sent another file for the same URL, as hosts do that splice advertisements into each
    /// response.
    ///
    /// It is remembered: from now on the cache fetches its files whole, from one response.
    case hostSplices(CacheKey, host: String)
    /// A noteworthy behavior of a host: why its responses are passed through uncached, or how they violate HTTP.
    ///
    /// Each reason is reported once per host.
    case hostRemarked(CacheKey, host: String, reason: String)
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
    /// How many bytes the seconds to preload need was estimated, for this reason (``PreloadAmount/seconds(_:)``).
    case preloadEstimated(CacheKey, reason: String)
    /// A download completed, or could not go on; ``Downloads`` says what it waits for.
    case downloadEnded(CacheKey, error: RepriseError?)
}

extension GenerationChange {
    /// The reason in words, for messages.
    var words: String {
        switch self {
        case .noGeneration: "Nothing was stored."
        case .validatorChanged: "The file has another entity tag or modification date."
        case .lengthChanged: "The file has another length."
        case .noStrongValidator:
            "No strong entity tag or modification date shows that missing bytes would be of the same file."
        case .hostChanged: "Another host answered, and no strong entity tag shows that it has the same file."
        case .preconditionFailed: "The origin says that the file has changed (412)."
        }
    }
}

extension PassThroughReason {
    /// Whether the reason applies to the host in general rather than to a single response.
    var isOfHost: Bool { self != .unexpectedStatus && self != .emptyBody }

    /// Why the response is not stored, for people.
    var words: String {
        switch self {
        case .contentEncoding:
            "The response has a content coding (Content-Encoding), so its ranges are not those of the file."
        case .contradictoryRange:
            "The response contradicts itself about which part of the file it is (status, Content-Range, Content-Length)."
        case .varyAny: "The response is for one request only (Vary: *)."
        case .noStore: "The origin forbids storing it (no-store)."
        case .isPrivate: "The response is for one user (private), and the cache is shared."
        case .authorization: "The request had credentials, and the cache is shared."
        case .unkeyedFields: "The request had fields that may have changed the response, and the cache is shared."
        case .setsCookie: "The response is a text that sets a cookie, and the cache is shared."
        case .live: "It is live: its origin names neither a length nor a validator, and wants to be asked each time."
        case .icyMetadata: "Metadata of a radio stream lies between the bytes."
        case .unexpectedNotice: "The origin sent a page or an error in place of media."
        case .emptyBody: "The origin sent nothing in place of media."
        case .unexpectedStatus: "The status is neither 200 nor 206."
        }
    }
}
