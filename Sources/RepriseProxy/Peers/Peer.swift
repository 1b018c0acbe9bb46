/// Another server, whose health and sums a server's page shows.
package struct Peer: Sendable {
    /// What it says when it is asked.
    package struct Answer: Sendable, Equatable {
        let state: PeerState
        /// `nil` if it does not tell them.
        let sums: ServerSums?

        package init(_ state: PeerState, _ sums: ServerSums? = nil) { (self.state, self.sums) = (state, sums) }
    }

    /// Its address, without a token.
    package let address: String
    /// Asks it; ends early when the task is canceled.
    package let ask: @Sendable () async -> Answer

    package init(address: String, ask: @escaping @Sendable () async -> Answer) {
        (self.address, self.ask) = (address, ask)
    }
}
