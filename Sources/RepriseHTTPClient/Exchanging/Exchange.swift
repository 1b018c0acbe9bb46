import HTTPTypes
import NIOCore
import Primitives
import Reprise

/// A request that was sent, and the promise of its response.
final class Exchange: Sendable {
    /// The value of a fulfilled promise.
    struct Response: Sendable {
        let head: HTTPResponse
        let body: ResponseBody
    }

    /// Timeouts for one request while the origin sends nothing.
    struct Patience: Sendable {
        private let request: OriginRequest
        private let patience: OriginPatience

        init(_ request: OriginRequest, _ patience: OriginPatience) {
            (self.request, self.patience) = (request, patience)
        }

        /// Maximum time from the request to the response head.
        var untilHead: TimeAmount { TimeAmount(patience.untilHead(of: request)) }

        /// Maximum time between two pieces of the body that follows `head`.
        func withinBody(_ head: HTTPResponse) -> TimeAmount { TimeAmount(patience.withinBody(of: request, head)) }
    }

    let request: RequestHead
    let body: ByteBuffer
    let connection: Connection
    let slot: PoolSlot
    /// Whether the connection had carried a request before; its loss before a response then says nothing about this
    /// request.
    let isReused: Bool
    let response: EventLoopPromise<Response>
    /// The engine's request, with its callbacks.
    let asked: OriginRequest
    let patience: Patience
    private let hasBeenCanceled = Mutex(false)

    init(
        request: RequestHead, body: ByteBuffer, connection: Connection, slot: PoolSlot, isReused: Bool,
        asked: OriginRequest, patience: Patience
    ) {
        self.asked = asked
        self.patience = patience
        self.request = request
        self.body = body
        self.connection = connection
        self.slot = slot
        self.isReused = isReused
        self.response = connection.channel.eventLoop.makePromise()
    }

    /// Whether it was canceled; it is not sent then.
    var isCanceled: Bool { hasBeenCanceled.withLock { $0 } }

    /// Cancels the request if its response has not arrived, whether it was sent or is yet to be.
    func cancel() {
        hasBeenCanceled.withLock { $0 = true }
        connection.abandon(self)
    }
}

/// A reused connection turned out to be dead; the request may be sent again on another one.
struct StaleConnection: Error {}

/// A connection as seen by the rest of the client; every call hops to the channel's loop.
final class Connection: Sendable {
    let channel: any Channel
    private let handler: NIOLoopBound<ResponseHandler>

    /// Must be called on the channel's loop.
    init(channel: any Channel, handler: ResponseHandler) {
        self.channel = channel
        self.handler = NIOLoopBound(handler, eventLoop: channel.eventLoop)
    }

    /// Sends the request; its promise is always fulfilled.
    func start(_ exchange: Exchange) {
        channel.eventLoop.execute { self.handler.value.start(exchange) }
    }

    /// Cancels a request whose response may not have arrived yet.
    func abandon(_ exchange: Exchange) {
        channel.eventLoop.execute { self.handler.value.abandon(exchange) }
    }

    /// Closes the connection if it still carries `stream`.
    func abandon(_ stream: ResponseStream) {
        channel.eventLoop.execute { self.handler.value.drain(stream, keepsBytes: false) }
    }

    /// Collects the bytes that the system holds for `stream`, then closes the connection.
    func drain(_ stream: ResponseStream) {
        channel.eventLoop.execute { self.handler.value.drain(stream, keepsBytes: true) }
    }

    /// Notes that the window of `stream` is open again, or that its consumer waits.
    func wake(_ stream: ResponseStream) {
        channel.eventLoop.execute { self.handler.value.wake(stream) }
    }

    /// Closes the connection; its request or body fails with `error`.
    func close(_ error: RepriseError? = nil) {
        channel.eventLoop.execute { self.handler.value.close(error) }
    }
}
