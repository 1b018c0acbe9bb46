import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import NIOSSL

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// A server on loopback that sends the bytes it is given, for responses that no honest HTTP server sends.
///
/// For each request head, the script says what follows, by the number of the connection and of the request on it.
final class ScriptedServer: Sendable {
    /// One thing to do.
    enum Step: Sendable {
        case send(String)
        case sendBytes(ByteBuffer)
        /// FIN, after everything before was passed to the kernel.
        case close
        /// RST.
        case reset
        /// FIN without TLS close_notify.
        case cutTLS
    }

    typealias Script = @Sendable (_ connection: Int, _ request: Int) -> [Step]

    let port: Int
    private let group: MultiThreadedEventLoopGroup
    private let listener: any Channel
    private let log: Log

    /// The events, guarded by its lock.
    final class Log: Sendable {
        private struct State {
            var requests: [String] = []
            var channels: [any Channel] = []
        }
        private let state = NIOLockedValueBox(State())

        var requests: [String] { state.withLockedValue { $0.requests } }
        var channels: [any Channel] { state.withLockedValue { $0.channels } }
        func opened(_ channel: any Channel) -> Int {
            state.withLockedValue {
                $0.channels.append(channel)
                return $0.channels.count - 1
            }
        }
        func requested(_ head: String) { state.withLockedValue { $0.requests.append(head) } }
    }

    /// Request heads as received, in order of arrival.
    var requests: [String] { log.requests }
    /// How many connections were accepted.
    var connections: Int { log.channels.count }

    private init(group: MultiThreadedEventLoopGroup, listener: any Channel, log: Log) {
        self.group = group
        self.listener = listener
        self.log = log
        self.port = listener.localAddress?.port ?? 0
    }

    /// Runs `body` with a server, which is stopped afterwards.
    static func run<R>(
        tls: NIOSSLContext? = nil, _ script: @escaping Script, _ body: (ScriptedServer) async throws -> R
    ) async throws -> R {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let log = Log()
        let listener = try await ServerBootstrap(group: group)
            .childChannelOption(.allowRemoteHalfClosure, value: false)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
                    let number = log.opened(channel)
                    try channel.pipeline.syncOperations.addHandler(ScriptHandler(number, script, log))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let server = ScriptedServer(group: group, listener: listener, log: log)
        do {
            let result = try await body(server)
            try await group.shutdownGracefully()
            return result
        } catch {
            try await group.shutdownGracefully()
            throw error
        }
    }

    func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    /// No client has connected yet.
    struct NotConnected: Error {}

    private func channel(_ connection: Int) throws -> any Channel {
        guard let channel = log.channels.dropFirst(connection).first else { throw NotConnected() }
        return channel
    }

    /// Waits until every connection accepted so far is closed.
    func waitForCloses() async throws {
        for channel in log.channels { try await channel.closeFuture.get() }
    }

    /// Waits until a connection is closed from either side.
    func waitForClose(of connection: Int) async throws {
        try await channel(connection).closeFuture.get()
    }

    /// Waits until all responses so far were passed to the kernel.
    ///
    /// Over loopback they are then in the receiver's kernel, as far as its buffer can hold them.
    func settle() async throws {
        for loop in group.makeIterator() { try await loop.submit {}.get() }
    }

    /// Sends unsolicited bytes.
    func send(_ text: String, on connection: Int) async throws {
        try await channel(connection).writeAndFlush(ByteBuffer(string: text))
    }

    /// Closes an idle connection, as servers do after a while.
    func close(_ connection: Int) async throws {
        try await log.channels[connection].close().get()
    }
}

private final class ScriptHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let connection: Int
    private let script: ScriptedServer.Script
    private let log: ScriptedServer.Log
    private var received = ""
    private var requests = 0

    init(_ connection: Int, _ script: @escaping ScriptedServer.Script, _ log: ScriptedServer.Log) {
        self.connection = connection
        self.script = script
        self.log = log
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received += String(buffer: unwrapInboundIn(data))
        while let end = received.range(ofEmptyLine: ()) {
            log.requested(String(received[..<end]))
            received = String(received[received.index(end, offsetBy: 1)...])
            for step in script(connection, requests) { perform(step, context) }
            requests += 1
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func perform(_ step: ScriptedServer.Step, _ context: ChannelHandlerContext) {
        switch step {
        case .send(let text):
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
        case .sendBytes(let bytes):
            context.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
        case .close:
            // After the writes before it, which may still be in progress.
            context.writeAndFlush(wrapOutboundOut(ByteBuffer())).assumeIsolated().whenComplete { _ in
                context.close(promise: nil)
            }
        case .reset:
            let now = linger(l_onoff: 1, l_linger: 0)
            _ = (context.channel as? any SocketOptionProvider)?.setSoLinger(now)
            context.close(promise: nil)
        case .cutTLS:
            let tls = try? context.channel.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self)
            tls?.close(promise: nil)
        }
    }
}

extension String {
    /// The index of the last byte of the first empty line.
    ///
    /// CRLF is one character in Swift.
    fileprivate func range(ofEmptyLine: Void) -> String.Index? {
        var index = startIndex
        while index < endIndex {
            let next = self.index(after: index)
            if next < endIndex, self[index] == "\r\n", self[next] == "\r\n" { return next }
            index = next
        }
        return nil
    }
}
