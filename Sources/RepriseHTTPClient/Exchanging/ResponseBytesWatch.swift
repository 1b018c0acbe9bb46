import NIOCore

/// Sits between TLS and the parser and notes whether the origin has sent anything since the last request.
///
/// The parser does not report the beginning of a head, but whether a request may be sent again depends on it.
final class ResponseBytesWatch: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    var hasSeenBytes = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        hasSeenBytes = true
        context.fireChannelRead(data)
    }
}
