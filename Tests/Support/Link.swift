import NIOCore
import NIOPosix
import Primitives

/// The way to a server, as a port on loopback: all bytes pass until it is cut.
public final class Link: Sendable {
    fileprivate struct Ends: Sendable {
        var listener: (any Channel)?
        var connections: [any Channel] = []
    }

    /// The port on 127.0.0.1.
    public let port: Int
    private let destination: Int
    private let group: MultiThreadedEventLoopGroup
    private let ends: Mutex<Ends>

    private init(port: Int, destination: Int, group: MultiThreadedEventLoopGroup, ends: Mutex<Ends>) {
        (self.port, self.destination, self.group, self.ends) = (port, destination, group, ends)
    }

    /// Runs `body` with a link to a port of 127.0.0.1.
    public static func run<R>(to destination: Int, _ body: (Link) async throws -> R) async throws -> R {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let result: Result<R, any Error>
        do {
            let ends = Mutex(Ends())
            let port = try await listen(at: 0, to: destination, group, ends)
            result = .success(try await body(Link(port: port, destination: destination, group: group, ends: ends)))
        } catch { result = .failure(error) }
        try await group.shutdownGracefully()
        return try result.get()
    }

    /// Breaks all connections, and refuses others.
    public func cut() async {
        let ends = ends.withLock { ends in
            defer { ends = Ends() }
            return ends
        }
        try? await ends.listener?.close().get()
        for connection in ends.connections { try? await connection.close().get() }
    }

    /// Accepts connections again.
    public func restore() async throws { _ = try await Self.listen(at: port, to: destination, group, ends) }

    /// Accepts connections; returns the port.
    private static func listen(
        at port: Int, to destination: Int, _ group: MultiThreadedEventLoopGroup, _ ends: Mutex<Ends>
    ) async throws -> Int {
        let listener = try await ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.autoRead, value: false)
            .childChannelInitializer { client in
                ends.withLock { $0.connections.append(client) }
                return connect(client, to: destination)
            }
            .bind(host: "127.0.0.1", port: port).get()
        ends.withLock { $0.listener = listener }
        return listener.localAddress?.port ?? 0
    }

    /// Makes one connection of `client` and a new one to the destination.
    private static func connect(_ client: any Channel, to destination: Int) -> EventLoopFuture<Void> {
        ClientBootstrap(group: client.eventLoop)
            .channelOption(.autoRead, value: false)
            .connect(host: "127.0.0.1", port: destination)
            .flatMap { server in
                client.eventLoop.makeCompletedFuture {
                    try client.pipeline.syncOperations.addHandler(Forwarder(to: server))
                    try server.pipeline.syncOperations.addHandler(Forwarder(to: client))
                }
            }
    }
}

/// Passes on what a connection receives, a piece at a time.
private final class Forwarder: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let peer: any Channel

    init(to peer: any Channel) { self.peer = peer }

    func handlerAdded(context: ChannelHandlerContext) { if context.channel.isActive { context.read() } }

    func channelActive(context: ChannelHandlerContext) { context.read() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let channel = context.channel
        peer.writeAndFlush(unwrapInboundIn(data)).whenComplete { result in
            if case .success = result { channel.read() } else { channel.close(promise: nil) }
        }
    }

    func channelInactive(context: ChannelHandlerContext) { peer.close(promise: nil) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
