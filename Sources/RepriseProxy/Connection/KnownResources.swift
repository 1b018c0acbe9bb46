import HTTPSemantics
import NIOCore
import Reprise

/// A file that a connection has requested, with cached results that make the next request for it cheaper.
final class KnownResource {
    let resource: MediaResource
    private var generation: String?
    /// Changes when the response is freshened, together with its fields.
    private var responseTime: Int64?
    private var audience = Audience.player
    /// `nil` if the body is replaced by a text, which makes a hit impossible.
    private var lines: ByteBuffer?

    init(_ resource: MediaResource) { self.resource = resource }

    /// The header lines of a hit for `audience`; `nil` if `filter` replaces the body.
    func lines(of information: ContentInformation, for audience: Audience, filter: any BodyFilter) -> ByteBuffer? {
        let isKnown =
            responseTime == information.responseTime && generation == information.generation
            && self.audience == audience
        if !isKnown {
            let isEdited = filter.editorOfText(information, at: resource.url) != nil
            lines =
                isEdited
                ? nil : RepresentationFields.lines(of: information, for: audience, status: CacheStatus(.hit))
            responseTime = information.responseTime
            generation = information.generation
            self.audience = audience
        }
        return lines
    }
}

/// The files that a connection requested last, by request target, because players request the same one repeatedly.
struct KnownResources {
    /// Number of targets remembered.
    private static let capacity = 8

    private var known: [String: KnownResource] = [:]
    private var last: (target: String, known: KnownResource)?

    subscript(target: String) -> KnownResource? {
        mutating get {
            if let last, last.target == target { return last.known }
            last = known[target].map { (target, $0) }
            return last?.known
        }
    }

    mutating func add(_ resource: MediaResource, for target: String) -> KnownResource {
        if known.count >= Self.capacity { known = [:] }
        let new = KnownResource(resource)
        known[target] = new
        last = (target, new)
        return new
    }
}
