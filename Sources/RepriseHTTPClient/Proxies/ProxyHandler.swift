import NIOCore
import NIOTLS
import Reprise

/// Speaks with a proxy until the way is open, then leaves the pipeline.
///
/// Lies behind the gate, and behind the handler of TLS to the proxy, if there is one.
final class ProxyHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let failures: ProxyFailures
    /// `nil` if only TLS is negotiated.
    private var negotiation: (any ProxyNegotiation)?
    private let opened: EventLoopPromise<Void>
    private var isInTLS: Bool
    private var received = ByteBuffer()
    private var failure: (any Error)?
    private var isOver = false

    /// `opened` is always fulfilled once the handler is in a pipeline.
    init(_ negotiation: (any ProxyNegotiation)?, failures: ProxyFailures, isInTLS: Bool, opened: EventLoopPromise<Void>)
    {
        (self.negotiation, self.failures, self.isInTLS, self.opened) = (negotiation, failures, isInTLS, opened)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        if !isInTLS { begin(context) }
        context.read()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard isInTLS, let event = event as? TLSUserEvent, case .handshakeCompleted = event else {
            if let event = event as? ChannelEvent, event == .inputClosed { return context.close(promise: nil) }
            return context.fireUserInboundEventTriggered(event)
        }
        // Not passed on: those behind would take it for their own.
        isInTLS = false
        begin(context)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isOver else { return }
        received.writeImmutableBuffer(unwrapInboundIn(data))
        advance(context)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if !isOver { context.read() }
        context.fireChannelReadComplete()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        failure = failure ?? error
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        if !isOver { opened.fail(failures.ended(failure, isInTLS: isInTLS)) }
        isOver = true
        context.fireChannelInactive()
    }

    private func begin(_ context: ChannelHandlerContext) {
        guard let first = negotiation?.begin() else { return finish(context) }
        context.writeAndFlush(wrapOutboundOut(first), promise: nil)
    }

    private func advance(_ context: ChannelHandlerContext) {
        do {
            while true {
                switch try negotiation?.receive(&received) {
                case .wait: return
                case .send(let bytes): context.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
                case .finish, nil:
                    // An origin does not speak first.
                    guard received.readableBytes == 0 else { throw failures.misbehaved("such") }
                    return finish(context)
                }
            }
        } catch {
            errorCaught(context: context, error: error)
        }
    }

    private func finish(_ context: ChannelHandlerContext) {
        isOver = true
        context.pipeline.syncOperations.removeHandler(context: context, promise: opened)
    }
}
