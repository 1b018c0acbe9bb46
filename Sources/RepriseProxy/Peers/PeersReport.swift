/// A server and its peers, as `status.json` and the page say it: each one, and the sums.
struct PeersReport: Encodable, Sendable {
    /// One of them.
    struct Server: Encodable, Sendable {
        /// Missing for the server that says this.
        let address: String?
        let state: PeerState
        /// What it is called; `nil` if it does not tell, as the sums.
        let name: String?
        let sinceStart: StatusReport.Counts?
        let usedBytes, limitBytes: Int64?

        init(_ address: String?, _ answer: Peer.Answer) {
            (self.address, state) = (address, answer.state)
            let sums = answer.sums
            (name, sinceStart) = (sums?.name, sums?.sinceStart)
            (usedBytes, limitBytes) = (sums?.usedBytes, sums?.limitBytes)
        }
    }

    /// The server that says this, and the others in the order in which they were named.
    let servers: [Server]
    /// How many servers the sums are of.
    let counted: Int
    let sinceStart: StatusReport.Counts
    let usedBytes, limitBytes: Int64

    /// One that is named under several addresses, or is the server itself, is there once.
    init(own: Peer.Answer, others: [(address: String, answer: Peer.Answer)]) {
        var known = Set([own.sums?.instance].compactMap { $0 })
        let others = others.filter { other in other.answer.sums.map { known.insert($0.instance).inserted } ?? true }
        servers = [Server(nil, own)] + others.map { Server($0.address, $0.answer) }
        let sums = ([own] + others.map(\.answer)).compactMap(\.sums)
        counted = sums.count
        sinceStart = StatusReport.Counts(adding: sums.map(\.sinceStart))
        usedBytes = sums.reduce(0) { $0 + $1.usedBytes }
        limitBytes = sums.reduce(0) { $0 + $1.limitBytes }
    }

    /// Those that `service` knows now; `nil` if it was told of none.
    init?(of service: ProxyService) {
        guard let board = service.control.peers else { return nil }
        let own = Peer.Answer(PeerState(service.readiness), ServerSums(of: service))
        self.init(own: own, others: board.look())
    }
}

extension PeerState: Encodable {}
