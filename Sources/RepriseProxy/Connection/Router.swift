import Reprise

/// Leads the requests of one connection to what answers them.
struct Router {
    enum Destination {
        /// A text of the proxy's own.
        case own(OwnAnswer)
        /// The answer to a supervisor or balancer, which asks all the time.
        case probe(OwnAnswer)
        /// What looks after this server.
        case control(ControlRequest)
        /// A file of an origin.
        case file(KnownResource)
    }

    private let service: ProxyService
    private var admission: Admission
    private var known = KnownResources()

    /// Number of bytes of memory that remembered files take.
    var heldBytes: Int { known.heldBytes }

    /// Forgets files that were asked for earlier.
    mutating func forget() { known = KnownResources() }

    init(service: ProxyService, entrance: Entrance) {
        self.service = service
        admission = Admission(service: service, entrance: entrance)
    }

    /// The destination of a request; notes in `head` who may read the answer.
    mutating func destination(of head: inout ClientHead) throws(Refusal) -> Destination {
        let destination = try find(&head)
        if let items = service.configuration.items, case .file(let file) = destination {
            head.tellsPlayback = items.names(file.resource.url)
        }
        return destination
    }

    private mutating func find(_ head: inout ClientHead) throws(Refusal) -> Destination {
        if service.configuration.cast == nil, let probe = HealthProbe(head) {
            return .probe(probe.answer(service.readiness))
        }
        if let route = try admission.route(&head) { return try destination(of: route, for: head) }
        // What an app's options say, such as the networks, may be something else by now.
        if service.configuration.items == nil,
            let known = known.file(at: head.target, in: service.streams.view(for: head))
        {
            return .file(known)
        }
        return try destination(of: Route(target: head.target, token: head.pathToken), for: head)
    }

    private mutating func file(at url: ResourceURL, for head: ClientHead) throws(Refusal) -> KnownResource {
        known.add(try service.resource(at: url), for: head.target, in: service.streams.view(for: head))
    }

    private mutating func destination(of route: Route, for head: ClientHead) throws(Refusal) -> Destination {
        if service.configuration.cast != nil, route.isOfProxy {
            throw Route.refusal(404, reason: "There is no such file here.")
        }
        return switch route {
        case .index: .own(OwnAnswer(status: 200, fields: [("Vary", "Accept")], text: service.indexText(for: head)))
        case .page: .control(ControlRequest(head: head, target: "", isLocal: false, document: .page))
        case .login: .control(ControlRequest(head: head, target: "", isLocal: false, document: .login))
        case .pageWithoutSlash: .own(OwnAnswer(status: 308, fields: [("Location", head.pathPrefix + "/")]))
        case .options: .own(.options)
        case .preflight: .own(.preflight(head))
        case .control(let target):
            .control(ControlRequest(head: head, target: String(target), isLocal: admission.isLocal))
        case .resource(let url): .file(try file(at: url, for: head))
        }
    }
}

/// How a connection came in.
enum Entrance: Equatable, Sendable {
    /// Through the port.
    case port
    /// Through the port, beyond the limit: it is answered with 503.
    case surplus
    /// Through the control socket, from a user who may control this server.
    case socket
}
