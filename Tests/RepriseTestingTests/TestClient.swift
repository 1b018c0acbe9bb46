import NIOCore
import NIOPosix
import Primitives

@testable import RepriseTesting

/// A client that sends exactly what it is given and keeps every received byte, so that tests see the wire.
final class TestClient: Sendable {
    enum Connection: Sendable {
        case open
        case closed
        case reset
    }

    struct Inbox: Sendable {
        var bytes: [UInt8] = []
        var connection = Connection.open
    }

    let channel: any Channel
    private let inbox: Mailbox

    private init(channel: any Channel, inbox: Mailbox) {
        self.channel = channel
        self.inbox = inbox
    }

    /// Connects; a client with `reads: false` never reads from its socket.
    static func connect(
        to origin: TestOrigin, reads: Bool = true, receiveBufferSize: Int? = nil
    ) async throws -> TestClient {
        let inbox = Mailbox()
        var bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.autoRead, value: reads)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Receiver(inbox: inbox))
                }
            }
        if let receiveBufferSize {
            bootstrap = bootstrap.channelOption(.socketOption(.so_rcvbuf), value: receiveBufferSize)
        }
        let channel = try await bootstrap.connect(host: "127.0.0.1", port: origin.port).get()
        return TestClient(channel: channel, inbox: inbox)
    }

    func send(_ text: String) async throws {
        try await channel.writeAndFlush(channel.allocator.buffer(string: text)).get()
    }

    func request(_ path: String, method: String = "GET", _ fields: [String] = []) async throws {
        let lines = (["\(method) \(path) HTTP/1.1", "Host: 127.0.0.1"] + fields).joined(separator: "\r\n")
        try await send(lines + "\r\n\r\n")
    }

    /// Sends a request and takes its complete response out of the inbox.
    func fetch(_ path: String, method: String = "GET", _ fields: [String] = []) async throws -> WireResponse {
        try await request(path, method: method, fields)
        return try await response(to: method)
    }

    /// Takes the next complete response out of the inbox; throws if the connection ends before its head is complete.
    func response(to method: String = "GET") async throws -> WireResponse {
        let inbox = await wait { inbox in
            WireResponse.take(from: inbox.bytes, isHead: method == "HEAD", isOver: inbox.connection != .open) != nil
                || inbox.connection != .open
        }
        guard
            let (response, rest) = WireResponse.take(
                from: inbox.bytes, isHead: method == "HEAD", isOver: inbox.connection != .open)
        else { throw WireResponse.Missing(connection: inbox.connection) }
        // More may have arrived since.
        self.inbox.update { $0.bytes.removeFirst(inbox.bytes.count - rest.count) }
        return response
    }

    /// Waits until `condition` is true of the received bytes.
    @discardableResult
    func wait(until condition: (Inbox) -> Bool) async -> Inbox {
        while true {
            let version = inbox.changes.version
            let inbox = inbox.value
            if condition(inbox) || Task.isCancelled { return inbox }
            await self.inbox.changes.wait(past: version)
        }
    }

    func waitForEnd() async -> Inbox {
        await wait { $0.connection != .open }
    }

    func close() async {
        try? await channel.close().get()
    }
}

final class Mailbox: Sendable {
    let changes = ChangeSignal()
    private let inbox = Mutex(TestClient.Inbox())

    var value: TestClient.Inbox { inbox.withLock { $0 } }

    func update(_ body: (inout TestClient.Inbox) -> Void) {
        inbox.withLock { body(&$0) }
        changes.notify()
    }
}

private final class Receiver: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let inbox: Mailbox
    private var wasReset = false

    init(inbox: Mailbox) {
        self.inbox = inbox
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = unwrapInboundIn(data)
        inbox.update { $0.bytes += buffer.readableBytesView }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        wasReset = true
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        inbox.update { $0.connection = wasReset ? .reset : .closed }
    }
}
