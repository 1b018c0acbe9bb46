import NIOCore

/// Answers plain HTTP at a port that speaks TLS, in front of the handler that decrypts.
///
/// The first byte decides: a TLS connection begins with a handshake record (RFC 8446 §5.1), a request with a letter
/// (RFC 9112 §3.1). Everything but a letter goes on to the next handler, and this one is removed.
final class PlainHTTPRefusal: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private static let text = "This port speaks TLS: use https://…\n"
    /// Number of bytes that a client may send after the answer, before the connection is cut.
    private static let maximumSurplus = 64 << 10

    private let onRefusal: () -> Void
    private var hasRefused = false
    private var surplus = 0

    /// `onRefusal` is called when a connection is refused.
    init(onRefusal: @escaping () -> Void) { self.onRefusal = onRefusal }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        if hasRefused {
            surplus += bytes.readableBytes
            if surplus > Self.maximumSurplus { context.close(promise: nil) }
        } else if let first = bytes.readableBytesView.first, Self.beginsRequest(first) {
            refuse(context)
        } else {
            context.fireChannelRead(data)
            context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if hasRefused, let event = event as? ChannelEvent, event == .inputClosed {
            context.close(promise: nil)
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    private static func beginsRequest(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
    }

    /// Sends the answer, and closes this side only: an unread request would have the kernel discard the answer.
    private func refuse(_ context: ChannelHandlerContext) {
        hasRefused = true
        onRefusal()
        let head =
            "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n"
            + "Content-Length: \(Self.text.utf8.count)\r\nConnection: close\r\n\r\n"
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: head + Self.text)), promise: nil)
        context.close(mode: .output, promise: nil)
    }
}
