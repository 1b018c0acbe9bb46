import HTTPSemantics

/// One reader's request.
struct ReadRequest: Sendable {
    let range: RangeSpec?
    /// The request to send to the origin if necessary.
    var origin: OriginRequest
    /// The directives of the client's request (RFC 9111 §5.2.1).
    var directives = CacheControl()
    /// Whether a stored response is validated first, however fresh it is.
    var isValidating = false
    /// The play that it belongs to; `nil` for one that lasts as ``ReusePolicy/playWindow`` says.
    var play: Play?
    /// Whether nothing may be stored, or evicted for it, if the representation cannot be stored as a whole.
    var storesOnlyWhole = false
    /// Whether its bytes are of no use unless they are stored.
    ///
    /// It fails where another read would ask the origin for bytes that bypass the store.
    var needsStore = false
    /// How much the response to its first request is wanted; other readers may wait for that response too.
    var interest: RequestInterest?
    /// Whether it begins where the origin must not be asked and only its beginning is stored; it ends at the first hole
    /// then, with `notStored`.
    var mayBreakOff = false
    /// Whether it counts as a use of the file, by which eviction chooses and titles are listed.
    ///
    /// A player's read does, and whatever a person reads. A download looks at its files whenever the cache is opened:
    /// only the bytes that it fetches count, and that a person asks for it.
    var isUse = true
    /// Whether it counts as a read, and its bytes as given to a reader; what it fetches counts in any case.
    var isCounted = true
    /// What a playlist says about the resource, for a response that is stored.
    var role: StreamRole?
    /// The expected content; a response with other content is not stored.
    var content: StreamContent?
    /// The titles that the resource is a file of, for a response that is stored.
    var titles: [TitleReference] = []
    /// How many removals of titles came before it.
    var asOf = 0

    /// Whether the resource is known to be a file rather than a potential live stream.
    var isForFile: Bool {
        role != nil || content != nil || origin.demand == .download || origin.url.namesPlaylist
    }

    /// Whether it is for a playlist, which is always fetched whole.
    ///
    /// The text of a playlist is parsed and edited, and some servers count characters instead of bytes. A server may
    /// ignore Range anyway (RFC 9110 §14.2).
    var isForPlaylist: Bool { origin.url.namesPlaylist || role?.kind == .playlist }

    /// That the resource is a file of ``titles``.
    var claims: [TitleClaim] { titles.map { TitleClaim(title: $0, asOf: asOf) } }
}

/// One play of a resource: the life of a player's item.
///
/// Media for which the origin was asked since the play began are used for the rest of it, whatever their freshness.
/// Reads without a play belong to one that lasts as ``ReusePolicy/playWindow`` says.
package struct Play: Sendable, Hashable {
    /// When it began, by the monotonic clock.
    let began: Duration
}

extension MediaCache {
    /// A play that begins now.
    package func beginPlay() -> Play { Play(began: clock.elapsed()) }
}

/// The bytes that a read wants, with half-open bounds.
struct ReadExtent: Sendable, Equatable {
    let start: Int64
    /// `nil` for the end of a representation of unknown length.
    let end: Int64?

    /// `spec` in bytes, the whole for `nil`; fails when it is unsatisfiable.
    ///
    /// A suffix of an unknown length is the whole (RFC 9110 §14.2: a server may ignore the range).
    init?(_ spec: RangeSpec?, completeLength: Int64?) {
        guard let spec else {
            (start, end) = (0, completeLength)
            return
        }
        if let completeLength {
            guard let range = spec.resolve(completeLength: completeLength) else { return nil }
            (start, end) = (range.lowerBound, range.upperBound)
            return
        }
        switch spec {
        case .bounded(let range): (start, end) = (range.lowerBound, range.upperBound)
        case .from(let start): (self.start, end) = (start, nil)
        case .suffix: (start, end) = (0, nil)
        }
    }

    /// The error for an unsatisfiable range (RFC 9110 §15.5.17).
    static func notSatisfiable(_ length: Int64) -> RepriseError {
        RepriseError(.rangeNotSatisfiable, "The range lies outside the \(length) bytes of the representation.")
    }
}

/// What a new reader of a generation starts with.
struct OpenedReader: Sendable {
    let id: FetchSchedule.ReaderID
    let start: Int64
    /// Exclusive; `nil` while the representation's length is unknown.
    let end: Int64?
    let information: ContentInformation
    let disposition: ReadDisposition
    /// Whether another reader's fetch will bring its first byte.
    let isCollapsed: Bool
}

/// How a read began, in the terms of RFC 9211.
public enum ReadDisposition: String, Sendable {
    /// Everything was on disk.
    case hit
    /// Some bytes were on disk; the holes are fetched.
    case partial
    /// None of the requested bytes were on disk, though other bytes of the representation are.
    case miss
    /// The cache knew nothing of the resource.
    case unknown
    /// The response was stored, had to be validated, and is still current.
    case validated
    /// The response must not or cannot be stored.
    case bypass
}

/// Where the bytes of a piece came from.
public enum PieceSource: String, Sendable, CaseIterable {
    /// They were on disk before the read began.
    case store
    /// Another reader's fetch brought them during the read.
    case joined
    /// This read's own fetch brought them.
    case origin
}
