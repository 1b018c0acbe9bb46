import Logging
import NIOCore
import NIOPosix
import Primitives
package import Reprise

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A proxy inside an app: for the players of this process, or for other devices of the local network.
///
/// An app's HLS items play through the first kind. Devices get one title of the second kind, and nothing else. Either
/// listens on a free port of one address, and answers only requests that begin with a random token, which others do not
/// know. The listener is opened at once, so that a player may connect as soon as it has an address, and again on the
/// same port whenever the system has closed it.
package final class InAppProxy: Sendable {
    /// `nil` if the proxy was stopped before its cache was open.
    private let service: Promise<ProxyService?>
    private let configuration: ProxyConfiguration
    private let group: MultiThreadedEventLoopGroup
    private let listener: Listener
    private let rules: ItemRules
    private let prefix: String
    private let stopping = Once()

    /// Who reaches a proxy.
    package enum Reach: Sendable {
        /// The players of this process, at 127.0.0.1.
        case process
        /// Devices of the network in which this machine has the address; they get what the scope has.
        case network(IPv4Address, CastScope)

        fileprivate var address: IPv4Address {
            switch self {
            case .process: .loopback
            case .network(let address, _): address
            }
        }
    }

    /// Number of connections that are answered at the same time: some players of a feed, with a few each.
    private static let maximumConnections = 256
    /// Number of connections of one device of the network; a player has a few.
    private static let maximumConnectionsOfDevice = 16

    /// Starts serving `cache` to items with these rules.
    ///
    /// Throws ``RepriseError`` with code `invalidArgument` when no port can be opened.
    package convenience init(
        _ cache: MediaCache, rules: ItemRules, reach: Reach = .process,
        configure: (inout ProxyConfiguration) -> Void = { _ in }
    ) throws(RepriseError) {
        try self.init(clock: cache.clock, rules: rules, reach: reach, configure: configure)
        open(cache)
    }

    /// Starts listening for items with these rules; clients wait until ``open(_:)`` is called.
    ///
    /// Throws ``RepriseError`` with code `invalidArgument` when no port can be opened.
    package init(
        clock: CacheClock = .system, rules: ItemRules, reach: Reach = .process,
        configure: (inout ProxyConfiguration) -> Void = { _ in }
    ) throws(RepriseError) {
        let token = Self.token()
        var configuration = ProxyConfiguration()
        // An app's console is not the place for each request.
        configuration.logger.logLevel = .warning
        configuration.clock = clock
        configure(&configuration)
        configuration.token = token
        configuration.items = rules
        configuration.maximumConnections = Self.maximumConnections
        configuration.host = "\(reach.address)"
        var places: PeerPlaces?
        if case .network(_, let scope) = reach {
            configuration.cast = scope
            places = PeerPlaces(limit: Self.maximumConnectionsOfDevice)
        }
        let service = Promise<ProxyService?>()
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        do {
            listener = try Listener(at: reach.address, clock: clock) { [places] client, peer, listener in
                guard places?.take(peer) ?? true else {
                    close(client)
                    return
                }
                let onEnd = { @Sendable in
                    places?.release(peer)
                    listener.checkSoon()
                }
                service.whenFulfilled { Self.adopt(client, service: $0, group: group, onEnd: onEnd) }
            }
        } catch {
            group.shutdownGracefully { _ in }
            throw error
        }
        self.service = service
        self.configuration = configuration
        self.group = group
        self.rules = rules
        prefix = "http://\(reach.address):\(listener.port)/\(token)"
    }

    /// Serves `cache`.
    ///
    /// Closes all connections if the configuration is invalid; ``error`` then says why.
    package func open(_ cache: MediaCache) {
        do { service.fulfill(try ProxyService(cache: cache, configuration: configuration)) } catch {
            rules.note(error)
            service.fulfill(nil)
        }
    }

    /// 160 bits, as letters and digits that need no encoding in a path.
    private static func token() -> String {
        let letters = Array("abcdefghijklmnopqrstuvwxyz234567")
        var generator = SystemRandomNumberGenerator()
        return String((0..<32).map { _ in letters[Int.random(in: letters.indices, using: &generator)] })
    }

    /// Has the loop answer a client; `onEnd` is called when the connection has ended, because a suspended app loses its
    /// connections together with its listener.
    private static func adopt(
        _ client: CInt, service: ProxyService?, group: MultiThreadedEventLoopGroup,
        onEnd: @escaping @Sendable () -> Void
    ) {
        guard let service else {
            close(client)
            return onEnd()
        }
        let bootstrap = ClientBootstrap(group: group).channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture { try service.serve(channel) }
        }
        bootstrap.withConnectedSocket(client).whenComplete { result in
            switch result {
            case .success(let channel): channel.closeFuture.whenComplete { _ in onEnd() }
            // A client that has left by now needs no answer, and its channel closes the descriptor.
            case .failure: onEnd()
            }
        }
    }

    /// The address of `url` for a player; `key` is that under which it is stored, if the app named one.
    package func address(of url: ResourceURL, key: CacheKey? = nil) -> String {
        rules.note(url, key: key)
        return prefix + ProxyLinks.path(url.description, prefix: "")
    }

    /// The error of the last failed request; `nil` if no request has failed.
    package var error: RepriseError? { rules.error }

    /// Which networks requests may use now.
    package var networkPolicy: NetworkPolicy { rules.networkPolicy }

    /// Changes which networks further requests may use.
    package func setNetworkPolicy(_ policy: NetworkPolicy) { rules.setNetworkPolicy(policy) }

    /// Whether the address can be used now: the listener is opened again if the system has closed it.
    ///
    /// Blocks, usually for less than a millisecond, at most a second.
    package func check() -> Bool { listener.check() }

    /// Like ``check()``, without waiting.
    package func checkSoon() { listener.checkSoon() }

    /// The listener's port.
    package var port: Int { listener.port }
    /// The listener's descriptor, for tests that close it.
    package var descriptor: CInt { listener.descriptor }
    /// How often the listener was opened.
    package var openings: Int { listener.openings }
    /// Whether clients wait for the cache to be opened.
    package var hasWaitingClients: Bool { service.isAwaited }
    /// Number of open connections.
    package var connections: Int { opened?.connections ?? 0 }
    /// Number of answers in progress, not counting hits from memory.
    package var answersUnderWay: Int { opened?.answersUnderWay ?? 0 }

    private var opened: ProxyService? { service.current ?? nil }

    /// Stops listening, breaks off answers in progress, and returns when everything is closed.
    package func stop() async { await stopping.perform(shutDown) }

    @Sendable private func shutDown() async {
        await listener.stop()
        service.fulfill(nil)
        await service.value?.end()
        try? await group.shutdownGracefully()
    }
}

/// Limits the connections of each device, so that one device cannot use up all of them.
final class PeerPlaces: Sendable {
    private let limit: Int
    private let counts = Mutex<[IPv4Address: Int]>([:])

    init(limit: Int) { self.limit = limit }

    /// Claims a slot for a connection; false if the device has reached its limit.
    func take(_ peer: IPv4Address) -> Bool {
        counts.withLock { counts in
            let count = counts[peer, default: 0]
            guard count < limit else { return false }
            counts[peer] = count + 1
            return true
        }
    }

    /// Releases a slot.
    func release(_ peer: IPv4Address) {
        counts.withLock { counts in
            guard let count = counts[peer] else { return }
            counts[peer] = count > 1 ? count - 1 : nil
        }
    }
}
