import Reprise

/// Leads the requests of one connection to what answers them.
struct Router {
    enum Destination {
        /// A text of the proxy's own.
        case own(OwnAnswer)
        /// A file of an origin.
        case file(KnownResource)
    }

    private let service: ProxyService
    private var admission: Admission
    private var known = KnownResources()

    init(service: ProxyService, isSurplus: Bool) {
        self.service = service
        admission = Admission(service: service, isSurplus: isSurplus)
    }

    /// The destination of a request; notes in `head` who may read the answer.
    mutating func destination(of head: inout ClientHead) throws(Refusal) -> Destination {
        if let route = try admission.route(&head) { return try destination(of: route, for: head) }
        if let known = known.file(at: head.target, in: service.listed) { return .file(known) }
        return try destination(of: Route(target: head.target, token: service.configuration.token), for: head)
    }

    private mutating func file(at url: ResourceURL, target: String) throws(Refusal) -> KnownResource {
        known.add(try service.resource(at: url), for: target, in: service.listed)
    }

    private mutating func destination(of route: Route, for head: ClientHead) throws(Refusal) -> Destination {
        switch route {
        case .index: .own(OwnAnswer(status: 200, text: service.indexPage))
        case .options: .own(.options)
        case .preflight: .own(.preflight(head))
        case .resource(let url): .file(try file(at: url, target: head.target))
        }
    }
}
