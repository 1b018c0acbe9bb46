import Foundation
import HTTPSemantics
import HTTPTypes
import Primitives

/// The record of a generation, without its chunks.
struct GenerationRecord: Sendable {
    /// Never reused and ascending.
    ///
    /// Part of the name of the data file.
    let id: Int64
    let key: CacheKey
    /// The requested URL, not the target of a redirect.
    let url: ResourceURL
    /// End-to-end fields of its first response.
    var fields: HTTPFields
    /// Complete length in bytes; `nil` while unknown.
    var completeLength: Int64?
    /// Whether the origin supports range requests; `nil` while unknown.
    var rangesSupported: Bool?
    /// The host that answered, after redirects.
    var finalHost: String
    /// The URL that answered, after redirects; `nil` if it is ``url``.
    var finalURL: ResourceURL?
    /// When the request was sent and the response received, in seconds since 1970 (RFC 9111 §4.2.3).
    ///
    /// Both are 0 once the response was invalidated (§4.4), and 1 once it has expired (``expire()``).
    var requestTime: Int64
    var responseTime: Int64
    /// Derives the keys of this generation in an encrypted cache; empty in a plain one.
    var salt: [UInt8] = []
    /// Whether the body may be a live stream rather than a file.
    ///
    /// True for bodies without a length and a validator if the end of the connection delimits them (RFC 9112 §6.3), or
    /// if they arrived at the rate of a live stream.
    var mayBeLive = false
    /// Its role according to a playlist; `nil` if no playlist that was read names it.
    var role: StreamRole?
    /// The role of the generation that it replaces, until its own is known.
    var formerRole: StreamRole?
    /// The titles that it belongs to according to the reads that fetched it; recorded in another table.
    var claims: [TitleClaim] = []

    /// Whether it must be revalidated before use, even if the origin is unreachable.
    var isInvalidated: Bool { responseTime == 0 }
    /// Whether it must be revalidated before use.
    var isExpired: Bool { responseTime <= 1 }

    /// Marks it as stale until the origin confirms it.
    mutating func expire() { if !isInvalidated { (requestTime, responseTime) = (1, 1) } }

    var isMedia: Bool {
        if let role { return role.kind == .segment }
        return !url.namesPlaylist && MediaType(fields[.contentType])?.isMedia ?? true
    }

    /// Whether it has neither an entity tag nor a modification date to distinguish its versions.
    var isUnverifiable: Bool { fields[.eTag] == nil && fields[.lastModified] == nil }

    /// Whether a playlist declares it live, or its body has no known end.
    var isLive: Bool {
        role?.isLive ?? (isMedia && isUnverifiable && (mayBeLive || completeLength == nil))
    }

    /// Whether it is a playlist that was not parsed yet and may be live.
    private var isUnreadPlaylist: Bool {
        role == nil && (url.namesPlaylist || MediaType(fields[.contentType])?.isPlaylist == true)
    }

    /// Whether it is a playlist, as far as is known.
    var isPlaylist: Bool { role.map { $0.kind == .playlist } ?? isUnreadPlaylist }

    /// Whether the time of the last change must not be used to estimate its lifetime.
    private var mayNotBeGuessed: Bool {
        guard let role else { return isUnreadPlaylist }
        return role.kind == .playlist || role.term != .media
    }

    /// Lifetime of playlists that have no role yet, and of ended playlists, in seconds.
    ///
    /// Answers simultaneous requests, and players that read a playlist twice.
    private static let playlistLifetime: Int64 = 1

    /// The lifetime in seconds if neither the response nor the time of the last change tells it.
    ///
    /// `configured` is the configured lifetime of its host.
    private func assumedLifetime(isShared: Bool, configured: Int64?) -> Int64 {
        switch role?.term {
        case .permanent: return CacheControl.longestTime
        // Rounded down, because ages are whole seconds.
        case .limited(let fresh, _): return fresh.components.seconds
        case .media where isPlaylist, nil where isPlaylist: return Self.playlistLifetime
        case .media, nil:
            if let configured { return configured }
            return isMedia && isUnverifiable && !mayBeLive && !isShared ? ReusePolicy.unverifiableLifetime : 0
        }
    }

    func freshness(_ policy: ReusePolicy) -> Freshness {
        var fields = fields
        let isForced = policy.forces(url.host)
        let configured = policy.lifetimes(url.host)?.components.seconds
        if isForced {
            fields[.expires] = nil
            if let targeted = HTTPField.Name("CDN-Cache-Control") { fields[targeted] = nil }
            fields[.cacheControl] = "max-age=\(configured ?? ReusePolicy.unverifiableLifetime)"
        }
        let guess = assumedLifetime(isShared: policy.isShared, configured: configured)
        if mayNotBeGuessed || configured != nil { fields[.lastModified] = nil }
        return Freshness(
            fields, requestTime: HTTPDate(secondsSince1970: requestTime),
            responseTime: HTTPDate(secondsSince1970: responseTime), isShared: policy.isShared, guess: guess)
    }

    /// Whether a strong tag, or a strong date alone or beside a weak tag, can show that a response continues this
    /// generation (RFC 9110 §15.3.7.3).
    ///
    /// Covers more than If-Range, which carries neither a weak tag nor a date beside one.
    var hasStrongValidator: Bool {
        let validators = Validators(fields)
        return validators.stronglyMatches(validators)
    }

    /// The identity that new responses are compared with.
    var identity: GenerationIdentity {
        GenerationIdentity(
            validators: Validators(fields), completeLength: completeLength,
            mediaType: fields[.contentType], finalHost: finalHost)
    }
}

/// Ascending numbers for new generations, so that their rows are adjacent in the index.
///
/// With random numbers, each generation would change a separate page in two trees.
enum GenerationNumber {
    private static let randomBits = 10
    private static let last = Mutex<Int64>(0)

    /// Microseconds since 1970, then ten random bits; greater than every earlier number of this process, even if the
    /// clock goes back.
    static func make() -> Int64 {
        let time = Int64(Date.now.timeIntervalSince1970 * 1_000_000)
        let number = time << randomBits | Int64.random(in: 0..<1 << randomBits)
        return last.withLock { last in
            last = max(last + 1, number)
            return last
        }
    }
}
