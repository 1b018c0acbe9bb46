import NIOCore
import NIOPosix
import NIOSSL
import Primitives
import Reprise

/// Opens connections: name lookup, the address guard, TCP by NIO (happy eyeballs, TCP_NODELAY), the way through a
/// proxy, TLS, the pipeline.
final class Connector: Sendable {
    private let group: any EventLoopGroup
    private let trust: TrustStore
    private let limits: ConnectionLimits
    private let timeout: TimeAmount
    /// Which addresses of a host may be connected to; `nil` for all.
    private let addressPolicy: @Sendable (String) -> AddressPolicy?
    /// Through which proxy an endpoint is reached; `nil` for none.
    private let proxy: @Sendable (Endpoint) -> OutgoingProxy?

    init(configuration: NIOOrigin.Configuration, group: any EventLoopGroup) {
        self.group = group
        self.trust = TrustStore(configuration)
        self.limits = ConnectionLimits(
            idleLifetime: TimeAmount(configuration.idleConnectionLifetime),
            paceInterval: TimeAmount(configuration.parkingTime / BodyPace.looks),
            window: min(max(configuration.readAhead, 16_384), 524_288))
        self.timeout = TimeAmount(configuration.connectTimeout)
        self.addressPolicy = configuration.addressPolicy
        self.proxy = { configuration.proxy(for: $0) }
    }

    /// Opens a connection that is ready for a request.
    ///
    /// Throws a ``RepriseError`` that names the endpoint, or `CancellationError`.
    func connect(to endpoint: Endpoint) async throws -> Connection {
        // An address is compared in ``complete(_:behind:for:tls:)``: NIOSSL would compare that of a proxy.
        let tls =
            endpoint.scheme == .https
            ? try trust.context(for: endpoint, comparesName: AddressBytes(literal: endpoint.host) == nil) : nil
        let route = try route(to: endpoint)
        let loop = group.next()
        let attempt = ConnectAttempt(loop: loop)
        return try await withTaskCancellationHandler {
            let timer = loop.scheduleTask(in: timeout) { [timeout] in
                guard let failures = route?.failures else {
                    return attempt.fail(Failures.timedOut("could not be connected to", at: endpoint, after: timeout))
                }
                attempt.fail(
                    attempt.hasChannel
                        ? failures.tunnelTimedOut(after: timeout) : failures.connectTimedOut(after: timeout))
            }
            open(endpoint, by: route, on: loop, tls: tls, attempt: attempt)
                .whenComplete { result in
                    timer.cancel()
                    attempt.complete(result.mapError { Failures.connect($0, to: endpoint, timeout: self.timeout) })
                }
            return try await attempt.promise.futureResult.get()
        } onCancel: {
            attempt.fail(CancellationError())
        }
    }

    /// The way through a proxy; `nil` for the direct one.
    private func route(to endpoint: Endpoint) throws(RepriseError) -> ProxyRoute? {
        guard let proxy = proxy(endpoint) else { return nil }
        return ProxyRoute(
            proxy: proxy, endpoint: endpoint, policy: addressPolicy(endpoint.host),
            tls: proxy.kind == .https ? try trust.context(for: proxy.endpoint) : nil)
    }

    private func open(
        _ endpoint: Endpoint, by route: ProxyRoute?, on loop: any EventLoop, tls: NIOSSLContext?,
        attempt: ConnectAttempt
    ) -> EventLoopFuture<Connection> {
        guard let route else {
            let resolver = addressPolicy(endpoint.host).map { PublicResolver(endpoint, policy: $0, on: loop) }
            return bootstrap(on: loop).resolver(resolver).connect(host: endpoint.host, port: endpoint.port)
                .flatMap { channel in
                    self.prepare(channel, for: endpoint, tls: tls, attempt: attempt) {
                        loop.makeSucceededVoidFuture()
                    }
                }
        }
        return route.connect({ self.bootstrap(on: loop) }, on: loop, timeout: timeout).flatMap { channel, destination in
            self.prepare(channel, for: endpoint, tls: tls, attempt: attempt) {
                try route.open(channel, to: destination)
            }
        }
    }

    private func bootstrap(on loop: any EventLoop) -> ClientBootstrap {
        ClientBootstrap(group: loop)
            .connectTimeout(timeout)
            .channelOption(.autoRead, value: false)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .channelOption(.maxMessagesPerRead, value: 1)
            .channelOption(.recvAllocator, value: ReceiveAllocator())
    }

    /// Builds the pipeline, on the channel's loop; `way` opens the way to the origin before any byte is sent to it.
    private func prepare(
        _ channel: any Channel, for endpoint: Endpoint, tls: NIOSSLContext?, attempt: ConnectAttempt,
        way: () throws -> EventLoopFuture<Void>
    ) -> EventLoopFuture<Connection> {
        do {
            guard attempt.adopt(channel) else { throw CancellationError() }
            let gate = SocketGate()
            try channel.pipeline.syncOperations.addHandler(gate)
            return try way().assumeIsolated().flatMap {
                do { return try self.complete(channel, behind: gate, for: endpoint, tls: tls) } catch {
                    channel.close(promise: nil)
                    return channel.eventLoop.makeFailedFuture(error)
                }
            }.nonisolated()
        } catch {
            channel.close(promise: nil)
            return channel.eventLoop.makeFailedFuture(error)
        }
    }

    /// Adds the handlers of TLS and HTTP, which speak with the origin.
    private func complete(
        _ channel: any Channel, behind gate: SocketGate, for endpoint: Endpoint, tls: NIOSSLContext?
    ) throws -> EventLoopFuture<Connection> {
        let loop = channel.eventLoop
        let secured = try tls.map { try Self.tlsHandler($0, for: endpoint) }
        let handshake = secured.map { _ in loop.makePromise(of: Void.self) }
        let handler = ResponseHandler(endpoint: endpoint, limits: limits, gate: gate, handshake: handshake)
        let pipeline = channel.pipeline.syncOperations
        if let secured { try pipeline.addHandler(secured) }
        try pipeline.addHandler(handler)
        let connection = Connection(channel: channel, handler: handler)
        guard let handshake, let secured else { return loop.makeSucceededFuture(connection) }
        func refused(_ error: (any Error)?) -> any Error {
            let fault = CertificateFault(secured.peerCertificate, error: error)
            return fault?.error(at: endpoint, cause: error)
                ?? RepriseError.originNotTrusted(endpoint.name, cause: error)
        }
        return handshake.futureResult.assumeIsolated().flatMapErrorThrowing { error in
            guard let error = error as? RepriseError, error.code == .originNotTrusted else { throw error }
            throw refused(error.cause ?? error)
        }.flatMapThrowing {
            guard let certificate = secured.peerCertificate,
                CertificateName.covers(certificate, host: endpoint.host)
            else { throw refused(nil) }
            return connection
        }.nonisolated()
    }

    /// The name is sent in SNI and verified; for an IP literal the certificate must name the address.
    private static func tlsHandler(_ context: NIOSSLContext, for endpoint: Endpoint) throws -> NIOSSLClientHandler {
        let isAddress = (try? SocketAddress(ipAddress: endpoint.host, port: 0)) != nil
        return try NIOSSLClientHandler(context: context, serverHostname: isAddress ? nil : endpoint.host)
    }
}

/// A connection attempt that may be canceled at any moment.
private final class ConnectAttempt: Sendable {
    private struct State {
        var isOver = false
        var channel: (any Channel)?
    }

    let promise: EventLoopPromise<Connection>
    private let state = Mutex(State())

    init(loop: any EventLoop) {
        promise = loop.makePromise()
    }

    /// Whether a channel is open.
    var hasChannel: Bool { state.withLock { $0.channel != nil } }

    /// Notes the open channel.
    ///
    /// `false` if the attempt has already ended.
    func adopt(_ channel: any Channel) -> Bool {
        state.withLock { state in
            if !state.isOver { state.channel = channel }
            return !state.isOver
        }
    }

    func complete(_ result: Result<Connection, any Error>) {
        switch result {
        case .success(let connection):
            guard end() != nil else { return }
            promise.succeed(connection)
        case .failure(let error): fail(error)
        }
    }

    func fail(_ error: any Error) {
        guard let channel = end() else { return }
        promise.fail(error)
        channel?.close(mode: .all, promise: nil)
    }

    /// Ends the attempt; the first caller, which has to fulfill the promise, gets the channel if there is one.
    private func end() -> (any Channel)?? {
        state.withLock { state -> (any Channel)?? in
            guard !state.isOver else { return nil }
            state.isOver = true
            return .some(state.channel)
        }
    }
}

/// The key by which connections are pooled.
struct Endpoint: Hashable {
    let scheme: ResourceURL.Scheme
    let host: String
    let port: Int

    init(_ url: ResourceURL) {
        scheme = url.scheme
        host = url.host
        port = url.port
    }

    /// `host:port`, for messages.
    var name: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// The time and size limits of one connection.
struct ConnectionLimits: Sendable {
    /// How long a connection without a request is kept.
    let idleLifetime: TimeAmount
    /// How often the loop looks at the pace of a body's consumer.
    let paceInterval: TimeAmount
    /// The socket is read while fewer bytes than this are buffered.
    let window: Int

    /// Maximum number of bytes of one body that are in memory and not taken yet.
    static let maximumBuffered = 1 << 20
}
