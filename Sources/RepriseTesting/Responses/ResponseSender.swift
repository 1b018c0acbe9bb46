internal import NIOCore

/// Sends one response: the head, then slices of the body, each once the kernel has taken the previous one.
///
/// That is the back-pressure: a client that does not read leaves one write of at most 64 KiB pending, and nothing
/// beyond it is generated. Lives on the event loop of its connection.
final class ResponseSender {
    /// The request, its connection and its answer.
    struct Exchange {
        let request: HTTPRequestSummary
        let connection: Int
        let representation: Int
        let reader: ContentReader?
        let personality: TestOrigin.Personality
        let answer: Answer
    }

    /// What happens to the connection.
    enum End {
        case keep
        case close
        case reset
    }

    /// Maximum number of bytes of one write.
    private static let mostBytesPerWrite: Int64 = 65_536
    /// Number of writes before other connections of the same thread get their turn.
    private static let writesPerTurn = 16

    private let exchange: Exchange
    private let state: OriginState
    private let channel: any Channel
    private let onEnd: (End) -> Void
    private var schedule: BodySchedule
    private var pacer: Pacer?
    private var isWriting = false
    private var isPumping = false
    private var isEnded = false

    private var path: String { exchange.request.path }
    private var eventLoop: any EventLoop { channel.eventLoop }

    init(_ exchange: Exchange, state: OriginState, channel: any Channel, onEnd: @escaping (End) -> Void) {
        self.exchange = exchange
        self.state = state
        self.channel = channel
        self.onEnd = onEnd
        schedule = BodySchedule(exchange)
        pacer = exchange.personality.bytesPerSecond.map { Pacer(bytesPerSecond: $0) }
    }

    // MARK: Head

    /// Starts the response; `onEnd` is called once, unless ``abandon()`` is called before.
    func start() {
        if exchange.personality.stallAfter != nil {
            state.arrange { [path, connection = exchange.connection] in $0.registerStall(path, connection: connection) }
        }
        let latency = TimeAmount(exchange.personality.latency)
        guard latency > .zero else { return sendHead() }
        eventLoop.assumeIsolated().scheduleTask(in: latency) { self.sendHead() }
    }

    private func sendHead() {
        guard !isEnded else { return }
        let wake = wake { $0.sendHead() }
        let mayPass = state.arrange { [path, connection = exchange.connection] in
            $0.mayPassHead(path, connection: connection, wake: wake)
        }
        guard mayPass else { return }
        if exchange.personality.resetBeforeHead { return end(.cut, at: .reset) }
        state.update { [exchange] in $0.answered(exchange.request, status: exchange.answer.status) }
        let head = channel.allocator.buffer(bytes: exchange.answer.head)
        write([.byteBuffer(head)], counting: nil)
        pump()
    }

    // MARK: Body

    /// Sends as much as the kernel accepts now.
    private func pump() {
        guard !isPumping else { return }
        isPumping = true
        defer { isPumping = false }
        var writes = 0
        while !isWriting, !isEnded {
            guard writes < Self.writesPerTurn || schedule.isAtEnd else {
                return eventLoop.assumeIsolated().execute { self.pump() }
            }
            writes += 1
            guard step() else { return }
        }
    }

    /// Takes the next step and returns whether another may follow immediately.
    private func step() -> Bool {
        let free = exchange.personality.firstChunk
        let isHeld = schedule.produced >= Int64(free) && pacer != nil && channel.hasUnsentBytes
        if isHeld { pacer?.sliceIsHeld() }
        if !schedule.isAtEnd, let delay = pacer?.delay(after: schedule.produced, free: free) {
            eventLoop.assumeIsolated().scheduleTask(in: delay) { self.pump() }
            return false
        }
        var hold: Int64?
        if let position = schedule.contentPosition {
            guard case .open(let limit) = clearance(from: position) else { return false }
            hold = [limit, exchange.reader?.wrap(after: position)].compactMap(\.self).min()
        }
        switch schedule.next(limit: sliceLimit, hold: hold) {
        case .send(let part): send(part)
        case .stall: return passStall()
        case .end: finish()
        case .cut(let isReset): end(.cut, at: isReset ? .reset : .close)
        }
        return true
    }

    private var sliceLimit: Int64 {
        let free = Int64(exchange.personality.firstChunk) - schedule.produced
        guard let pacer else { return Self.mostBytesPerWrite }
        return min(Self.mostBytesPerWrite, free > 0 ? free : pacer.bytesPerSlice)
    }

    private func clearance(from position: Int64) -> Ledger.Clearance {
        let wake = wake { $0.pump() }
        return state.arrange { [path, connection = exchange.connection] in
            $0.clearance(path, from: position, connection: connection, wake: wake)
        }
    }

    private func passStall() -> Bool {
        let wake = wake { $0.pump() }
        let mayPass = state.arrange { [path, connection = exchange.connection] in
            $0.mayPassStall(path, connection: connection, wake: wake)
        }
        if mayPass { schedule.passStall() }
        return mayPass
    }

    private func send(_ part: BodyPart) {
        pacer?.sent(part.length)
        state.arrange { $0.spend(part.length) }
        var data: [IOData] = []
        let isChunked = exchange.answer.framing == .chunked
        if isChunked { data.append(bytes("\(String(part.length, radix: 16))\r\n")) }
        data.append(content(of: part))
        if isChunked { data.append(bytes("\r\n")) }
        write(data, counting: counted(part))
    }

    private func content(of part: BodyPart) -> IOData {
        switch part {
        case .literal(let bytes):
            return .byteBuffer(channel.allocator.buffer(bytes: bytes))
        case .filler(let count):
            return .byteBuffer(channel.allocator.buffer(repeating: UInt8(ascii: "."), count: Int(count)))
        case .content(let range):
            guard let reader = exchange.reader else { return bytes("") }
            return reader.read(range, allocator: channel.allocator)
        }
    }

    /// The part with its offsets in the representation, which repeated content exceeds.
    private func counted(_ part: BodyPart) -> BodyPart {
        guard case .content(let range) = part, let reader = exchange.reader else { return part }
        return .content(reader.offsets(of: range))
    }

    private func bytes(_ text: String) -> IOData {
        .byteBuffer(channel.allocator.buffer(string: text))
    }

    /// Writes and flushes; counts `part` when the kernel has all of it.
    private func write(_ data: [IOData], counting part: BodyPart?) {
        guard let last = data.last else { return }
        isWriting = true
        for piece in data.dropLast() { channel.write(piece, promise: nil) }
        channel.writeAndFlush(last).assumeIsolated().whenSuccess { [self] in
            isWriting = false
            if let part {
                state.update { [exchange] in
                    $0.sent(part, to: exchange.request, representation: exchange.representation)
                }
            }
            pump()
        }
    }

    // MARK: End

    private func finish() {
        let close: End = exchange.answer.closes ? .close : .keep
        guard exchange.answer.framing == .chunked else { return end(.finished, at: close) }
        isWriting = true
        channel.writeAndFlush(bytes("0\r\n\r\n")).assumeIsolated().whenSuccess { [self] in end(.finished, at: close) }
    }

    /// Ends the response because the connection is gone.
    func abandon() {
        guard !isEnded else { return }
        conclude(.aborted)
    }

    private func end(_ outcome: HTTPRequestSummary.Outcome, at end: End) {
        guard !isEnded else { return }
        conclude(outcome)
        onEnd(end)
    }

    private func conclude(_ outcome: HTTPRequestSummary.Outcome) {
        isEnded = true
        state.update { [exchange] in
            $0.leave(exchange.request.path, connection: exchange.connection)
            $0.ended(exchange.request, with: outcome)
        }
    }

    /// A closure that any thread may call to continue with `action` on the event loop.
    private func wake(_ action: @escaping @Sendable (ResponseSender) -> Void) -> Ledger.Wake {
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        return { [eventLoop] in eventLoop.execute { action(bound.value) } }
    }
}
