import HTTPSemantics
import NIOCore
import Reprise

/// A file that a connection has requested, with cached results that make the next request for it cheaper.
final class KnownResource {
    let resource: MediaResource
    private var generation = ""
    /// Changes when the response is freshened, together with its fields.
    private var responseTime: Int64?
    private var audience = Audience.player
    private var lines = ByteBuffer()

    init(_ resource: MediaResource) { self.resource = resource }

    /// The header lines of a hit for `audience`.
    func lines(of information: ContentInformation, for audience: Audience) -> ByteBuffer {
        let isKnown =
            responseTime == information.responseTime && generation == information.generation
            && self.audience == audience
        if !isKnown || lines.readableBytes == 0 {
            lines = RepresentationFields.lines(of: information, for: audience, status: CacheStatus(.hit))
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
