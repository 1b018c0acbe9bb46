import Foundation
import HTTPSemantics
import NIOCore
import Reprise

/// A file that a connection has requested, with cached results that make the next request for it cheaper.
final class KnownResource {
    /// Constant, as all that a hit reads of it is: what cannot change need not be copied to be used.
    let resource: MediaResource
    /// The key of the resource.
    let key: CacheKey
    /// The host to which its bytes are counted.
    let host: String
    /// Finds the stored bytes of the resource.
    let hits: HitFinder
    /// How it is treated because a playlist lists it.
    let listed: ListedFile?
    /// Whether the stored response has a role because of that: one that counts for one requester has none.
    private let givesRole: Bool
    /// What was known of streams then, for the request.
    fileprivate let version: StreamKnowledge.Version
    private var generation: String?
    /// Changes when the response is freshened, together with its fields.
    private var responseTime: Date?
    private var audience = Audience.player
    /// When it was noted as playing.
    var playedAt: Duration?
    private var servesRanges = true
    /// `nil` if the body is replaced by a text, which makes a hit impossible.
    private var lines: ByteBuffer?

    /// How long a read of a playlist, or of a file that one lists, repeats requests to an origin that fails: players
    /// give up after some three seconds without an answer.
    private static let patience = Duration.seconds(2)

    /// `resource` with what `streams` say about it.
    init(_ resource: MediaResource, in streams: StreamKnowledge.View) {
        let found = streams.find(resource.url, named: resource.key(for: resource.url.withoutDirectives).text)
        (version, listed, givesRole) = (found.version, found.file, !found.isOwn)
        var resource = resource
        resource.role = if givesRole, case .stored(let role) = listed { role } else { nil }
        resource.titles = found.titles
        resource.patience = listed == nil ? nil : Self.patience
        self.resource = resource
        (key, host, hits) = (resource.key, resource.url.authority, resource.hits)
    }

    /// Longest header lines that are kept; longer ones are written for each answer.
    private static let longestLines = 4 << 10

    /// Whether the stored response has the role that a playlist gives it; one without goes through a read.
    func hasRole(_ information: ContentInformation) -> Bool {
        switch listed {
        case nil: true
        case .stored(let role): !givesRole || information.role == role
        case .key, .growing: false
        }
    }

    /// The header lines of a hit that answers `head`; `nil` if `filter` replaces the body.
    func lines(
        of information: ContentInformation, to head: borrowing ClientHead, filter: any BodyFilter
    ) -> ByteBuffer? {
        let audience = head.audience
        // The filter may find out that it leaves the body alone.
        let isKnown =
            lines != nil && responseTime == information.responseTime && generation == information.generation
            && self.audience == audience && servesRanges == information.servesRanges
        if !isKnown {
            let isEdited = filter.editorOfText(information, at: resource.url) != nil
            lines =
                isEdited
                ? nil
                : RepresentationFields.lines(
                    of: information, for: audience, by: head.serverName, status: CacheStatus(.hit))
            responseTime = information.responseTime
            generation = information.generation
            self.audience = audience
            servesRanges = information.servesRanges
        }
        defer { if let count = lines?.readableBytes, count > Self.longestLines { lines = nil } }
        return lines
    }
}

/// The files that a connection requested last, by request target, because players request the same one repeatedly.
struct KnownResources {
    /// Number of targets remembered.
    private static let capacity = 8

    /// Number of bytes of memory that a file takes besides its names, roughly.
    private static let usualBytes = 1 << 10

    /// Number of bytes of memory that they take, roughly: the target is also part of a URL, a key and a title's name.
    private(set) var heldBytes = 0

    private var known: [String: KnownResource] = [:]
    private var last: (target: String, known: KnownResource)?

    /// The file that `target` asks for, with what `streams` say about it now; `nil` if it is not remembered.
    mutating func file(at target: String, in streams: StreamKnowledge.View) -> KnownResource? {
        let found: KnownResource
        if let last, last.target == target {
            found = last.known
        } else {
            guard let known = known[target] else { return nil }
            found = known
            last = (target, known)
        }
        return found.version == streams.version ? found : add(found.resource, for: target, in: streams)
    }

    mutating func add(
        _ resource: MediaResource, for target: String, in streams: StreamKnowledge.View
    ) -> KnownResource {
        if known[target] == nil {
            if known.count >= Self.capacity { (known, heldBytes) = ([:], 0) }
            heldBytes += Self.usualBytes + 4 * target.utf8.count
        }
        let new = KnownResource(resource, in: streams)
        known[target] = new
        last = (target, new)
        return new
    }
}
