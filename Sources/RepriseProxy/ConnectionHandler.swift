import HTTPSemantics
import HTTPTypes
import Logging
import NIOCore
import Reprise

/// One client connection: parses, answers hits on the event loop, hands everything else to an ``Exchange``.
///
/// Everything here runs on the channel's event loop. One request is answered at a time, pipelined ones wait, and none is
/// answered while bytes of earlier answers wait for the client. `ConnectionWatch` keeps the time.
final class ConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = IOData

    /// Bytes of further requests from which on the socket is not read while they cannot be answered.
    private static let maximumBacklog = 128 << 10
    /// Bytes that one read may bring beyond ``maximumBacklog``.
    private static let backlogSlack = 256 << 10
    /// Bytes that a client may send after our end of the connection before it is cut off.
    private static let maximumSurplus = 4 << 20
    /// Answers made before their bytes are handed to the kernel.
    private static let answersAtOnce = 2
    /// Targets remembered per connection.
    private static let memory = 8

    private let service: ProxyService
    private let watch: ConnectionWatch
    /// There are too many connections: this one is told so.
    private let isSurplus: Bool
    private var context: ChannelHandlerContext?
    private var parser = RequestParser()
    /// A request whose body has not come yet.
    private var unfinished: (head: RequestHead, body: RequestBody)?
    private var wantsContinue = false
    private var work = Work.none
    private let regionOnItsWay = RegionOnItsWay()
    private var ending = Ending.open
    private var isInputClosed = false
    private var isProcessing = false
    private var isReading = true
    private var surplus = 0
    private var deadline: ConnectionDeadline
    private var hasAnswered = false
    /// Counts requests, answers and pieces handed to the kernel.
    private var events: UInt64 = 0
    /// Responses and bytes that were answered from the store and not counted yet: the kernel has not got them all.
    private var uncounted = (reads: Int64(0), bytes: Int64(0))
    private var known: [String: KnownResource] = [:]
    private var last: (target: String, known: KnownResource)?
    private var acceptedHost: String?

    private enum Work {
        case none
        /// A task answers.
        case exchange(Task<Void, Never>, InterimGate)
        /// A stored response leaves, region by region.
        case hit(OutgoingHit)
    }

    private enum Ending {
        /// Requests are answered.
        case open
        /// No further request is answered; what was answered leaves.
        case lastAnswer
        /// Our end of the connection is closed, what still comes is dropped.
        case farewell
    }

    /// What was worked out for a target, so that the next request for it costs less.
    private final class KnownResource {
        let resource: MediaResource
        var generation = ""
        /// Changes when the response was freshened, and its fields with it.
        var responseTime: Int64?
        var hitFields = ByteBuffer()
        var audience = Audience.player

        init(_ resource: MediaResource) { self.resource = resource }

        func note(_ information: ContentInformation, for audience: Audience) {
            guard
                responseTime != information.responseTime || generation != information.generation
                    || self.audience != audience
            else { return }
            hitFields = ResponseHead.hitFields(information, for: audience)
            responseTime = information.responseTime
            generation = information.generation
            self.audience = audience
        }
    }

    /// Ranges up to this size are copied behind their head and leave in one write; larger ones go out with `sendfile`.
    private static let copiedBytes = 32 << 10

    init(service: ProxyService, watch: ConnectionWatch, isSurplus: Bool) {
        self.service = service
        self.watch = watch
        self.isSurplus = isSurplus
        deadline = ConnectionDeadline(service.configuration.deadlines)
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelActive(context: ChannelHandlerContext) {
        watch.add(self)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        watch.remove(self)
        if case .exchange(let task, _) = work { task.cancel() }
        work = .none
        ending = .farewell
        // What the kernel never got was not delivered.
        uncounted.bytes = 0
        countDelivered()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        service.log(.debug, "connection failed", ["error": "\(error)"])
        context.close(promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        guard ending == .open else {
            surplus += bytes.readableBytes
            if surplus > Self.maximumSurplus { context.close(promise: nil) }
            return
        }
        parser.append(bytes)
        process(context)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            events &+= 1
            countDelivered()
            process(context)
        }
        context.fireChannelWritabilityChanged()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? ChannelEvent, event == .inputClosed {
            isInputClosed = true
            // A client that left and one that only says that it has no more requests look the same. Something that every
            // client has to ignore tells them apart: the kernel of one that left refuses it (RFC 9110 §15.2).
            if case .exchange(_, let interim) = work { interim.pass(HTTPResponse(status: .continue)) }
            settle(context)
        }
        context.fireUserInboundEventTriggered(event)
    }

    /// Answers what is complete, as far as the client takes it.
    private func process(_ context: ChannelHandlerContext) {
        // A flush may bring the news that all was written before it returns.
        guard !isProcessing else { return }
        isProcessing = true
        while canAnswer, context.channel.isWritable {
            var answers = 0
            while canAnswer, answers < Self.answersAtOnce, answerNext(context) { answers += 1 }
            if wantsContinue, unfinished != nil { tellToContinue(context) }
            wantsContinue = false
            guard answers > 0 else { break }
            context.flush()
        }
        isProcessing = false
        settle(context)
    }

    private var canAnswer: Bool {
        guard ending == .open, case .none = work else { return false }
        return true
    }

    /// Answers the next request; false if none is complete.
    private func answerNext(_ context: ChannelHandlerContext) -> Bool {
        do throws(RequestParser.Refusal) {
            guard let head = try nextRequest() else { return false }
            answer(head, context)
        } catch {
            refuse(error.status, error.reason, context)
        }
        hasAnswered = true
        events &+= 1
        return true
    }

    private func tellToContinue(_ context: ChannelHandlerContext) {
        context.write(wrapOutboundOut(.byteBuffer(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n"))), promise: nil)
        context.flush()
    }

    /// Reads on or not, and ends the connection if nothing is left to do on it.
    private func settle(_ context: ChannelHandlerContext) {
        let isFull = ending == .open && parser.bufferedBytes > Self.maximumBacklog && unfinished == nil
        if isFull, parser.bufferedBytes > Self.maximumBacklog + Self.backlogSlack {
            // With reading off the kernel still hands over all that it has when the client closes its side.
            return context.close(promise: nil)
        }
        if isReading == isFull {
            isReading = !isFull
            // A channel that is closing refuses, and reads no more anyway.
            try? context.channel.syncOptions?.setOption(.autoRead, value: isReading)
        }
        guard case .none = work, context.channel.isWritable else { return }
        switch ending {
        case .open: if isInputClosed { context.close(promise: nil) }
        case .lastAnswer: if isSurplus { context.close(promise: nil) } else { sayFarewell(context) }
        case .farewell: if isInputClosed { context.close(promise: nil) }
        }
    }

    /// Closes our end only: with bytes unread, or still to come, the kernel would tell the client that all is lost,
    /// and the client might drop the answer (RFC 9112 §9.6).
    private func sayFarewell(_ context: ChannelHandlerContext) {
        ending = .farewell
        events &+= 1
        if isInputClosed { context.close(promise: nil) } else { context.close(mode: .output, promise: nil) }
    }

    private func countDelivered() {
        guard uncounted != (0, 0) else { return }
        service.cache.noteServed(reads: uncounted.reads, bytes: uncounted.bytes)
        uncounted = (0, 0)
    }

    // MARK: - Time

    /// Ends the connection if nothing has happened on it for too long.
    func look(at now: Duration) {
        guard let context else { return }
        var sight = ConnectionDeadline.Sight(waiting: waiting(context), events: events)
        if sight.waiting == .client || sight.waiting == .farewell {
            sight.pending = pending(context)
            if sight.waiting == .farewell, sight.pending > 0 { sight.waiting = .client }
            if regionOnItsWay.isCutOff() { return context.close(promise: nil) }
        }
        if deadline.isOver(sight, at: now) { context.close(promise: nil) }
    }

    private func waiting(_ context: ChannelHandlerContext) -> ConnectionDeadline.Waiting {
        if ending == .farewell { return .farewell }
        if !context.channel.isWritable { return .client }
        guard case .none = work else { return .answer }
        return hasAnswered ? .request : .firstRequest
    }

    /// Bytes that the client has not acknowledged.
    private func pending(_ context: ChannelHandlerContext) -> Int {
        let buffered = (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
        return buffered + SocketOptions.unacknowledged(context)
    }

    // MARK: - Reading requests

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

    // MARK: - One request

    private func answer(_ head: RequestHead, _ context: ChannelHandlerContext) {
        guard !isSurplus else {
            return refuse(503, "There are too many connections.", fields: [("Retry-After", "1")], context)
        }
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
            let hit = known.resource.storedHit(spec, atMost: OutgoingHit.firstRegion, directives: directives)
        else { return false }
        known.note(hit.information, for: head.audience)
        let count = Int(hit.range.upperBound - hit.range.lowerBound)
        let isCopied = count <= Self.copiedBytes
        var buffer = ResponseHead.hit(
            known.hitFields, range: hit.range, isPartial: spec != nil, information: hit.information,
            keepAlive: head.keepsAlive, now: service.wallClock(), roomForBody: isCopied ? count : 0)
        // What the disk does not give, or not at once, an exchange brings.
        if isCopied, (try? buffer.writeResidentBytes(of: hit.region)) != true { return false }
        context.write(wrapOutboundOut(.byteBuffer(buffer)), promise: nil)
        service.cache.noteUse(of: known.resource)
        if service.isLoggingRequests { log(head, known.resource, spec == nil ? 200 : 206, "hit") }
        uncounted.reads += 1
        if isCopied {
            uncounted.bytes += Int64(count)
            if !head.keepsAlive { ending = .lastAnswer }
        } else {
            let outgoing = OutgoingHit(
                head: head, resource: known.resource, generation: hit.information.generation,
                end: hit.range.upperBound)
            work = .hit(outgoing)
            send(hit.region, of: outgoing, context)
        }
        return true
    }

    /// Hands a region to the kernel, from memory: what would have to come from the disk is read on another thread first.
    private func send(_ region: StoredRegion, of hit: OutgoingHit, _ context: ChannelHandlerContext) {
        guard region.isResident else {
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            let loop = context.eventLoop
            _ = service.startExchange { [service] in
                await service.warm(region)
                loop.execute {
                    let (handler, context) = bound.value
                    handler.write(region, of: hit, context)
                    context.flush()
                }
            }
            return
        }
        write(region, of: hit, context)
    }

    private func write(_ region: StoredRegion, of hit: OutgoingHit, _ context: ChannelHandlerContext) {
        guard context.channel.isActive else { return }
        let file = RegionFile(region)
        regionOnItsWay.set(region)
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let promise = context.eventLoop.makePromise(of: Void.self)
        promise.futureResult.whenComplete { result in
            let (handler, context) = bound.value
            handler.regionOnItsWay.set(nil)
            switch result {
            case .success: handler.handedOver(file.stored, of: hit, context)
            case .failure(let error): if error.isOfDisk { file.stored.reportUnreadable() }
            }
        }
        context.write(wrapOutboundOut(.fileRegion(file.region)), promise: promise)
    }

    /// The kernel has `region`: the next one follows.
    private func handedOver(_ region: StoredRegion, of hit: OutgoingHit, _ context: ChannelHandlerContext) {
        uncounted.bytes += Int64(region.count)
        events &+= 1
        let position = region.range.upperBound
        if position == hit.end {
            work = .none
            if !hit.head.keepsAlive { ending = .lastAnswer }
            return process(context)
        }
        if let next = region.following(OutgoingHit.size(after: region), upTo: hit.end) {
            send(next, of: hit, context)
            context.flush()
        } else {
            // It was evicted, or the disk does not give it: an exchange brings the rest.
            begin(hit.head, hit.resource, context) { await $0.sendRest(position..<hit.end, of: hit.generation) }
        }
    }

    /// Starts the exchange of a request that may have to wait.
    private func begin(
        _ head: RequestHead, _ resource: MediaResource, _ context: ChannelHandlerContext,
        _ run: @escaping @Sendable (Exchange) async -> Bool = { await $0.run() }
    ) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let loop = context.eventLoop
        let exchange = Exchange(
            head: head, resource: resource, service: service, channel: context.channel, regionOnItsWay: regionOnItsWay)
        let task = service.startExchange {
            let keepAlive = await run(exchange)
            loop.execute {
                let (handler, context) = bound.value
                handler.exchangeEnded(keepAlive: keepAlive, context)
            }
        }
        work = .exchange(task, exchange.interim)
    }

    private func exchangeEnded(keepAlive: Bool, _ context: ChannelHandlerContext) {
        work = .none
        events &+= 1
        guard context.channel.isActive else { return }
        if !keepAlive { ending = .lastAnswer }
        process(context)
    }

    private func log(_ head: RequestHead, _ resource: MediaResource, _ status: Int, _ outcome: String) {
        service.log(
            .info, "request",
            [
                "method": "GET", "url": "\(resource.url.redacted)", "range": "\(head.value("range") ?? "-")",
                "status": "\(status)", "cache": "\(outcome)",
            ])
    }

    // MARK: - Writing

    private func write(_ buffer: ByteBuffer, _ head: RequestHead, _ context: ChannelHandlerContext) {
        context.write(wrapOutboundOut(.byteBuffer(buffer)), promise: nil)
        if !head.keepsAlive { ending = .lastAnswer }
    }

    private func refuse(
        _ status: Int, _ reason: String, fields: [(String, String)] = [], _ context: ChannelHandlerContext
    ) {
        let buffer = ResponseHead.text(status, reason + "\n", fields: fields, keepAlive: false)
        context.write(wrapOutboundOut(.byteBuffer(buffer)), promise: nil)
        ending = .lastAnswer
    }
}
