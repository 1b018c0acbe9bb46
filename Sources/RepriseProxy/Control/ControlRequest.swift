/// A request to `/-/…`, whose sender was found to be allowed.
struct ControlRequest: Sendable {
    let head: ClientHead
    /// The target behind the prefix.
    let target: String
    /// Whether it came through the control socket, from this user.
    let isLocal: Bool
    /// The requested document; `nil` for paths behind the prefix.
    var document: PageDocument?

    /// Whether it asks for the metrics, as monitors do all the time.
    var asksForMetrics: Bool { ControlTarget.isMetrics(target[...]) }

    /// Whether the answer counts as one at the port.
    var isCounted: Bool { !isLocal && !asksForMetrics }

    /// Most bytes of a body; a command may name many URLs.
    var largestBody: Int { isLocal ? RequestBody.maximum : 64 << 10 }

    /// The method in capitals.
    var method: String {
        switch head.method {
        case .get: "GET"
        case .head: "HEAD"
        case .options: "OPTIONS"
        case .other(let name): name
        }
    }
}
