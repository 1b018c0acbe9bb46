/// What is asked of every request on a connection before it is answered: a place for the connection, one Host that
/// names this machine, a token, a way that is no loop, a page that may read the answer, a method that a proxy may pass
/// on.
struct Admission {
    let service: ProxyService
    private let entrance: Entrance
    /// Whether requests come through the control socket, from this user.
    var isLocal: Bool { entrance == .socket }
    /// The Host that was accepted last; clients repeat theirs.
    private var acceptedHost: String?

    init(service: ProxyService, entrance: Entrance) {
        self.service = service
        self.entrance = entrance
    }

    /// The route of a request that no target decides; `nil` for one whose target does.
    ///
    /// Notes in `head` who sent it, and which page may read the answer. Throws the refusal of a request that is not
    /// answered.
    mutating func route(_ head: inout ClientHead) throws(Refusal) -> Route? {
        guard entrance != .surplus else {
            throw Refusal(status: 503, reason: "There are too many connections.", retryAfter: 1)
        }
        head.isEncrypted = service.configuration.encrypt != nil
        if isLocal { return try localRoute(head) }
        if service.configuration.cast != nil { return try routeOfDevice(&head) }
        try checkHost(of: head)
        let tokens = service.tokens?.current
        let isKnown = tokens?.identify(&head) ?? true
        if isKnown, ControlTarget.text(in: head.target, token: head.pathToken) != nil {
            try checkControl(by: head)
            return nil
        }
        if isKnown, let page = try pageRoute(head) { return page }
        var isOfEdge = false
        if let via = head.value("via") {
            if Via.isOwn(via) {
                throw Route.refusal(
                    508, reason: "The request comes from this proxy itself: it would go around in a loop.")
            }
            // No page of a browser can name `Via` (Fetch standard §2.2.2).
            isOfEdge = head.count("reprise-edge") > 0
        }
        switch isOfEdge ? .answer(.edge) : service.browsers.judge(head) {
        case .answer(let audience): head.audience = audience
        case .preflight(let page):
            head.audience = .page(page)
            return .preflight(page: page)
        case .refuse(let reason): throw Refusal(status: 403, reason: reason)
        }
        switch head.method {
        case .options: return .options
        case .other(let name) where name == "CONNECT" || name == "TRACE":
            throw Refusal(
                status: 405, reason: "\(name) is not supported.", endsConnection: false, methods: OwnAnswer.methods)
        case .get, .head, .other:
            if let tokens, !isKnown {
                if service.hasPage, PageTarget.isOpened(by: head) { return .login }
                throw refusal(of: head, without: tokens)
            }
            return nil
        }
    }

    /// The refusal of a request without a right token.
    ///
    /// A browser is not asked for a password, which it would remember.
    private func refusal(of head: ClientHead, without tokens: AccessTable) -> Refusal {
        let challenges = tokens.challenges
        guard !head.mayBeFromBrowser, !challenges.isEmpty else {
            return Route.refusal(403, reason: "The address must begin with the access token: /TOKEN/https/host/path.")
        }
        var refusal = Route.refusal(
            401, reason: "This server wants a token: in the path (/TOKEN/https/host/path), or in Authorization.")
        refusal.challenges = challenges
        return refusal
    }

    private func checkControl(by head: ClientHead) throws(Refusal) {
        guard service.configuration.items == nil else {
            throw Route.refusal(404, reason: "A proxy inside an app is controlled by the app.")
        }
        guard service.mayBeControlled(by: head.sender) || isBrowsing(head) else {
            throw Route.refusal(
                403,
                reason: head.sender == nil
                    ? "Beyond this machine, this server is controlled with a token only."
                    : "This token is for playing. To look after the server takes one with \"control\".")
        }
        let rules = ControlRules(hasToken: head.sender != nil)
        if let objection = rules.objection(to: head) { throw Route.refusal(403, reason: objection) }
    }

    /// Whether `head` asks for the list of titles for players, with a token that allows that.
    private func isBrowsing(_ head: ClientHead) -> Bool {
        guard head.sender?.holder.token.mayBrowse == true, head.method == .get || head.method == .head,
            let text = ControlTarget.text(in: head.target, token: head.pathToken)
        else { return false }
        return ControlTarget.browsed.contains(String(text.prefix { $0 != "?" }))
    }

    /// The route of a request from another device, which reads the files of one title and nothing else.
    private mutating func routeOfDevice(_ head: inout ClientHead) throws(Refusal) -> Route? {
        head.isFromDevice = true
        try checkHost(of: head)
        guard service.tokens?.current.identify(&head) == true else {
            throw Route.refusal(403, reason: "This address is not known here.")
        }
        if let via = head.value("via"), Via.isOwn(via) {
            throw Route.refusal(508, reason: "The request comes from this proxy itself: it would go around in a loop.")
        }
        switch service.browsers.judge(head) {
        case .answer(let audience): head.audience = audience
        case .preflight(let page):
            head.audience = .page(page)
            return .preflight(page: page)
        case .refuse(let reason): throw Refusal(status: 403, reason: reason)
        }
        guard head.method == .get || head.method == .head else {
            throw Refusal(
                status: 405, reason: "Only GET and HEAD are answered.", endsConnection: false, methods: "GET, HEAD")
        }
        return nil
    }

    /// The route of a browser that opens the address of this proxy; `nil` for every other request.
    private func pageRoute(_ head: ClientHead) throws(Refusal) -> Route? {
        guard service.configuration.servesPage, let target = PageTarget(head, token: head.pathToken),
            service.mayBeControlled(by: head.sender)
        else { return nil }
        try checkControl(by: head)
        return target == .page ? .page : .pageWithoutSlash
    }

    /// The route of a request through the control socket, which has no other.
    private func localRoute(_ head: ClientHead) throws(Refusal) -> Route {
        guard head.count("host") <= 1 else {
            throw Refusal(status: 400, reason: "A request has exactly one Host field (RFC 9112 §3.2).")
        }
        guard ControlTarget.text(in: head.target, token: nil) != nil else {
            throw Route.refusal(404, reason: "This socket serves paths below /-/ only.")
        }
        return try Route(target: head.target, token: nil)
    }

    private mutating func checkHost(of head: ClientHead) throws(Refusal) {
        let host = head.value("host")
        // Two fields have a comma and a space between them, and no accepted one has a space.
        if let host, host == acceptedHost { return }
        guard head.count("host") == 1 || (!head.isHTTP11 && host == nil) else {
            throw Refusal(status: 400, reason: "A request has exactly one Host field (RFC 9112 §3.2).")
        }
        guard host.map(Self.isHost) ?? true else {
            throw Refusal(status: 400, reason: "Host is not a name or an address (RFC 9112 §3.2).")
        }
        guard service.accepts(host: host) else {
            throw Refusal(
                status: 403, reason: "Host does not name this machine. Use http://127.0.0.1 or http://localhost.")
        }
        acceptedHost = host
    }

    /// Whether `text` is made of the characters of a host and a port: it is written into playlists.
    private static func isHost(_ text: String) -> Bool {
        text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"):
                true
            default: marks.contains(byte)
            }
        }
    }

    private static let marks = Set("-._~%!$&'()*+,;=[]:".utf8)
}
