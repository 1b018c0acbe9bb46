import HTTPSemantics
import HTTPTypes
import Logging
import NIOCore
import Reprise

/// One client connection: parses, answers hits on the event loop, hands everything else to an ``Exchange``.
///
/// Everything here runs on the channel's event loop; one request is answered at a time, pipelined ones wait.
final class ConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = IOData

    /// Bytes of further requests that may wait while one is answered.
    private static let maximumBacklog = 128 << 10
    /// Targets remembered per connection.
    private static let memory = 64

    private let service: ProxyService
    private var parser = RequestParser()
    private var exchange: Task<Void, Never>?
    private var isClosing = false
    /// A request whose body has not come yet.
    private var unfinished: (head: RequestHead, body: RequestBody)?
    private var wantsContinue = false
    /// When the connection is closed if nothing happens; `nil` while a request is answered.
    private var deadline: NIODeadline?
    private var timer: Scheduled<Void>?
    private var known: [String: KnownResource] = [:]
    private var last: (target: String, known: KnownResource)?
    private var acceptedHost: String?

    /// What was worked out for a target, so that the next request for it costs less.
    private final class KnownResource {
        let resource: MediaResource
        var generation = ""
        /// Changes when the response was freshened, and its fields with it.
        var responseTime: Int64?
        var hitFields = ByteBuffer()
        var audience = Audience.player
        var file: SharedFile?

        init(_ resource: MediaResource) { self.resource = resource }
    }

    /// Ranges up to this size are copied behind their head and leave in one write; larger ones go out with `sendfile`.
    private static let copiedBytes = 32 << 10

    init(service: ProxyService) { self.service = service }

    func channelActive(context: ChannelHandlerContext) {
        arm(context, seconds: service.configuration.headTimeout)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        exchange?.cancel()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        service.logger.debug("connection failed", metadata: ["error": "\(error)"])
        context.close(promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        parser.append(unwrapInboundIn(data))
        if exchange != nil, parser.bufferedBytes > Self.maximumBacklog {
            context.close(promise: nil)
            return
        }
        process(context)
    }

    /// Answers what is complete; flushes once for all of it.
    private func process(_ context: ChannelHandlerContext) {
        var hasAnswered = false
        while exchange == nil, !isClosing {
            do throws(RequestParser.Refusal) {
                guard let head = try nextRequest() else { break }
                deadline = nil
                answer(head, context)
                hasAnswered = true
            } catch {
                refuse(error.status, error.reason, context)
                hasAnswered = true
            }
        }
        if wantsContinue {
            wantsContinue = false
            if unfinished != nil {
                context.write(
                    wrapOutboundOut(.byteBuffer(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n"))), promise: nil)
                context.flush()
            }
        }
        if hasAnswered { context.flush() }
        if exchange == nil, !isClosing, hasAnswered { arm(context, seconds: service.configuration.idleTimeout) }
    }

    /// The next complete request, its body with it.
    private func nextRequest() throws(RequestParser.Refusal) -> RequestHead? {
        if unfinished == nil {
            guard let head = try parser.next() else { return nil }
            guard let body = try RequestBody(of: head) else { return head }
            if head.value("expect")?.lowercased() == "100-continue" { wantsContinue = true }
            unfinished = (head, body)
        }
        guard var (request, body) = unfinished.take() else { return nil }
        guard let bytes = try parser.take(&body) else {
            unfinished = (request, body)
            return nil
        }
        request.body = bytes
        return request
    }

    /// Sets the deadline.
    ///
    /// One timer a connection looks after it and sets itself again: most deadlines never come.
    private func arm(_ context: ChannelHandlerContext, seconds: Int) {
        deadline = .now() + .seconds(Int64(seconds))
        if timer == nil { watch(context, for: .seconds(Int64(seconds))) }
    }

    private func watch(_ context: ChannelHandlerContext, for amount: TimeAmount) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        timer = context.eventLoop.scheduleTask(in: amount) {
            let (handler, context) = bound.value
            handler.timer = nil
            guard let deadline = handler.deadline else { return }
            let remaining = deadline - .now()
            if remaining <= .zero { context.close(promise: nil) } else { handler.watch(context, for: remaining) }
        }
    }

    // MARK: - One request

    private func answer(_ head: RequestHead, _ context: ChannelHandlerContext) {
        guard head.count("host") == 1 || (!head.isHTTP11 && head.count("host") == 0) else {
            return refuse(400, "A request has exactly one Host field (RFC 9112 §3.2).", context)
        }
        let host = head.value("host")
        guard host == acceptedHost && host != nil || service.accepts(host: host) else {
            return refuse(403, "Host does not name this machine. Use http://127.0.0.1 or http://localhost.", context)
        }
        acceptedHost = host
        var head = head
        switch service.browsers.judge(head) {
        case .answer(let audience): head.audience = audience
        case .preflight(let page): return write(ResponseHead.preflight(of: page, head), head, context)
        case .refuse(let reason): return refuse(403, reason, context)
        }
        switch head.method {
        case .options:
            return write(
                ResponseHead.empty(204, fields: [("Allow", Self.methods)], audience: head.audience, head.keepsAlive),
                head, context)
        case .other(let name) where name == "CONNECT" || name == "TRACE":
            let text = "\(name) is not supported.\n"
            let answer = ResponseHead.text(405, text, fields: [("Allow", Self.methods)], keepAlive: head.keepsAlive)
            return write(answer, head, context)
        case .get, .head, .other: break
        }
        do throws(ProxyTarget.Refusal) {
            guard let known = try resolve(head.target) else {
                let page = ResponseHead.text(
                    200, service.indexPage, audience: head.audience, keepAlive: head.keepsAlive,
                    isHead: head.method == .head)
                return write(page, head, context)
            }
            if !answerFromStore(head, known, context) { begin(head, known.resource, context) }
        } catch {
            let answer = ResponseHead.text(
                error.status, error.reason + "\n", audience: head.audience, keepAlive: head.keepsAlive,
                isHead: head.method == .head)
            write(answer, head, context)
        }
    }

    /// What `target` names; players ask for the same one again and again.
    ///
    /// `nil` = the index page.
    private func resolve(_ target: String) throws(ProxyTarget.Refusal) -> KnownResource? {
        if let last, last.target == target { return last.known }
        if known[target] == nil {
            guard let resource = try service.resolve(target) else { return nil }
            if known.count >= Self.memory { known = [:] }
            known[target] = KnownResource(resource)
        }
        last = known[target].map { (target, $0) }
        return last?.known
    }

    private static let methods = "GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE"

    /// Answers with a region that is stored and verified; false if more than that is needed.
    private func answerFromStore(_ head: RequestHead, _ known: KnownResource, _ context: ChannelHandlerContext) -> Bool
    {
        guard head.method == .get else { return false }
        let directives = head.hasNoDirectives ? nil : head.directives
        let isConditional = RequestPlan.isConditional(head)
        let stored = isConditional ? known.resource.usableInformation(directives ?? CacheControl()) : nil
        let ranges = RequestPlan.ranges(head)
        guard !isConditional || stored != nil, ranges.count < 2,
            case .send(let spec) = RequestPlan(head, ranges, stored),
            let (region, information) = known.resource.storedRegion(spec, directives: directives),
            spec == nil || information.completeLength != nil,
            let file = file(known, region, information, head.audience)
        else { return false }
        let isCopied = region.count <= Self.copiedBytes
        var buffer = ResponseHead.hit(
            known.hitFields, range: region.range, isPartial: spec != nil, information: information,
            keepAlive: head.keepsAlive, now: service.wallClock(), roomForBody: isCopied ? region.count : 0)
        // What the disk does not give is fetched.
        if isCopied, (try? buffer.writeBytes(of: region)) == nil { return false }
        service.cache.noteServed(known.resource, bytes: region.count)
        context.write(wrapOutboundOut(.byteBuffer(buffer)), promise: nil)
        if !isCopied {
            let promise = context.eventLoop.makePromise(of: Void.self)
            // The write holds the descriptor, and eviction off the bytes, until it is over.
            promise.futureResult.whenComplete { result in
                if case .failure(let error) = result, error.isOfDisk { region.reportUnreadable() }
                withExtendedLifetime((file, region)) {}
            }
            context.write(wrapOutboundOut(.fileRegion(file.region(region.range))), promise: promise)
        }
        if service.logger.logLevel <= .info { log(head, known.resource, spec == nil ? 200 : 206, "hit") }
        if !head.keepsAlive { closeAfterFlush(context) }
        return true
    }

    /// This connection's descriptor for the region's file.
    private func file(
        _ known: KnownResource, _ region: StoredRegion, _ information: ContentInformation, _ audience: Audience
    ) -> SharedFile? {
        if known.responseTime != information.responseTime || known.generation != information.generation
            || known.audience != audience
        {
            known.hitFields = ResponseHead.hitFields(information, for: audience)
            known.responseTime = information.responseTime
            known.audience = audience
        }
        if let file = known.file, known.generation == information.generation { return file }
        guard let file = try? SharedFile(region, generation: information.generation) else { return nil }
        known.file = file
        known.generation = information.generation
        return file
    }

    /// Starts the exchange of a request that may have to wait.
    private func begin(_ head: RequestHead, _ resource: MediaResource, _ context: ChannelHandlerContext) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let loop = context.eventLoop
        let exchange = Exchange(head: head, resource: resource, service: service, channel: context.channel)
        self.exchange = service.startExchange {
            let keepAlive = await exchange.run()
            loop.execute {
                let (handler, context) = bound.value
                handler.exchangeEnded(keepAlive: keepAlive, context)
            }
        }
    }

    private func exchangeEnded(keepAlive: Bool, _ context: ChannelHandlerContext) {
        exchange = nil
        guard keepAlive, context.channel.isActive else {
            isClosing = true
            context.close(promise: nil)
            return
        }
        arm(context, seconds: service.configuration.idleTimeout)
        process(context)
    }

    private func log(_ head: RequestHead, _ resource: MediaResource, _ status: Int, _ outcome: String) {
        service.logger.info(
            "request",
            metadata: [
                "method": "GET", "url": "\(resource.url.redacted)", "range": "\(head.value("range") ?? "-")",
                "status": "\(status)", "cache": "\(outcome)",
            ])
    }

    // MARK: - Writing

    private func write(_ buffer: ByteBuffer, _ head: RequestHead, _ context: ChannelHandlerContext) {
        context.write(wrapOutboundOut(.byteBuffer(buffer)), promise: nil)
        if !head.keepsAlive { closeAfterFlush(context) }
    }

    private func refuse(_ status: Int, _ reason: String, _ context: ChannelHandlerContext) {
        let buffer = ResponseHead.text(status, reason + "\n", keepAlive: false)
        context.write(wrapOutboundOut(.byteBuffer(buffer)), promise: nil)
        closeAfterFlush(context)
    }

    /// Closes once everything written before has left.
    private func closeAfterFlush(_ context: ChannelHandlerContext) {
        isClosing = true
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.writeAndFlush(wrapOutboundOut(.byteBuffer(ByteBuffer()))).whenComplete { _ in
            bound.value.close(promise: nil)
        }
    }
}
