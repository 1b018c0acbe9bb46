import NIOCore
import Primitives

/// Accepts no connection while too many are open, so that the process keeps descriptors for its files: those beyond the
/// limit wait in the system's queue.
///
/// A server refuses connections before this limit; it is reached only if their event loops cannot keep up with closing
/// them. Everything here runs on the loop of the listening channel.
final class AcceptGate: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias InboundOut = any Channel
    typealias OutboundIn = Never

    private let limit: Int
    private var open = 0
    private var isWaiting = false

    init(limit: Int) { self.limit = limit }

    func read(context: ChannelHandlerContext) {
        isWaiting = open >= limit
        if !isWaiting { context.read() }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        open += 1
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        unwrapInboundIn(data).closeFuture.hop(to: context.eventLoop).whenComplete { _ in
            let (gate, context) = bound.value
            gate.closed(context)
        }
        context.fireChannelRead(data)
    }

    private func closed(_ context: ChannelHandlerContext) {
        open -= 1
        guard isWaiting, open < limit, context.channel.isActive else { return }
        isWaiting = false
        context.read()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let error = error as? IOError, Descriptors.areMissing(error.errnoCode) { Descriptors.process.release() }
        // NIO tries again in a moment.
        context.fireErrorCaught(error)
    }
}
