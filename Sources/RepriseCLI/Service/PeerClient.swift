import HTTPTypes
import Reprise
import RepriseHTTPClient
import RepriseProxy

/// Asks other servers of Reprise how they are, for the page of this one.
struct PeerClient: Sendable {
    private let client: NIOOrigin

    /// Trusts the certificates that `origins` trusts.
    init(origins: NIOOrigin.Configuration) {
        var own = NIOOrigin.Configuration()
        own.connectTimeout = .seconds(2)
        own.responseTimeout = .seconds(2)
        own.idleTimeout = .seconds(2)
        own.queueTimeout = .seconds(2)
        own.maximumConnectionsPerHost = 2
        own.maximumIdlePerHost = 1
        own.connections = origins.connections
        own.redirectLimit = 0
        own.additionalTrustRoots = origins.additionalTrustRoots
        client = NIOOrigin(configuration: own)
    }

    /// Closes all connections and waits until they are closed.
    func shutdown() async { await client.shutdown() }

    /// The server at `address`.
    func peer(at address: Parent) -> Peer {
        Peer(address: address.address) { await ask(address) }
    }

    private func ask(_ address: Parent) async -> Peer.Answer {
        do {
            // Without its token, so that another program in its place does not get it.
            let ready = try await get(address.probe, atMost: Self.longestState)
            let state = PeerState(status: ready.status, text: String(decoding: ready.body, as: UTF8.self))
            guard state != .foreign else { return Peer.Answer(.foreign) }
            let sums = try? await get(address.url(of: "-/sums.json"), atMost: Self.longestSums)
            return Peer.Answer(state, sums.flatMap { $0.status == 200 ? ServerSums(json: $0.body) : nil })
        } catch let error as RepriseError where Self.foreign.contains(error.code) {
            return Peer.Answer(.foreign)
        } catch {
            return Peer.Answer(.unreachable)
        }
    }

    /// Errors of servers that answer something else.
    private static let foreign: Set<RepriseError.Code> = [.originMisbehaved, .originRedirectRefused]

    private static let longestState = 64
    private static let longestSums = 16 << 10

    /// Throws if the body is longer than `limit`.
    private func get(_ url: ResourceURL, atMost limit: Int) async throws -> (status: Int, body: [UInt8]) {
        let response = try await client.send(OriginRequest(url: url))
        var body: [UInt8] = []
        while let piece = try await response.body.next() {
            piece.withUnsafeBytes { body += $0 }
            guard body.count <= limit else {
                response.body.cancel()
                throw RepriseError(.originMisbehaved, "The answer is too long.")
            }
        }
        return (response.head.status.code, body)
    }
}
