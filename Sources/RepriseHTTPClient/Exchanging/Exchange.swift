import HTTPTypes
import NIOCore
import NIOHTTP1

/// One request on its way and the promise of its response.
final class Exchange: Sendable {
    /// What a fulfilled promise holds.
    struct Response: Sendable {
        let head: HTTPResponse
        let body: ResponseBody
    }

    let request: HTTPRequestHead
    let body: ByteBuffer
    let connection: Connection
    let slot: PoolSlot
    /// Whether the connection had carried a request before: then its death before a response says nothing.
    let isReused: Bool
    let response: EventLoopPromise<Response>
    let onInterim: (@Sendable (HTTPResponse) -> Void)?

    init(
        request: HTTPRequestHead, body: ByteBuffer, connection: Connection, slot: PoolSlot, isReused: Bool,
        onInterim: (@Sendable (HTTPResponse) -> Void)?
    ) {
        self.onInterim = onInterim
        self.request = request
        self.body = body
        self.connection = connection
        self.slot = slot
        self.isReused = isReused
        self.response = connection.channel.eventLoop.makePromise()
    }
}

/// A kept connection turned out to be dead; the request may go out again on another one.
struct StaleConnection: Error {}
