import HTTPTypes
import NIOCore
import NIOSSL
import NIOTLS
import Reprise

/// Last handler of a connection: one exchange at a time, from the request to the end of the body.
///
/// Writes encoded request heads, and parses responses with ``ResponseReader``.
///
/// The results of one read are collected in `burst` and published when the read is complete. That costs one lock and
/// one wake-up per read, and a connection is back in the pool before its consumer learns that the body has ended.
final class ResponseHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum State {
        /// TLS is being negotiated.
        case handshaking(EventLoopPromise<Void>)
        /// Between exchanges; the timer closes the connection. A new connection has none, because its request comes
        /// next.
        case idle(timer: Scheduled<Void>?)
        /// The request was sent.
        case awaitingHead(Exchange, timer: Scheduled<Void>)
        /// The body is in transfer.
        case streaming(ResponseStream)
        /// The connection is gone.
        case closed
    }

    /// The results of one read so far.
    private struct Burst {
        var head: HTTPResponse?
        var pieces = BodyQueue<ByteBuffer>()
        var hasEnded = false
    }

    private let endpoint: Endpoint
    private let limits: ConnectionLimits
    private let gate: SocketGate
    private var state: State
    private var reader = ResponseReader()
    /// Whether the origin has sent any byte since the last request.
    ///
    /// If not, the request may be sent again.
    private var hasSeenBytes = false
    private var burst = Burst()
    private var failure: (any Error)?
    /// Called with the first violation of RFC 9112 in the current response.
    private var onOddity: (@Sendable (String) -> Void)?
    /// Number of interim responses before the answer to the current request.
    private var interimResponses = 0
    private static let mostInterimResponses = 100
    /// Whether TLS has seen the peer's close_notify.
    private var hasCleanEnd = false
    private var idleCheck: Scheduled<Void>?
    private var paceCheck: Scheduled<Void>?
    private var context: ChannelHandlerContext?

    /// `handshake` is fulfilled when TLS is negotiated; `nil` for plain connections.
    init(
        endpoint: Endpoint, limits: ConnectionLimits, gate: SocketGate, handshake: EventLoopPromise<Void>?
    ) {
        self.endpoint = endpoint
        self.limits = limits
        self.gate = gate
        self.state = handshake.map(State.handshaking) ?? .closed
    }

    // MARK: Commands

    func start(_ exchange: Exchange) {
        guard case .idle(let timer) = state, let context else {
            // Nothing was sent: whatever ended a reused connection, another one may work, unless the client itself
            // ended it.
            let isStale = exchange.isReused && !(failure is RepriseError)
            exchange.response.fail(
                isStale ? StaleConnection() : Failures.head(failure, from: endpoint, hasSeenBytes: hasSeenBytes))
            return
        }
        // A cancellation may overtake the start.
        if exchange.isCanceled {
            gate.close()
            return exchange.response.fail(CancellationError())
        }
        // What is there already cannot be the answer: surplus of the last response, or an end. A request that is sent
        // all the same may be answered, and then sent and answered once more.
        if exchange.isReused, gate.hasNews {
            gate.close()
            return exchange.response.fail(StaleConnection())
        }
        timer?.cancel()
        let patience = exchange.patience.untilHead
        let timeout = schedule(in: patience) { handler in
            handler.fail(Failures.timedOut("did not answer", at: handler.endpoint, after: patience))
        }
        state = .awaitingHead(exchange, timer: timeout)
        hasSeenBytes = false
        reader.begin(exchange.request.method)
        onOddity = exchange.asked.context.onOddity
        interimResponses = 0
        // Back to small reads, after the large ones of the last body.
        try? context.channel.syncOptions?.setOption(.recvAllocator, value: ReceiveAllocator())
        context.write(wrapOutboundOut(exchange.request.bytes), promise: nil)
        if exchange.body.readableBytes > 0 { context.write(wrapOutboundOut(exchange.body), promise: nil) }
        context.flush()
        context.read()
    }

    func abandon(_ exchange: Exchange) {
        guard case .awaitingHead(let current, _) = state, current === exchange else { return }
        fail(CancellationError())
    }

    func drain(_ stream: ResponseStream, keepsBytes: Bool) {
        guard case .streaming(let current) = state, current === stream else { return }
        if keepsBytes { gate.drain(upTo: ConnectionLimits.maximumBuffered - stream.bufferedBytes) }
        // The drained bytes may have completed the body, and the connection may be idle now.
        guard case .streaming(let current) = state, current === stream else { return }
        fail(CancellationError())
    }

    func wake(_ stream: ResponseStream) {
        guard case .streaming(let current) = state, current === stream else { return }
        if idleCheck == nil { checkIdle(stream) }
        guard case .streaming = state else { return }
        context?.read()
    }

    func close(_ error: RepriseError?) {
        if let error { failure = failure ?? error }
        gate.close()
    }

    // MARK: Channel events

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if case .handshaking = state { context.read() } else { becomeReady(timer: nil) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshaking(let promise) = state, let event = event as? TLSUserEvent,
            case .handshakeCompleted = event
        {
            becomeReady(timer: nil)
            promise.succeed()
        }
        if let event = event as? ChannelEvent, event == .inputClosed {
            // TLS passes this on for the peer's close_notify; without TLS the gate keeps it. Closing answers with a
            // close_notify.
            hasCleanEnd = true
            context.close(promise: nil)
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        hasSeenBytes = true
        guard failure == nil else { return }
        reader.receive(unwrapInboundIn(data))
        do {
            while let part = try reader.next() {
                switch part {
                case .interim(let head): receivedInterim(head)
                case .head(let head): burst.head = head
                case .body(let piece): burst.pieces.append(piece)
                case .end: burst.hasEnded = true
                }
            }
        } catch {
            fail(error)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        publish()
        switch state {
        case .handshaking, .awaitingHead: context.read()
        case .idle where hasSeenBytes: gate.close()  // unsolicited bytes
        case .idle: context.read()
        case .streaming, .closed: break
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if hasCleanEnd, let error = error as? NIOSSLError, error == .uncleanShutdown { return }
        fail(error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        if reader.finish() { burst.hasEnded = true }
        publish()
        idleCheck?.cancel()
        paceCheck?.cancel()
        let last = state
        state = .closed
        switch last {
        case .handshaking(let promise):
            promise.fail(Failures.handshake(failure, with: endpoint))
        case .idle(let timer):
            timer?.cancel()
        case .awaitingHead(let exchange, let timer):
            timer.cancel()
            exchange.response.fail(headFailure(exchange))
        case .streaming(let stream):
            stream.slot.release(nil)
            let error = Failures.body(failure, from: endpoint)
            stream.finish(&burst.pieces, ending: .failed(error))
        case .closed: break
        }
        context.fireChannelInactive()
    }

    // MARK: Publishing

    private func publish() {
        if let oddity = reader.oddity, let tell = onOddity.take() { tell(oddity) }
        if let head = burst.head {
            burst.head = nil
            receivedHead(head)
        } else if case .streaming(let stream) = state {
            publishBody(of: stream)
        }
    }

    private func receivedInterim(_ head: HTTPResponse) {
        // 100 answers an Expect that is never sent.
        guard head.status.code > 100, case .awaitingHead(let exchange, _) = state else { return }
        interimResponses += 1
        guard interimResponses <= Self.mostInterimResponses else {
            return fail(
                RepriseError(.originMisbehaved, "\(endpoint.name) sends interim responses without end, and no answer."))
        }
        exchange.asked.onInterim?(head)
    }

    private func receivedHead(_ head: HTTPResponse) {
        guard case .awaitingHead(let exchange, let timer) = state else { return }
        let stream = ResponseStream(
            connection: exchange.connection, slot: exchange.slot, framing: reader.framing, window: limits.window,
            patience: exchange.patience.withinBody(head))
        timer.cancel()
        state = .streaming(stream)
        exchange.slot.headArrived(
            on: exchange.connection, canBeResumed: OriginPatience.canResume(head, for: exchange.asked))
        watchPace(of: stream)
        publishBody(of: stream)
        exchange.response.succeed(.init(head: head, body: ResponseBody(stream)))
    }

    private func publishBody(of stream: ResponseStream) {
        // A body that ends with its connection is complete only if the connection ended cleanly.
        guard burst.hasEnded, stream.framing != .untilClose || failure == nil else {
            if stream.publish(&burst.pieces) { context?.read() }
            return
        }
        burst.hasEnded = false
        idleCheck?.cancel()
        idleCheck = nil
        paceCheck?.cancel()
        if reader.leavesConnectionUsable, failure == nil, !gate.isDetached, context?.channel.isActive == true {
            becomeReady(timer: schedule(in: limits.idleLifetime) { $0.gate.close() })
            stream.slot.release(stream.connection)
        } else {
            state = .closed
            // Close this connection before releasing the slot, or the pool would exceed its limit.
            gate.close()
            stream.slot.release(nil)
        }
        stream.finish(&burst.pieces, ending: .complete)
    }

    // MARK: Endings

    private func becomeReady(timer: Scheduled<Void>?) {
        hasSeenBytes = false
        state = .idle(timer: timer)
        context?.read()
    }

    private func fail(_ error: any Error) {
        failure = failure ?? error
        gate.close()
    }

    private func headFailure(_ exchange: Exchange) -> any Error {
        if exchange.isReused, !hasSeenBytes, Failures.isDisconnection(failure) { return StaleConnection() }
        // Bytes that are not a response count as surplus of the last response, which says nothing about this request
        // (RFC 9112 §6.3).
        if exchange.isReused, failure is MalformedResponse { return StaleConnection() }
        return Failures.head(failure, from: endpoint, hasSeenBytes: hasSeenBytes)
    }

    /// Checks regularly how fast the consumer pulls.
    private func watchPace(of stream: ResponseStream) {
        paceCheck = schedule(in: limits.paceInterval) { handler in
            guard case .streaming(let current) = handler.state, current === stream else { return }
            let (pace, before) = stream.lookAtPace()
            if pace.speed != before.speed || pace.isResting != before.isResting { stream.slot.change(to: pace) }
            handler.watchPace(of: stream)
        }
    }

    private func checkIdle(_ stream: ResponseStream) {
        switch stream.checkIdle(timeout: .nanoseconds(stream.patience.nanoseconds)) {
        case .disarm:
            idleCheck = nil
        case .timedOut:
            idleCheck = nil
            fail(Failures.timedOut("sent nothing more", at: endpoint, after: stream.patience))
        case .checkAgain(let rest):
            idleCheck = schedule(in: TimeAmount(rest)) { handler in
                handler.idleCheck = nil
                if case .streaming(let current) = handler.state, current === stream { handler.checkIdle(stream) }
            }
        }
    }

    private func schedule(in time: TimeAmount, _ body: @escaping (ResponseHandler) -> Void) -> Scheduled<Void> {
        guard let context else { preconditionFailure("a handler outside its pipeline was given work") }
        return context.eventLoop.assumeIsolated().scheduleTask(in: time) { [weak self] in
            if let self { body(self) }
        }
    }
}
