public import Foundation
internal import Primitives
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// A real HTTP/1.1 origin on the loopback interface, for tests: honest by default, with faults on request.
///
///     let origin = try await TestOrigin.start()
///     origin.set(.init(.pattern(seed: 1, length: 5_000_000_000)), at: "/film.mp4")
///     // … fetch origin.url("/film.mp4") …
///     #expect(await origin.settledSnapshot()["/film.mp4"].bytesSentMoreThanOnce == 0)
///     await origin.stop()
///
/// It serves GET and HEAD, single ranges, If-Match, If-None-Match, If-Modified-Since, If-Unmodified-Since and If-Range;
/// it answers several ranges with the whole representation. It does not speak TLS or HTTP/2, and ignores request
/// bodies.
///
/// All members may be called from any thread. A request's query is ignored unless a resource was set with it.
public final class TestOrigin: Sendable {
    /// The port on 127.0.0.1 that the origin listens on.
    public let port: Int

    let state: OriginState
    let group: MultiThreadedEventLoopGroup
    private let listener: any Channel
    private let heldPort: HeldPort
    private let hasStopped = Mutex(false)

    /// Instantiated once, before the first thread of any origin runs: the Swift 6.3 runtime occasionally crashes when
    /// several threads instantiate this generic type at the same time (seen at 3 in 500 starts of many origins at
    /// once).
    private static let decoderType: Any.Type = ByteToMessageHandler<HTTPRequestDecoder>.self

    private init(
        state: OriginState, group: MultiThreadedEventLoopGroup, listener: any Channel, heldPort: HeldPort
    ) {
        self.state = state
        self.group = group
        self.listener = listener
        self.heldPort = heldPort
        port = listener.localAddress?.port ?? 0
    }

    deinit {
        // Only for an origin that was never stopped; after a stop this does nothing.
        group.shutdownGracefully { _ in }
    }

    /// Starts an origin without resources on a free port of 127.0.0.1.
    ///
    /// - Parameters:
    ///   - sendBufferSize: SO_SNDBUF of accepted connections, in bytes; the system's default if `nil`. A small one
    ///   makes a client that does not read noticeable soon, because less fits in between. Linux doubles the number.
    ///   - threads: Threads that serve connections; 1 by default.
    ///   - wallClock: The time for the Date of responses; the system's clock if `nil`.
    /// - Returns: The origin, which must be stopped with ``stop()``.
    /// - Throws: The system's error if it cannot listen.
    public static func start(
        sendBufferSize: Int? = nil, threads: Int = 1, wallClock: (@Sendable () -> Date)? = nil
    ) async throws -> TestOrigin {
        withExtendedLifetime(decoderType) {}
        let state = OriginState(wallClock: wallClock ?? { Date() })
        let group = MultiThreadedEventLoopGroup(numberOfThreads: threads)
        var bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 256)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let connection = state.opened(channel)
                    try channel.pipeline.syncOperations.addHandlers(
                        ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes)),
                        OriginConnection(state: state, connection: connection))
                }
            }
        if let sendBufferSize {
            bootstrap = bootstrap.childChannelOption(.socketOption(.so_sndbuf), value: sendBufferSize)
        }
        do {
            let heldPort = try HeldPort()
            if heldPort.number > 0 {
                bootstrap = bootstrap.serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            }
            let listener = try await bootstrap.bind(host: "127.0.0.1", port: heldPort.number).get()
            return TestOrigin(state: state, group: group, listener: listener, heldPort: heldPort)
        } catch {
            try? await group.shutdownGracefully()
            throw error
        }
    }

    /// Whether the threads are still running; a task given to them after a stop would never end.
    var isRunning: Bool { !hasStopped.withLock { $0 } }

    /// Returns the URL of a path, which begins with a slash: `http://127.0.0.1:PORT/path`.
    public func url(_ path: String) -> String {
        precondition(path.hasPrefix("/"), "A path begins with a slash.")
        return "http://127.0.0.1:\(port)\(path)"
    }

    /// Closes all connections and the port, removes all resources, and waits until that is done.
    ///
    /// The counters are kept. On Linux connections to the port are refused while this object lives; elsewhere another
    /// origin may get it. May be called again; it then waits for the first call.
    public func stop() async {
        let isFirst = hasStopped.withLock { hasStopped in
            defer { hasStopped = true }
            return !hasStopped
        }
        if isFirst {
            try? await listener.close().get()
            // A connection that was accepted just before is in the table by now, or is closed with the group.
            for channel in state.openChannels { try? await channel.close().get() }
        }
        // The group accepts a second call too, which returns when the first is done.
        try? await group.shutdownGracefully()
        // Their closures may retain this origin.
        state.arrange { $0.removeAllResources() }
    }
}
