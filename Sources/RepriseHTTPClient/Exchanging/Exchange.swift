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
