import Foundation
public import NIOCore
import NIOPosix
import Primitives

/// A proxy on loopback: HTTP with CONNECT and absolute form, and SOCKS5, as the client speaks.
///
/// Whatever host it is asked for, it connects to the port on 127.0.0.1, so that tests need no names.
public final class TestProxy: Sendable {
    /// What it does with its clients.
    public enum Conduct: Sendable {
        case honest
        /// Closes the connection at the first byte.
        case closes
        /// Never answers.
        case silent
        /// Answers the first byte with this text.
        case says(String)
    }

    fileprivate struct Notes: Sendable {
        var asked: [String] = []
        var logins: [String?] = []
        var channels: [any Channel] = []
    }

    fileprivate struct Rules: Sendable {
        let login: String?
        let conduct: Conduct
        let notes = Box()
    }

    fileprivate final class Box: Sendable {
        let notes = Mutex(Notes())
    }

    /// The port on 127.0.0.1.
    public let port: Int
    private let rules: Rules

    private init(port: Int, rules: Rules) { (self.port, self.rules) = (port, rules) }

    /// What it was asked for: `CONNECT host:port`, `GET http://…`, `SOCKS name host:port`, `SOCKS address host:port`.
    public var asked: [String] { rules.notes.notes.withLock { $0.asked } }
    /// The log-in of each of them: `user:password`, or the value of `Proxy-Authorization`.
    public var logins: [String?] { rules.notes.notes.withLock { $0.logins } }
    /// How many connections it accepted.
    public var connections: Int { rules.notes.notes.withLock { $0.channels.count } }

    /// Runs `body` with a proxy, which is stopped afterwards.
    ///
    /// `login` is `user:password` that SOCKS clients must give, and the value of `Proxy-Authorization` for others;
    /// `prepare` adds handlers of TLS.
    public static func run<R>(
        login: String? = nil, conduct: Conduct = .honest,
        prepare: @escaping @Sendable (any Channel) throws -> Void = { _ in }, _ body: (TestProxy) async throws -> R
    ) async throws -> R {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let rules = Rules(login: login, conduct: conduct)
        let listener = try await ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    rules.notes.notes.withLock { $0.channels.append(channel) }
                    try prepare(channel)
                    try channel.pipeline.syncOperations.addHandler(ProxyConnection(rules))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let result: Result<R, any Error>
        do {
            result = .success(try await body(TestProxy(port: listener.localAddress?.port ?? 0, rules: rules)))
        } catch { result = .failure(error) }
        try await group.shutdownGracefully()
        return try result.get()
    }
}

/// One connection of a client.
private final class ProxyConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum Stage {
        case first, http, login, socks, connecting, relaying
    }

    private let rules: TestProxy.Rules
    private var stage = Stage.first
    private var received = ByteBuffer()
    private var user: String?
    private var origin: (any Channel)?

    init(_ rules: TestProxy.Rules) { self.rules = rules }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received.writeImmutableBuffer(unwrapInboundIn(data))
        while advance(context) {}
    }

    func channelInactive(context: ChannelHandlerContext) { origin?.close(promise: nil) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func say(_ bytes: some Sequence<UInt8>, _ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
    }

    private func note(_ asked: String, login: String?) {
        rules.notes.notes.withLock {
            $0.asked.append(asked)
            $0.logins.append(login)
        }
    }

    /// Whether something was done that may let more be done.
    private func advance(_ context: ChannelHandlerContext) -> Bool {
        switch stage {
        case .first: return begin(context)
        case .login: return logIn(context)
        case .socks: return connectSOCKS(context)
        case .http: return serveHTTP(context)
        case .connecting: return false
        case .relaying:
            guard let bytes = received.readSlice(length: received.readableBytes), bytes.readableBytes > 0 else {
                return false
            }
            origin?.writeAndFlush(bytes, promise: nil)
            return true
        }
    }

    private func begin(_ context: ChannelHandlerContext) -> Bool {
        guard let first = received.getInteger(at: received.readerIndex, as: UInt8.self) else { return false }
        switch rules.conduct {
        case .silent: return false
        case .closes:
            context.close(promise: nil)
            return false
        case .says(let text):
            received.clear()
            say(text.utf8, context)
            return false
        case .honest: break
        }
        guard first == 5 else {
            stage = .http
            return true
        }
        guard let count = received.getInteger(at: received.readerIndex + 1, as: UInt8.self),
            let greeting = received.readBytes(length: 2 + Int(count))
        else { return false }
        let wanted: UInt8 = rules.login == nil ? 0 : 2
        let isOffered = greeting.dropFirst(2).contains(wanted)
        say([5, isOffered ? wanted : 0xFF], context)
        stage = wanted == 2 ? .login : .socks
        return true
    }

    /// RFC 1929.
    private func logIn(_ context: ChannelHandlerContext) -> Bool {
        var copy = received
        guard copy.readInteger(as: UInt8.self) != nil, let userLength = copy.readInteger(as: UInt8.self),
            let name = copy.readString(length: Int(userLength)), let length = copy.readInteger(as: UInt8.self),
            let password = copy.readString(length: Int(length))
        else { return false }
        received = copy
        user = "\(name):\(password)"
        say([1, user == rules.login ? 0 : 1], context)
        stage = .socks
        return true
    }

    private func connectSOCKS(_ context: ChannelHandlerContext) -> Bool {
        var copy = received
        guard let head = copy.readBytes(length: 4) else { return false }
        let host: String?
        switch head[3] {
        case 1: host = copy.readBytes(length: 4).map { $0.map(String.init).joined(separator: ".") }
        case 4: host = copy.readBytes(length: 16).map { "[\($0.map { String($0, radix: 16) }.joined(separator: " "))]" }
        default: host = copy.readInteger(as: UInt8.self).flatMap { copy.readString(length: Int($0)) }
        }
        guard let host, let port = copy.readInteger(as: UInt16.self) else { return false }
        received = copy
        note("SOCKS \(head[3] == 3 ? "name" : "address") \(host):\(port)", login: user)
        connect(context, port: Int(port)) { isOpen in [5, isOpen ? 0 : 5, 0, 1, 0, 0, 0, 0, 0, 0] }
        return true
    }

    private func serveHTTP(_ context: ChannelHandlerContext) -> Bool {
        let text = String(buffer: received)
        guard let end = text.range(of: "\r\n\r\n") else { return false }
        received.moveReaderIndex(forwardBy: text[..<end.upperBound].utf8.count)
        var lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ").map(String.init)
        let prefix = "Proxy-Authorization: "
        let login = lines.first { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
        note("\(words[0]) \(words[1])", login: login)
        guard rules.login == nil || login == rules.login else {
            say(
                "HTTP/1.1 407 Log in\r\nProxy-Authenticate: Basic realm=\"test\"\r\nContent-Length: 0\r\n\r\n".utf8,
                context)
            return true
        }
        guard words[0] != "CONNECT" else {
            connect(context, port: Self.port(words[1])) { isOpen in
                Array("HTTP/1.1 \(isOpen ? "200 OK" : "502 Bad Gateway")\r\n\r\n".utf8)
            }
            return true
        }
        let rest = words[1].dropFirst("http://".count)
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        lines[0] = "\(words[0]) \(rest[slash...]) \(words[2])"
        lines.removeAll { $0.hasPrefix(prefix) }
        let head = ByteBuffer(string: lines.joined(separator: "\r\n") + "\r\n\r\n")
        if let origin {
            origin.writeAndFlush(head, promise: nil)
            return true
        }
        connect(context, port: Self.port(String(rest[..<slash])), then: .http) { isOpen in
            isOpen ? [] : Array("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n".utf8)
        } and: { origin in
            origin.writeAndFlush(head, promise: nil)
        }
        return true
    }

    private static func port(_ authority: String) -> Int {
        authority.split(separator: ":").last.flatMap { Int($0) } ?? 80
    }

    /// Connects to the origin and says what `answer` returns; then the two are one connection.
    private func connect(
        _ context: ChannelHandlerContext, port: Int, then next: Stage = .relaying,
        answer: @escaping (Bool) -> [UInt8], and begin: @escaping (any Channel) -> Void = { _ in }
    ) {
        stage = .connecting
        let client = context.channel
        ClientBootstrap(group: context.eventLoop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ProxyReturn(to: client))
                }
            }
            .connect(host: "127.0.0.1", port: port)
            .assumeIsolated().whenComplete { result in
                let channel = try? result.get()
                self.origin = channel
                self.stage = next
                client.writeAndFlush(ByteBuffer(bytes: answer(channel != nil)), promise: nil)
                if let channel { begin(channel) }
            }
    }
}

/// Passes on what an origin sends.
private final class ProxyReturn: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let client: any Channel

    init(to client: any Channel) { self.client = client }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        client.writeAndFlush(unwrapInboundIn(data), promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        // After the writes before it.
        client.writeAndFlush(ByteBuffer()).whenComplete { [client] _ in client.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
