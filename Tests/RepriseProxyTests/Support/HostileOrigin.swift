import HTTPSemantics
import NIOCore
import NIOPosix

/// An origin that sends the bytes it is given, however wrong they are, and then closes the connection.
final class HostileOrigin: Sendable {
    /// A received request.
    struct Request: Sendable {
        let isHead: Bool
        let path: String
        let range: RangeField?
        let hasIfRange: Bool
    }

    typealias Answer = @Sendable (Request) -> [UInt8]

    let port: Int

    private init(port: Int) { self.port = port }

    /// The request target at a proxy for `path`.
    func target(_ path: String) -> String { "/http/127.0.0.1:\(port)\(path)" }

    /// Runs `body` with an origin that answers as `answer` says.
    static func run(_ answer: @escaping Answer, _ body: (HostileOrigin) async throws -> Void) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let result: Result<Void, any Error>
        do {
            let listener = try await ServerBootstrap(group: group)
                .serverChannelOption(.backlog, value: 256)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(HostileHandler(answer))
                    }
                }
                .bind(host: "127.0.0.1", port: 0).get()
            result = .success(try await body(HostileOrigin(port: listener.localAddress?.port ?? 0)))
        } catch { result = .failure(error) }
        try await group.shutdownGracefully()
        try result.get()
    }
}

private final class HostileHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let answer: HostileOrigin.Answer
    private var received = ""

    init(_ answer: @escaping HostileOrigin.Answer) { self.answer = answer }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received += String(buffer: unwrapInboundIn(data))
        // A carriage return and a line feed form one character.
        guard received.hasSuffix("\r\n\r\n") else { return }
        let lines = received.split(separator: "\r\n")
        let words = lines.first?.split(separator: " ") ?? []
        let range = lines.first { $0.lowercased().hasPrefix("range:") }?.dropFirst("range:".count)
        let request = HostileOrigin.Request(
            isHead: words.first == "HEAD", path: words.dropFirst().first.map(String.init) ?? "",
            range: range.flatMap { RangeField(String($0)) },
            hasIfRange: lines.contains { $0.lowercased().hasPrefix("if-range:") })
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: answer(request)))).assumeIsolated().whenComplete { _ in
            context.close(promise: nil)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
