import Primitives
import NIOCore
import NIOPosix
public import Reprise

/// A loopback HTTP proxy that serves a ``MediaCache`` to any player.
///
/// `http://127.0.0.1:PORT/https/host/path` stands for `https://host/path`. GET and HEAD go through the cache; other
/// methods are passed on.
public final class ProxyServer: Sendable {
    private let service: ProxyService
    private let group: MultiThreadedEventLoopGroup
    private let channel: any Channel
    private let controlSocket: ControlSocket?
    private let stopping = Once()
    private let answered = Mutex(SourceBytes())

    /// The port that the proxy listens on.
    public let port: Int
    /// The prefix for `/https/host/path`, for example `http://127.0.0.1:8080`.
    ///
    /// This machine can open it: a proxy that listens on all addresses (`0.0.0.0`, `::`) has a loopback address here.
    public let address: String
    /// Whether it listens on all addresses of the machine.
    package let isOnAllAddresses: Bool

    private init(
        service: ProxyService, group: MultiThreadedEventLoopGroup, channel: any Channel, port: Int, address: String,
        isOnAllAddresses: Bool, controlSocket: ControlSocket?
    ) {
        self.service = service
        self.group = group
        self.channel = channel
        self.controlSocket = controlSocket
        self.port = port
        self.address = address
        self.isOnAllAddresses = isOnAllAddresses
    }

    /// Starts serving `cache`.
    ///
    /// Throws ``RepriseError`` with code `invalidArgument` when the address is reachable from other machines without a
    /// token or a list of hosts, is not an address of this machine, or its port is taken, and when an allowed page or
    /// host is not valid.
    public static func start(
        _ cache: MediaCache, configuration: ProxyConfiguration = ProxyConfiguration()
    ) async throws -> ProxyServer {
        try configuration.check()
        let service = try ProxyService(cache: cache, configuration: configuration)
        let group = MultiThreadedEventLoopGroup(numberOfThreads: max(1, configuration.threads))
        do {
            let channel = try await listen(bootstrap(service, on: group), configuration)
            let port = channel.localAddress?.port ?? configuration.port
            let loopback = Self.loopback(insteadOf: channel.localAddress)
            let host = loopback ?? configuration.host
            let name = host.contains(":") ? "[\(host)]" : host
            let address = "\(configuration.scheme)://\(name):\(port)"
            service.address =
                configuration.certifiedHost.map { "\(configuration.scheme)://\($0(host)):\(port)" } ?? address
            service.control.start(cache, clock: configuration.clock)
            return ProxyServer(
                service: service, group: group, channel: channel, port: port,
                address: address + configuration.pathPrefix,
                isOnAllAddresses: loopback != nil,
                controlSocket: await ControlSocket.open(for: service, on: group))
        } catch {
            try? await group.shutdownGracefully()
            throw cannotListen(configuration, error: error)
        }
    }

    /// The address at which this machine reaches what listens on all addresses; `nil` if `address` is a single one.
    static func loopback(insteadOf address: SocketAddress?) -> String? {
        switch address?.ipAddress {
        case "0.0.0.0": "127.0.0.1"
        case "::": "::1"
        default: nil
        }
    }

    private static func listen(
        _ bootstrap: ServerBootstrap, _ configuration: ProxyConfiguration
    ) async throws -> any Channel {
        if let socket = configuration.listeningSocket { return try await bootstrap.withBoundSocket(socket).get() }
        return try await bootstrap.bind(host: configuration.host, port: configuration.port).get()
    }

    /// Throws what ``start(_:configuration:)`` would throw, as far as that can be known before there is a cache.
    package static func rehearse(_ configuration: ProxyConfiguration) async throws {
        try configuration.check()
        if configuration.listeningSocket != nil { return }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let result: Result<Void, any Error>
        do {
            let bootstrap = ServerBootstrap(group: group).serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            try await bootstrap.bind(host: configuration.host, port: configuration.port).get().close().get()
            result = .success(())
        } catch {
            result = .failure(cannotListen(configuration, error: error))
        }
        try? await group.shutdownGracefully()
        try result.get()
    }

    private static func cannotListen(_ configuration: ProxyConfiguration, error: any Error) -> RepriseError {
        RepriseError(
            .invalidArgument,
            "Cannot listen on \(configuration.host), port \(configuration.port). If the port is taken, choose another.",
            cause: error)
    }

    private static func bootstrap(_ service: ProxyService, on group: MultiThreadedEventLoopGroup) -> ServerBootstrap {
        ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 512)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(AcceptGate(limit: service.mostAccepted))
                }
            }
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try service.serve(channel) }
            }
    }

    /// Number of answers in progress, not counting hits from memory.
    package var answersUnderWay: Int { service.answersUnderWay }

    /// Number of regions that were not in memory when they were to be sent.
    package var coldReads: Int { service.coldReads.withLock { $0 } }

    /// Bytes of bodies and texts that are in memory to be edited and sent.
    package var heldTextBytes: Int { service.texts.budget.byteCount }

    /// Number of requests that wait for a text that is being made.
    package var requestsForTexts: Int { service.texts.waiting }

    /// The path of the control socket; `nil` without one.
    package var controlPath: String? { controlSocket?.path }

    /// Whether a browser that opens ``address`` gets the page.
    package var hasPage: Bool { service.hasPage }

    /// Wants `tokens` in place of those with a name that the proxy was started with, from the next request on.
    ///
    /// Answers in progress end as they would have. A proxy that was started without any token goes on without.
    package func replaceTokens(with tokens: [AccessToken]) { service.tokens?.replace(with: tokens) }

    /// Number of listeners to events.
    package var listeners: Int { service.control.events.listeners }

    /// Returns once every event loop has turned; never while one of them is hung.
    package func turn() async {
        for loop in group.makeIterator() {
            // A loop that has ended cannot be hung.
            try? await loop.submit {}.get()
        }
    }

    /// Number of open connections.
    package var connections: Int { service.connections }

    /// Ends serving without breaking off an answer, and returns when everything is closed.
    ///
    /// From the first moment, `/-/ready` answers 503, and each answer is the last of its connection. For `delay` the
    /// proxy still accepts connections, so that a balancer in front of it can notice. Then it stops listening, closes
    /// idle connections, and lets answers in progress end. After `timeout`, and when the task is canceled, the rest is
    /// broken off as by ``stop()``.
    ///
    /// The cache stays open.
    ///
    /// - Parameters:
    ///   - delay: How long connections are still accepted; none by default.
    ///   - timeout: How long answers in progress have after that; 30 s by default.
    /// - Returns: Whether every answer came to its end.
    @discardableResult
    public func drain(delay: Duration = .zero, timeout: Duration = .seconds(30)) async -> Bool {
        let clock = service.configuration.clock
        await service.drain(.announced, on: group.makeIterator())
        // A canceled wait is over.
        if delay > .zero { try? await clock.sleep(delay) }
        try? await channel.close().get()
        await service.drain(.ending, on: group.makeIterator())
        // Listeners to events would stay for as long as they can.
        service.control.stop()
        let isWhole = await withTaskGroup(of: Bool.self) { [service] group in
            group.addTask { (try? await service.isEmpty.wait()) != nil }
            group.addTask {
                try? await clock.sleep(timeout)
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
        await stop()
        return isWhole
    }

    /// Stops listening, breaks off answers in progress, and returns when everything is closed.
    ///
    /// The cache stays open. May be called again; it then waits for the first call.
    public func stop() async { await stopping.perform(shutDown) }

    /// Media bytes sent to clients, by source; available after ``stop()`` returns.
    package var servedBytes: SourceBytes { answered.withLock { $0 } }

    /// The last error because of which a media response failed or was broken off; `nil` if there was none.
    package var lastFailure: RepriseError? { service.lastFailure }

    @Sendable private func shutDown() async {
        try? await channel.close().get()
        await controlSocket?.close()
        service.control.stop()
        await service.end()
        // Read the counters now: all answers have ended, but the event loops that hold the counters still run.
        if let tally = try? await service.answerTally() { answered.withLock { $0 = tally.served } }
        try? await group.shutdownGracefully()
    }
}
