/// Another server, whose health and sums a server's page shows.
package struct Peer: Sendable {
    /// Its response to a query.
    package struct Answer: Sendable, Equatable {
        let state: PeerState
        /// `nil` if it does not publish them.
        let sums: ServerSums?

        package init(_ state: PeerState, _ sums: ServerSums? = nil) { (self.state, self.sums) = (state, sums) }
    }

    /// Its address, without a token.
    package let address: String
    /// Queries it; ends early when the task is canceled.
    package let ask: @Sendable () async -> Answer

    package init(address: String, ask: @escaping @Sendable () async -> Answer) {
        (self.address, self.ask) = (address, ask)
    }
}

/// The health of another server.
package enum PeerState: String, Sendable, Equatable {
    /// It takes requests.
    case ready
    /// It takes requests, but stores nothing.
    case degraded
    /// It is shutting down.
    case draining
    /// Its cache is closed.
    case closed
    /// It cannot be reached, or does not answer in time.
    case unreachable
    /// The response is not from a Reprise server.
    case foreign
    /// It was not queried recently.
    case unknown

    /// Reads a response to `/-/ready`.
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
