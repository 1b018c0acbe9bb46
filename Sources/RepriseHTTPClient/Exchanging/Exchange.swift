import HTTPTypes
import NIOCore
import NIOHTTP1
import Primitives

/// A request that was sent, and the promise of its response.
final class Exchange: Sendable {
    /// The value of a fulfilled promise.
    struct Response: Sendable {
        let head: HTTPResponse
        let body: ResponseBody
    }

    let request: HTTPRequestHead
    let body: ByteBuffer
    let connection: Connection
    let slot: PoolSlot
    /// Whether the connection had carried a request before; its loss before a response then says nothing about this
    /// request.
    let isReused: Bool
    let response: EventLoopPromise<Response>
    let onInterim: (@Sendable (HTTPResponse) -> Void)?
    /// How long the origin may be silent, if that is longer than the client's own limits.
    let patience: TimeAmount?
    private let hasBeenCanceled = Mutex(false)

    init(
        request: HTTPRequestHead, body: ByteBuffer, connection: Connection, slot: PoolSlot, isReused: Bool,
        onInterim: (@Sendable (HTTPResponse) -> Void)?, patience: TimeAmount?
    ) {
        self.onInterim = onInterim
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
