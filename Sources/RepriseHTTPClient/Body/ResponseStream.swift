import NIOCore
import Primitives
import Reprise

/// A body in transfer: the machine behind its lock, and the continuation of a waiting consumer.
///
/// The loop publishes pieces; the consumer takes buffered ones without leaving its thread. Continuations are resumed
/// and the loop is woken outside the lock.
final class ResponseStream: Sendable {
    private struct Guarded {
        var body: WindowedBody
        var waiter: CheckedContinuation<ByteBuffer?, any Error>?

        /// Takes the waiter for a delivery, if there is one.
        mutating func wake(_ delivery: BodyMachine<ByteBuffer>.Delivery?) -> (() -> Void)? {
            guard let delivery, let waiter else { return nil }
            self.waiter = nil
            return { waiter.resume(with: delivery.result) }
        }
    }

    private let guarded: Mutex<Guarded>
    let connection: Connection
    /// The place in the pool, which the handler returns when the body ends.
    let slot: PoolSlot
    /// How the end of the body is marked on the wire.
    let framing: BodyFraming
    /// Maximum time without a byte from the origin while the consumer waits.
    let patience: TimeAmount

    init(
        connection: Connection, slot: PoolSlot, framing: BodyFraming, window: Int, patience: TimeAmount
    ) {
        self.patience = patience
        self.connection = connection
        self.slot = slot
        self.framing = framing
        self.guarded = Mutex(Guarded(body: WindowedBody(window: window)))
    }

    /// Number of bytes that have arrived and were not taken yet.
    var bufferedBytes: Int { guarded.withLock { $0.body.machine.queue.byteCount } }

    // MARK: The consumer

    func next() async throws -> ByteBuffer? {
        if Task.isCancelled { cancel(byTask: true) }
        if let result = takeBuffered() { return try result.get() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if let result = wait(continuation) { continuation.resume(with: result) }
            }
        } onCancel: {
            cancel(byTask: true)
        }
    }

    /// Cancels the transfer; the loop then drains the bytes that the system holds and closes the connection.
    func cancel(byTask: Bool) {
        guard guarded.withLock({ $0.body.cancel(byTask: byTask) }) else { return }
        connection.drain(self)
    }

    /// Ends the transfer without a consumer: closes the connection unless the body is complete.
    func abandon() {
        guard guarded.withLock({ $0.body.cancel(byTask: false) }) else { return }
        connection.abandon(self)
    }

    private func takeBuffered() -> Result<ByteBuffer?, any Error>? {
        let taken = guarded.withLock { guarded in
            guarded.body.take().map { ($0.delivery.result, $0.wakesLoop) }
        }
        guard let (result, wakesLoop) = taken else { return nil }
        if wakesLoop { connection.wake(self) }
        return result
    }

    private func wait(_ continuation: CheckedContinuation<ByteBuffer?, any Error>) -> Result<ByteBuffer?, any Error>? {
        let now = Duration.uptime
        let (result, wakesLoop) = guarded.withLock { guarded -> (Result<ByteBuffer?, any Error>?, Bool) in
            // Something may have arrived since takeBuffered() looked.
            if let taken = guarded.body.take() { return (taken.delivery.result, taken.wakesLoop) }
            guarded.waiter = continuation
            return (nil, guarded.body.wait(now: now))
        }
        if wakesLoop { connection.wake(self) }
        return result
    }

    // MARK: The event loop

    /// Publishes the pieces of one read.
    ///
    /// Returns whether to read again.
    func publish(_ pieces: inout BodyQueue<ByteBuffer>) -> Bool {
        let (resume, readsOn) = guarded.withLock { guarded in
            (guarded.wake(guarded.body.received(&pieces)), guarded.body.readCompleted())
        }
        resume?()
        return readsOn
    }

    /// Publishes the last pieces and the ending.
    func finish(_ pieces: inout BodyQueue<ByteBuffer>, ending: BodyEnding) {
        let (first, second) = guarded.withLock { guarded in
            let first = guarded.wake(guarded.body.received(&pieces))
            return (first, guarded.wake(guarded.body.finished(ending)))
        }
        first?()
        second?()
    }

    /// The current pace of the consumer, and its pace at the last call.
    func lookAtPace() -> (pace: BodyPace, before: BodyPace) {
        guarded.withLock { guarded in
            let before = guarded.body.pace
            guarded.body.lookAtPace()
            return (guarded.body.pace, before)
        }
    }

    func checkIdle(timeout: Duration) -> BodyMachine<ByteBuffer>.IdleCheck {
        let now = Duration.uptime
        return guarded.withLock { $0.body.checkIdle(now: now, timeout: timeout) }
    }
}

extension Duration {
    /// The time since the system was started.
    fileprivate static var uptime: Duration { .nanoseconds(Int64(clamping: NIODeadline.now().uptimeNanoseconds)) }
}

/// The consumer's end of a ``ResponseStream``; when it is released, the transfer ends.
final class ResponseBody: OriginBody {
    let stream: ResponseStream

    init(_ stream: ResponseStream) {
        self.stream = stream
    }

    deinit {
        stream.abandon()
    }

    func next() async throws -> (any ByteChunk)? {
        try await stream.next().map(ByteBufferChunk.init)
    }

    func cancel() {
        stream.cancel(byTask: false)
    }

    /// Reads and discards the body, so that its connection can be reused; stops after `limit` bytes.
    ///
    /// A body that ends with its connection is not worth reading.
    func discard(upTo limit: Int) async {
        if stream.framing.isWorthDiscarding(limit: limit) {
            var total = 0
            while total <= limit, let piece = try? await stream.next() { total += piece.readableBytes }
        }
        stream.abandon()
    }
}

/// How the end of a body is marked on the wire; RFC 9112 §6.3.
enum BodyFraming: Equatable {
    /// There is no body: HEAD, 204, 304.
    case none
    /// `Content-Length` bytes.
    case length(Int64)
    /// Chunked transfer coding.
    case chunked
    /// The body ends with the connection.
    case untilClose

    func isWorthDiscarding(limit: Int) -> Bool {
        switch self {
        case .none, .chunked: true
        case .length(let length): length <= limit
        case .untilClose: false
        }
    }
}
