import Foundation
internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1

/// Serves the requests of one connection, one after the other.
final class OriginConnection: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart

    private let state: OriginState
    private let connection: Int
    private var head: HTTPRequestHead?
    /// Requests that arrived before the previous response was complete.
    private var queue: [HTTPRequestHead] = []
    private var sender: ResponseSender?

    init(state: OriginState, connection: Int) {
        self.state = state
        self.connection = connection
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
        case .body:
            break
        case .end:
            guard let head else { return }
            self.head = nil
            queue.append(head)
            serveNext(on: context.channel)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        sender?.abandon()
        sender = nil
        queue = []
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard error is HTTPParserError, sender == nil else { return context.close(promise: nil) }
        let answer = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        context.channel.writeAndFlush(context.channel.allocator.buffer(string: answer)).assumeIsolated()
            .whenComplete { _ in context.close(promise: nil) }
    }

    private func serveNext(on channel: any Channel) {
        guard sender == nil, !queue.isEmpty, channel.isActive else { return }
        let sender = ResponseSender(exchange(queue.removeFirst()), state: state, channel: channel) { [weak self] end in
            self?.ended(end, on: channel)
        }
        self.sender = sender
        sender.start()
    }

    private func ended(_ end: ResponseSender.End, on channel: any Channel) {
        sender = nil
        switch end {
        case .keep: serveNext(on: channel)
        case .close: channel.close(promise: nil)
        case .reset: channel.reset()
        }
    }

    /// Logs a request and decides its answer.
    private func exchange(_ head: HTTPRequestHead) -> ResponseSender.Exchange {
        let admission = state.arrange { $0.admit(target: head.uri) }
        var resource = admission.entry?.resource
        var reader = resource.flatMap { try? ContentReader($0.content) }
        let request = state.update { [connection, length = reader?.length ?? 0] ledger in
            ledger.log { number in
                HTTPRequestSummary(head, number: number, connection: connection, path: admission.path, length: length)
            }
        }
        let attempt = admission.entry?.requests ?? 1
        // Outside the lock: the closure may call the origin.
        let personality = resource?.override?(request, attempt) ?? resource?.personality ?? TestOrigin.Personality()
        if let representation = personality.representation {
            resource?.content = representation.content
            resource?.etag = representation.etag
            reader = try? ContentReader(representation.content)
        }
        let responder = Responder(
            request: request, isHTTP10: head.version == .http1_0, clientKeepsAlive: head.isKeepAlive,
            personality: personality, attempt: attempt, resource: resource, length: reader?.length,
            now: Int(state.wallClock().timeIntervalSince1970))
        return ResponseSender.Exchange(
            request: request, connection: connection, representation: admission.entry?.representation ?? 0,
            reader: reader, personality: personality, answer: responder.answer())
    }
}

extension HTTPRequestSummary {
    fileprivate init(_ head: HTTPRequestHead, number: Int, connection: Int, path: String, length: Int64) {
        var fields = HTTPFields()
        for (name, value) in head.headers {
            guard let name = HTTPField.Name(name) else { continue }
            fields.append(HTTPField(name: name, value: value))
        }
        self.init(
            number: number, connection: connection, method: head.method.rawValue, target: head.uri, path: path,
            fields: fields, requestedRange: fields[.range].flatMap(RangeHeader.init)?.resolve(length: length))
    }
}
