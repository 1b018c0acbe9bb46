import Foundation
import Reprise

/// A server and its peers, as `status.json` and the page show them: each one, and the sums.
struct PeersReport: Encodable, Sendable {
    struct Server: Encodable, Sendable {
        /// `nil` for the reporting server itself.
        let address: String?
        let state: PeerState
        /// `nil` if the server does not publish it, like the sums.
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

    /// The reporting server, then the others in the order of the configuration.
    let servers: [Server]
    /// The number of servers in the sums.
    let counted: Int
    let sinceStart: StatusReport.Counts
    let usedBytes, limitBytes: Int64

    /// A server that is listed under several addresses, or is the reporting server itself, counts once.
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

    /// The peers of `service`; `nil` if it has none.
    init?(of service: ProxyService) {
        guard let board = service.control.peers else { return nil }
        let own = Peer.Answer(PeerState(service.readiness), ServerSums(of: service))
        self.init(own: own, others: board.look())
    }
}

extension PeerState: Encodable {}

/// A server's counts since its start and its disk usage, as published in `sums.json`.
package struct ServerSums: Codable, Sendable, Equatable {
    let name: String
    /// Unique in each process, so that a server with two addresses counts once.
    let instance: String
    let sinceStart: StatusReport.Counts
    /// Bytes that media and index occupy on its disk, and how many they may.
    let usedBytes, limitBytes: Int64

    init(of service: ProxyService) {
        let (cache, allocated) = (service.cache, service.cache.allocatedBytes)
        name = service.configuration.name
        instance = service.control.instance
        sinceStart = StatusReport.Counts(cache.statistics)
        (usedBytes, limitBytes) = (allocated.media + allocated.index, cache.limit)
    }

    /// Parses another server's `sums.json`; `nil` if it is malformed or implausible.
    package init?(json: [UInt8]) {
        guard let sums = try? JSONDecoder().decode(Self.self, from: Data(json)), sums.isPlausible else { return nil }
        self = sums
    }

    /// Names that fit into a table, and numbers that can be added and shown.
    private var isPlausible: Bool {
        // Savings are negative after fetching ahead.
        let numbers = sinceStart.all + [usedBytes, limitBytes]
        return [name, instance].allSatisfy { (1...64).contains($0.utf8.count) }
            && numbers.allSatisfy { $0.magnitude <= Self.largest }
    }

    /// The largest integer that JavaScript represents exactly; a thousand of them fit into 64 bits.
    private static let largest: UInt64 = 1 << 53
}
