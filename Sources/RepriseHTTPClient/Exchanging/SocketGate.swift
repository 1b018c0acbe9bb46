import NIOCore
import NIOPosix

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// First handler of a connection, next to the socket: limits reads to those requested.
///
/// With reading off, NIO on Linux still reads a socket to its end as soon as the peer has closed its side, and the
/// kernel may hold 6 MiB and more of a body that is not being pulled. The first unrequested piece therefore ends NIO's
/// reading (`close(mode: .input)`, which on Linux leaves the received bytes in the socket). From then on every `read()`
/// takes one piece from the socket here. All of the peer's bytes have already arrived, so these reads never block.
///
/// Requires `allowRemoteHalfClosure`; in return it distinguishes a clean end (FIN) from a reset.
final class SocketGate: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// The connection was lost without a FIN.
    struct ConnectionReset: Error, CustomStringConvertible {
        let description = "connection reset"
    }

    /// Number of bytes taken from the socket at once when NIO does not read.
    private static let pieceSize = 262_144

    private var context: ChannelHandlerContext?
    private var isReadPending = false
    private var isPullScheduled = false
    private var hasEnded = false
    /// Whether NIO has stopped reading; no other request may follow on this connection.
    private(set) var isDetached = false

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
    }

    func read(context: ChannelHandlerContext) {
        if isDetached {
            schedulePull(context)
        } else {
            isReadPending = true
            context.read()
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        #if os(Linux)
            if !isReadPending, !isDetached {
                isDetached = true
                context.close(mode: .input, promise: nil)
            }
        #endif
        isReadPending = false
        context.fireChannelRead(data)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard let event = event as? ChannelEvent, event == .inputClosed else {
            context.fireUserInboundEventTriggered(event)
            return
        }
        if !isDetached { end(context) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        if !hasEnded { context.fireErrorCaught(ConnectionReset()) }
        hasEnded = true
        context.fireChannelInactive()
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        hasEnded = true
        context.close(mode: mode, promise: promise)
    }

    /// Closes the connection below TLS, without waiting for the peer.
    func close() {
        hasEnded = true
        context?.close(mode: .all, promise: nil)
    }

    /// Whether the peer has sent bytes that were not read, or has ended the connection.
    ///
    /// Asks the system, because a busy loop learns of it late.
    var hasNews: Bool {
        guard let context, context.channel.isActive else { return true }
        var byte: UInt8 = 0
        let hasNone = withSocket(context) { socket in
            recv(socket, &byte, 1, CInt(MSG_PEEK) | CInt(MSG_DONTWAIT)) < 0 && [EAGAIN, EWOULDBLOCK].contains(errno)
        }
        return hasNone != true
    }

    /// Passes on the bytes that the system has received by now, at most `limit`.
    func drain(upTo limit: Int) {
        guard let context, context.channel.isActive else { return }
        var remaining = min(limit, receivedBytes(context))
        guard remaining > 0 else { return }
        while remaining > 0, case .piece(let piece) = receive(upTo: min(remaining, Self.pieceSize), context: context) {
            remaining -= piece.readableBytes
            context.fireChannelRead(wrapInboundOut(piece))
        }
        context.fireChannelReadComplete()
    }

    // MARK: Reading in place of NIO

    private enum Received {
        case piece(ByteBuffer)
        case end
        case nothing(errno: CInt)
    }

    /// In a separate turn, because a read may be requested while another one is being passed on.
    private func schedulePull(_ context: ChannelHandlerContext) {
        guard !isPullScheduled else { return }
        isPullScheduled = true
        context.eventLoop.assumeIsolated().execute { self.pull() }
    }

    private func pull() {
        isPullScheduled = false
        guard let context, context.channel.isActive else { return }
        switch receive(upTo: Self.pieceSize, context: context) {
        case .piece(let piece):
            context.fireChannelRead(wrapInboundOut(piece))
            context.fireChannelReadComplete()
        case .end:
            end(context)
        case .nothing(let number):
            context.fireErrorCaught(IOError(errnoCode: number, reason: "recv"))
            close()
        }
    }

    /// Handles the peer's FIN.
    private func end(_ context: ChannelHandlerContext) {
        hasEnded = true
        context.close(mode: .all, promise: nil)
    }

    private func receive(upTo count: Int, context: ChannelHandlerContext) -> Received {
        var piece = context.channel.allocator.buffer(capacity: count)
        var failure: CInt = 0
        let received = withSocket(context) { socket in
            piece.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { memory in
                let result = recv(socket, memory.baseAddress, count, CInt(MSG_DONTWAIT))
                failure = result < 0 ? errno : 0
                return max(0, result)
            }
        }
        guard let received, failure == 0 else { return .nothing(errno: failure) }
        return received == 0 ? .end : .piece(piece)
    }

    private func receivedBytes(_ context: ChannelHandlerContext) -> Int {
        #if os(Linux)
            let request = UInt(FIONREAD)
        #else
            let request: UInt = 0x4004_667F  // FIONREAD, a macro that Swift does not import here
        #endif
        var count: CInt = 0
        let result = withSocket(context) { ioctl($0, request, &count) }
        return result == 0 ? Int(count) : 0
    }

    private func withSocket<R>(_ context: ChannelHandlerContext, _ body: (NIOBSDSocket.Handle) -> R) -> R? {
        try? context.channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(
            of: NIOBSDSocket.Handle.self, body)
    }
}
