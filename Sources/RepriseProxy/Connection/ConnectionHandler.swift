import HTTPSemantics
import HTTPTypes
import Logging
import NIOCore
import Reprise

/// One client connection: answers hits on the event loop and everything else in a task, in the order of the requests.
///
/// Everything here runs on the channel's event loop. One request is answered at a time; pipelined ones wait, and none
/// is answered while bytes of earlier answers wait for the client. `ConnectionWatch` enforces the deadlines.
final class ConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = IOData

    /// Number of bytes that a client may send after our side was closed, before the connection is cut.
    private static let maximumSurplus = 4 << 20
    /// Number of answers made before their bytes are passed to the kernel.
    private static let answersAtOnce = 2

    /// Bytes of a request for which no connection is closed.
    private static let usualRequest = 8 << 10

    let service: ProxyService
    private let watch: ConnectionWatch
    private let entrance: Entrance
    private var context: ChannelHandlerContext?
    private var requests: RequestReader
    private var work = Work.none
    let regionOnItsWay = RegionOnItsWay()
    private var ending = Ending.open
    private var isInputClosed = false
    private var isProcessing = false
    private var isReading = true
    private var surplus = 0
    private var deadline: ConnectionDeadline
    private var hasAnswered = false
    /// Counts requests, answers and pieces passed to the kernel.
    private var events: UInt64 = 0
    /// Bytes of the request that is being answered.
    private var answeredBytes = 0
    /// Bytes of requests that the connection holds.
    private(set) var heldBytes = 0
    private var ledger: AnswerLedger
    private var router: Router
    /// The file of the last request, and a hash that stands for the client.
    private var played: (known: KnownResource, player: Int)?

    private enum Work {
        case none
        /// A task is answering.
        case task(Task<Void, Never>, InterimGate)
        /// A task is carrying out a request for control, which the client withdraws when it closes its side.
        case control(Task<Void, Never>)
        /// A stored response is being sent, region by region.
        case hit
    }

    private enum Ending {
        /// Requests are being answered.
        case open
        /// No further request is answered; pending answers are sent.
        case lastAnswer
        /// Our side of the connection is closed; incoming bytes are dropped.
        case farewell
    }

    init(service: ProxyService, watch: ConnectionWatch, entrance: Entrance) {
        self.service = service
        self.watch = watch
        self.entrance = entrance
        deadline = ConnectionDeadline(service.configuration.deadlines)
        requests = RequestReader(serverName: service.configuration.name)
        requests.isTrusted = service.tokens == nil || entrance == .socket
        ledger = AnswerLedger(service: service, counts: watch.counts)
        router = Router(service: service, entrance: entrance)
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelActive(context: ChannelHandlerContext) {
        watch.add(self)
        ledger.note(peer: context.remoteAddress)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        watch.remove(self)
        noteHeld(0)
        switch work {
        case .task(let task, _), .control(let task): task.cancel()
        case .none, .hit: break
        }
        work = .none
        ending = .farewell
        ledger.brokenOff()
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
        requests.append(bytes)
        process(context)
        watch.relieve()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            events &+= 1
            ledger.delivered()
            process(context)
        }
        context.fireChannelWritabilityChanged()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? ChannelEvent, event == .inputClosed {
            isInputClosed = true
            // A client that has left and one that only has no more requests look the same. An interim response, which
            // every client has to ignore, distinguishes them: the kernel of a client that has left rejects it (RFC 9110
            // §15.2).
            switch work {
            case .task(_, let interim): interim.pass(HTTPResponse(status: .continue))
            case .control(let task): task.cancel()
            case .none, .hit: break
            }
            settle(context)
        }
        context.fireUserInboundEventTriggered(event)
    }

    /// Answers complete requests as long as the client reads the answers.
    private func process(_ context: ChannelHandlerContext) {
        // A flush may report that everything was written before it returns.
        guard !isProcessing else { return }
        isProcessing = true
        while canAnswer, context.channel.isWritable {
            var answers = 0
            while canAnswer, answers < Self.answersAtOnce, answerNext(context) { answers += 1 }
            if requests.takeContinue() { tellToContinue(context) }
            guard answers > 0 else { break }
            context.flush()
            ledger.flushed()
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
        do throws(Refusal) {
            guard var head = try requests.next() else { return false }
            if entrance == .surplus || watch.drain != .none { head.endsConnection = true }
            ledger.begin(head)
            answeredBytes = head.heldBytes
            answer(head, context: context)
        } catch {
            ledger.beginMalformed()
            write(OwnAnswer(error), to: nil, context: context)
        }
        hasAnswered = true
        events &+= 1
        return true
    }

    private func tellToContinue(_ context: ChannelHandlerContext) {
        context.write(wrapOutboundOut(.byteBuffer(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n"))), promise: nil)
        context.flush()
    }

    /// Decides whether to keep reading, and ends the connection if nothing is left to do.
    private func settle(_ context: ChannelHandlerContext) {
        if case .none = work { answeredBytes = 0 }
        if ending != .open {
            // Clients may take a while to close their side.
            requests.clear()
            router.forget()
        }
        noteHeld(requests.heldBytes + router.heldBytes + answeredBytes)
        let isFull = ending == .open && requests.isFull
        // With reading off the kernel still delivers all its bytes when the client closes its side.
        if isFull, requests.isOverfull { return context.close(promise: nil) }
        if isReading == isFull {
            isReading = !isFull
            // A channel that is closing rejects this, and no longer reads anyway.
            try? context.channel.syncOptions?.setOption(.autoRead, value: isReading)
        }
        guard case .none = work, context.channel.isWritable else { return }
        // An answer that had begun before did not say that it is the last.
        if ending == .open, watch.drain == .ending, hasAnswered, requests.isEmpty { ending = .lastAnswer }
        switch ending {
        case .open: if isInputClosed { context.close(promise: nil) }
        case .lastAnswer: if entrance == .surplus { context.close(promise: nil) } else { sayFarewell(context) }
        case .farewell: if isInputClosed { context.close(promise: nil) }
        }
    }

    /// Closes our side only: with bytes unread, or still arriving, the kernel would reset the connection, and the
    /// client might drop the answer (RFC 9112 §9.6).
    private func sayFarewell(_ context: ChannelHandlerContext) {
        ending = .farewell
        events &+= 1
        if isInputClosed { context.close(promise: nil) } else { context.close(mode: .output, promise: nil) }
    }

    private func noteHeld(_ count: Int) {
        watch.noteHeld(count, insteadOf: heldBytes)
        heldBytes = count
    }

    /// Forgets what later requests could do without; ends the connection if it still holds requests, because all
    /// connections together hold too many bytes.
    func giveUpRequests() {
        guard let context else { return }
        router.forget()
        let refusal = requests.isEmpty ? nil : requests.giveUp()
        switch (refusal, work, ending) {
        case (let refusal?, .none, .open) where context.channel.isWritable:
            ledger.beginMalformed()
            write(OwnAnswer(refusal), to: nil, context: context)
            context.flush()
            ledger.flushed()
            settle(context)
        case (nil, _, _) where answeredBytes <= Self.usualRequest: settle(context)
        // The request that is being answered may be the one that takes the memory.
        default: context.close(promise: nil)
        }
    }

    /// Ends a connection on which nothing happens, because the proxy ends.
    ///
    /// One that has not had a request yet is left alone: its first one may be on its way.
    func endIfIdle() {
        guard let context, hasAnswered, isIdle else { return }
        // Bytes that the client has not acknowledged might be lost if it sends anything now.
        if pending(context) == 0 { context.close(promise: nil) } else { settle(context) }
    }

    private var isIdle: Bool {
        guard case .none = work else { return false }
        return ending != .lastAnswer && requests.isEmpty
    }

    // MARK: - Time

    /// Ends the connection if it has been inactive for too long.
    func look(at now: Duration) {
        guard let context else { return }
        switch work {
        case .task, .hit: if let played { watch.note(played.known, by: played.player) }
        case .none, .control: break
        }
        if watch.drain == .ending, !hasAnswered, isIdle { return context.close(promise: nil) }
        var sight = ConnectionDeadline.Sight(waiting: waiting(context), events: events)
        if sight.waiting == .client || sight.waiting == .farewell {
            sight.pending = pending(context)
            if sight.waiting == .farewell, sight.pending > 0 { sight.waiting = .client }
            if sight.waiting == .farewell, watch.drain == .ending { return context.close(promise: nil) }
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

    /// Number of bytes that the client has not acknowledged.
    private func pending(_ context: ChannelHandlerContext) -> Int {
        let buffered = (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
        return buffered + SocketOptions.unacknowledged(context)
    }

    // MARK: - One request

    private func answer(_ head: consuming ClientHead, context: ChannelHandlerContext) {
        let destination: Router.Destination
        do throws(Refusal) { destination = try router.destination(of: &head) } catch {
            ledger.note(head.sender)
            return write(OwnAnswer(error), to: error.endsConnection ? nil : head, context: context)
        }
        ledger.note(head.sender)
        if head.sender != nil { requests.isTrusted = true }
        switch destination {
        case .own(let answer): write(answer, to: head, context: context)
        case .probe(let answer):
            ledger.leaveOut()
            write(answer, to: head, context: context)
        case .control(let request):
            if !request.isCounted { ledger.leaveOut() }
            begin(request, context: context)
        case .file(let known):
            guard ledger.takePlace() else { return write(OwnAnswer(.tooManyAnswers), to: head, context: context) }
            answer(MediaRequest(head), with: known, context: context)
        }
    }

    private func answer(_ request: MediaRequest, with known: KnownResource, context: ChannelHandlerContext) {
        guard request.head.method == .get else {
            return begin(request, known: known, context: context) { await $0.answer(by: nil) }
        }
        if played?.known !== known { played = (known, player(of: request.head, context)) }
        if let played { watch.note(known, by: played.player) }
        let plan = RequestPlan(request, to: known.resource, filter: service.filter(for: request.head.audience))
        // What is held to a rate waits between its pieces, which an event loop cannot.
        let isPaced = request.head.sender?.holder.token.rate != nil
        if !isPaced, let hit = HitAnswer(request, to: known, by: plan, service: service) {
            begin(hit, context: context)
        } else {
            begin(request, known: known, context: context) { await $0.answer(by: plan) }
        }
    }

    /// A hash that tells clients apart.
    private func player(of head: borrowing ClientHead, _ context: ChannelHandlerContext) -> Int {
        var hasher = Hasher()
        hasher.combine(context.remoteAddress?.ipAddress)
        hasher.combine(head.value("user-agent"))
        return hasher.finalize()
    }

    // MARK: - Hits

    private func begin(_ hit: HitAnswer, context: ChannelHandlerContext) {
        context.write(wrapOutboundOut(.byteBuffer(hit.beginning)), promise: nil)
        service.cache.noteUse(of: hit.known.key)
        service.log(
            hit.request, resource: hit.known.resource, status: hit.status, cache: "hit",
            isLogging: watch.isLoggingRequests)
        ledger.wrote(hit)
        if let region = hit.region {
            work = .hit
            OutgoingHit(hit, on: self, context: context).send(region)
        } else {
            if !hit.request.head.keepsAlive { ending = .lastAnswer }
        }
    }

    /// Notes that the kernel has accepted a region of a hit.
    func handedOver(_ region: StoredRegion) {
        ledger.handedOver(Int64(region.count))
        events &+= 1
    }

    /// What of `region` is passed to the kernel next, and what after that: the last byte of an answer that has a place
    /// goes by itself, and leaves the place.
    func next(of region: StoredRegion, in hit: HitAnswer) -> (StoredRegion, rest: StoredRegion?) {
        guard let place = ledger.place, region.range.upperBound == hit.range.upperBound else { return (region, nil) }
        guard region.count > 1 else {
            place.giveBack()
            return (region, nil)
        }
        return region.split(at: region.count - 1)
    }

    /// Goes on after the last region of a hit.
    func finished(_ hit: HitAnswer, context: ChannelHandlerContext) {
        work = .none
        ledger.hitEnded()
        if !hit.request.head.keepsAlive { ending = .lastAnswer }
        process(context)
    }

    /// Lets a read send the rest of a hit whose next region is missing.
    func sendRest(of hit: HitAnswer, from position: Int64, context: ChannelHandlerContext) {
        let (rest, generation) = (position..<hit.range.upperBound, hit.generation)
        ledger.endHit()
        begin(hit.request, known: hit.known, isRest: true, context: context) {
            await RestAnswer(context: $0, range: rest, generation: generation).send()
        }
    }

    // MARK: - Answers that may wait

    /// Starts the task that answers a request; `run` returns whether the connection can take another one.
    private func begin(
        _ request: MediaRequest, known: KnownResource, isRest: Bool = false, context: ChannelHandlerContext,
        _ run: @escaping @Sendable (AnswerContext) async -> Bool
    ) {
        let writer = writer(
            context, forHTTP11: request.head.isHTTP11, isRest: isRest, to: request.head.sender?.holder)
        let answer = AnswerContext(
            request: request, resource: known.resource, listed: known.listed, writer: writer)
        work = .task(startTask(context, writer.meter) { await run(answer) }, writer.interim)
    }

    /// Starts the task that carries out a request for control.
    private func begin(_ request: ControlRequest, context: ChannelHandlerContext) {
        let writer = writer(context, forHTTP11: false)
        work = .control(
            startTask(context, writer.meter) { await ControlAnswer(request: request, writer: writer).send() })
    }

    private func writer(
        _ context: ChannelHandlerContext, forHTTP11: Bool, isRest: Bool = false, to holder: TokenHolder? = nil
    ) -> ResponseWriter {
        ResponseWriter(
            service: service, channel: context.channel, interim: InterimGate(context.channel, isOpen: forHTTP11),
            regionOnItsWay: regionOnItsWay,
            meter: AnswerMeter(
                clock: service.configuration.clock, isInBody: isRest, keepsCacheStatus: service.accessLog != nil),
            holder: holder, place: ledger.place)
    }

    private func startTask(
        _ context: ChannelHandlerContext, _ meter: AnswerMeter, _ run: @escaping @Sendable () async -> Bool
    ) -> Task<Void, Never> {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let loop = context.eventLoop
        return service.startTask {
            let keepsAlive = await run()
            loop.execute {
                let (handler, context) = bound.value
                handler.ledger.taskEnded(meter.reading)
                handler.answered(keepsAlive: keepsAlive, context: context)
            }
        }
    }

    private func answered(keepsAlive: Bool, context: ChannelHandlerContext) {
        work = .none
        events &+= 1
        guard context.channel.isActive else { return }
        if !keepsAlive { ending = .lastAnswer }
        process(context)
    }

    // MARK: - Writing

    /// Writes an answer of the proxy's own; without a head it is the last one, to a request that was not understood.
    private func write(_ answer: OwnAnswer, to head: ClientHead?, context: ChannelHandlerContext) {
        let buffer = head.map { answer.buffer(to: $0) } ?? answer.buffer()
        context.write(wrapOutboundOut(.byteBuffer(buffer)), promise: nil)
        ledger.wrote(status: answer.status, bytes: head?.method == .head ? 0 : answer.text?.utf8.count ?? 0)
        if head?.keepsAlive != true { ending = .lastAnswer }
    }
}
