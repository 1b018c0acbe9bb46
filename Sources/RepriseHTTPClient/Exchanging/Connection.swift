import NIOCore
import Reprise

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
