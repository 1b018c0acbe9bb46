/// How another server is.
package enum PeerState: String, Sendable, Equatable {
    /// It takes requests.
    case ready
    /// It takes requests, but stores nothing.
    case degraded
    /// It is about to end.
    case draining
    /// Its cache is closed.
    case closed
    /// It cannot be reached, or does not answer in time.
    case unreachable
    /// What answers is no server of Reprise.
    case foreign
    /// It has not been asked, or long ago.
    case unknown

    /// What an answer to `/-/ready` says.
    package init(status: Int, text: String) {
        let readiness = Readiness(rawValue: text.hasSuffix("\n") ? String(text.dropLast()) : text)
        switch (status, readiness) {
        case (200, .ready): self = .ready
        case (200, .degraded): self = .degraded
        case (503, .draining): self = .draining
        case (503, .closed): self = .closed
        default: self = .foreign
        }
    }

    init(_ readiness: Readiness) {
        switch readiness {
        case .ready: self = .ready
        case .degraded: self = .degraded
        case .draining: self = .draining
        case .closed: self = .closed
        }
    }

    /// The state in words.
    var words: String {
        switch self {
        case .ready: "Ready"
        case .degraded: "Ready, not storing"
        case .draining: "About to end"
        case .closed: "Closed"
        case .unreachable: "Not reached"
        case .foreign: "No server of Reprise"
        case .unknown: "Not asked yet"
        }
    }
}
