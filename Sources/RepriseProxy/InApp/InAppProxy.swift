import Logging
import NIOCore
import NIOPosix
import Primitives
package import Reprise

/// A proxy for the players of this process only: what an app's HLS items play through.
///
/// It listens on a free port of 127.0.0.1, and answers only requests that begin with a random token, which other
/// programs do not know. The listener is opened at once, so that a player may connect as soon as it has an address, and
/// again on the same port whenever the system has closed it.
package final class InAppProxy: Sendable {
    private let service: ProxyService
    private let group: MultiThreadedEventLoopGroup
    private let listener: Listener
    private let rules: ItemRules
    private let prefix: String
    private let stopping = Once()

    /// Number of connections that are answered at the same time: some players of a feed, with a few each.
    private static let maximumConnections = 256

    /// Starts serving `cache` to items with these rules.
    ///
    /// Throws ``RepriseError`` with code `invalidArgument` when no port can be opened.
    package init(
        _ cache: MediaCache, rules: ItemRules, configure: (inout ProxyConfiguration) -> Void = { _ in }
    ) throws(RepriseError) {
        let token = Self.token()
        var configuration = ProxyConfiguration()
        // An app's console is not the place for each request.
        configuration.logger.logLevel = .warning
        configuration.clock = cache.clock
        configure(&configuration)
        configuration.token = token
        configuration.items = rules
        configuration.maximumConnections = Self.maximumConnections
        let service = try ProxyService(cache: cache, configuration: configuration)
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        do {
            listener = try Listener { client, listener in
                Self.adopt(client, service: service, group: group) { listener.checkSoon() }
            }
        } catch {
            group.shutdownGracefully { _ in }
            throw error
        }
        self.service = service
        self.group = group
        self.rules = rules
        prefix = "http://127.0.0.1:\(listener.port)/\(token)"
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
        _ client: CInt, service: ProxyService, group: MultiThreadedEventLoopGroup, onEnd: @escaping @Sendable () -> Void
    ) {
        let bootstrap = ClientBootstrap(group: group).channelInitializer { channel in
            channel.closeFuture.whenComplete { _ in onEnd() }
            return channel.eventLoop.makeCompletedFuture { try service.serve(channel) }
        }
        // A client that has left by now needs no answer, and its channel closes the descriptor.
        _ = bootstrap.withConnectedSocket(client)
    }

    /// The address of `url` for a player; `key` is that under which it is stored, if the app named one.
    package func address(of url: ResourceURL, key: CacheKey? = nil) -> String {
        rules.note(url, key: key)
        return prefix + ProxyLinks.path(url.description, prefix: "")
    }

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
    /// Number of open connections.
    package var connections: Int { service.connections }
    /// Number of answers in progress, not counting hits from memory.
    package var answersUnderWay: Int { service.answersUnderWay }

    /// Stops listening, breaks off answers in progress, and returns when everything is closed.
    package func stop() async { await stopping.perform(shutDown) }

    @Sendable private func shutDown() async {
        await listener.stop()
        await service.end()
        try? await group.shutdownGracefully()
    }
}
