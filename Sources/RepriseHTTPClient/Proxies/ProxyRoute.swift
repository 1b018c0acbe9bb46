import NIOCore
import NIOPosix
import NIOSSL
import Reprise

/// The way to one endpoint through a proxy.
struct ProxyRoute: Sendable {
    let proxy: OutgoingProxy
    let endpoint: Endpoint
    /// Which addresses the endpoint may have; `nil` for all.
    ///
    /// The proxy itself may be anywhere.
    let policy: AddressPolicy?
    /// For a proxy that speaks TLS.
    let tls: NIOSSLContext?

    var failures: ProxyFailures { ProxyFailures(proxy: proxy, endpoint: endpoint) }

    /// Connects to the proxy by a bootstrap, which resolves its name.
    ///
    /// Fails before that if the endpoint has an address to which it may have none, as far as that is known here.
    func connect(
        _ bootstrap: @escaping @Sendable () -> ClientBootstrap, on loop: any EventLoop, timeout: TimeAmount
    ) -> EventLoopFuture<(any Channel, SOCKSNegotiation.Destination)> {
        destination(on: loop).flatMap { destination in
            bootstrap().connect(host: proxy.endpoint.host, port: proxy.endpoint.port)
                .map { ($0, destination) }
                .flatMapErrorThrowing { throw failures.connect($0, timeout: timeout) }
        }
    }

    /// Opens the way, on the channel's loop, behind the handlers that `channel` has.
    func open(_ channel: any Channel, to destination: SOCKSNegotiation.Destination) throws -> EventLoopFuture<Void> {
        let pipeline = channel.pipeline.syncOperations
        if let tls {
            let name = LiteralHost.address(proxy.endpoint.host) == nil ? proxy.endpoint.host : nil
            try pipeline.addHandler(try NIOSSLClientHandler(context: tls, serverHostname: name))
        }
        let negotiation = negotiation(to: destination)
        guard tls != nil || negotiation != nil else { return channel.eventLoop.makeSucceededVoidFuture() }
        let opened = channel.eventLoop.makePromise(of: Void.self)
        try pipeline.addHandler(ProxyHandler(negotiation, failures: failures, isInTLS: tls != nil, opened: opened))
        return opened.futureResult
    }

    /// What is said to the proxy; `nil` where requests go to it as they are, in absolute form.
    private func negotiation(to destination: SOCKSNegotiation.Destination) -> (any ProxyNegotiation)? {
        guard proxy.speaksHTTP else { return SOCKSNegotiation(failures, to: destination) }
        return endpoint.scheme == .https ? ConnectNegotiation(failures) : nil
    }

    // MARK: - The origin's address

    private func destination(on loop: any EventLoop) -> EventLoopFuture<SOCKSNegotiation.Destination> {
        if let address = LiteralHost.address(endpoint.host) {
            // Names are judged by the addresses that they have here, and only where they are resolved here.
            if let policy, !policy.permits(address) { return loop.makeFailedFuture(failures.forbiddenAddress) }
            return loop.makeSucceededFuture(.address(address))
        }
        guard proxy.kind == .socks5 else { return loop.makeSucceededFuture(.name(endpoint.host)) }
        return lookUp(on: loop).flatMapThrowing { addresses in
            guard let first = addresses.first.flatMap({ AddressBytes($0) }) else {
                throw RepriseError.originNotFound(endpoint.host, cause: NoAddress())
            }
            return .address(first)
        }
    }

    /// The addresses of the endpoint's name that it may have; of IPv4 first, which every proxy reaches.
    private func lookUp(on loop: any EventLoop) -> EventLoopFuture<[SocketAddress]> {
        guard let policy else {
            return NIOThreadPool.singleton.runIfActive(eventLoop: loop) {
                [try SocketAddress.makeAddressResolvingHost(endpoint.host, port: endpoint.port)]
            }.flatMapErrorThrowing { throw RepriseError.originNotFound(endpoint.host, cause: $0) }
        }
        let resolver = PublicResolver(endpoint, policy: policy, on: loop)
        let addresses6 = resolver.initiateAAAAQuery(host: endpoint.host, port: endpoint.port)
        return resolver.initiateAQuery(host: endpoint.host, port: endpoint.port).and(addresses6).map(+)
            .flatMapErrorThrowing { error in
                throw error is RepriseError ? error : RepriseError.originNotFound(endpoint.host, cause: error)
            }
    }

    /// A name without an address.
    private struct NoAddress: Error, CustomStringConvertible {
        let description = "no address"
    }
}

extension AddressPolicy {
    /// Whether a connection to `address` may be opened.
    func permits(_ address: AddressBytes) -> Bool {
        (try? SocketAddress(ipAddress: address.text, port: 0)).map { permits($0) } ?? false
    }
}
