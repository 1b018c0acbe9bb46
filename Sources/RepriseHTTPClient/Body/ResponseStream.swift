import Locks
import NIOCore
import Reprise

/// A body in transfer: the machine behind its lock, and the continuation of a waiting consumer.
///
/// The loop publishes pieces; the consumer takes buffered ones without leaving its thread. Continuations are resumed
/// and the loop is woken outside the lock.
final class ResponseStream: Sendable {
    private struct Guarded {
        var machine: BodyMachine
        var waiter: CheckedContinuation<ByteBuffer?, any Error>?
        var failure: RepriseError?

        /// Takes the waiter for a delivery, if there is one.
        mutating func wake(_ delivery: BodyMachine.Delivery?) -> (() -> Void)? {
            guard let delivery, let waiter else { return nil }
            self.waiter = nil
            let result = result(of: delivery)
            return { waiter.resume(with: result) }
        }

        func result(of delivery: BodyMachine.Delivery) -> Result<ByteBuffer?, any Error> {
            switch delivery {
            case .piece(let piece): .success(piece)
            case .ending(.complete), .ending(.cancelled(byTask: false)): .success(nil)
            case .ending(.cancelled(byTask: true)): .failure(CancellationError())
            case .ending(.failed(let code)): .failure(failure ?? RepriseError(code, "The transfer failed."))
            case .busy:
                .failure(RepriseError(.invalidArgument, "A body has one consumer: another call of next() waits."))
            }
        }
    }

    private let guarded: Mutex<Guarded>
    let connection: Connection
    /// The place in the pool, which the handler returns when the body ends.
    let slot: PoolSlot
    /// How the end of the body is marked on the wire.
    let framing: BodyFraming
    /// Whether the connection may carry another request afterwards.
    let keepsAlive: Bool

    init(connection: Connection, slot: PoolSlot, framing: BodyFraming, keepsAlive: Bool, window: Int) {
        self.connection = connection
        self.slot = slot
        self.framing = framing
        self.keepsAlive = keepsAlive
        self.guarded = Mutex(Guarded(machine: BodyMachine(window: window)))
    }

    /// Number of bytes that have arrived and were not taken yet.
    var bufferedBytes: Int { guarded.withLock { $0.machine.queue.byteCount } }

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
        guard guarded.withLock({ $0.machine.cancel(byTask: byTask) }) else { return }
        connection.drain(self)
    }

    /// Ends the transfer without a consumer: closes the connection unless the body is complete.
    func abandon() {
        guard guarded.withLock({ $0.machine.cancel(byTask: false) }) else { return }
        connection.abandon(self)
    }

    private func takeBuffered() -> Result<ByteBuffer?, any Error>? {
        let taken = guarded.withLock { guarded in
            guarded.machine.take().map { (guarded.result(of: $0.delivery), $0.wakesLoop) }
        }
        guard let (result, wakesLoop) = taken else { return nil }
        if wakesLoop { connection.wake(self) }
        return result
    }

    private func wait(_ continuation: CheckedContinuation<ByteBuffer?, any Error>) -> Result<ByteBuffer?, any Error>? {
        let now = NIODeadline.now()
        let (result, wakesLoop) = guarded.withLock { guarded -> (Result<ByteBuffer?, any Error>?, Bool) in
            // Something may have arrived since takeBuffered() looked.
            if let taken = guarded.machine.take() { return (guarded.result(of: taken.delivery), taken.wakesLoop) }
            guarded.waiter = continuation
            return (nil, guarded.machine.wait(now: now))
        }
        if wakesLoop { connection.wake(self) }
        return result
    }

    // MARK: The event loop

    /// Publishes the pieces of one read.
    ///
    /// Returns whether to read again.
    func publish(_ pieces: inout PieceQueue) -> Bool {
        let (resume, readsOn) = guarded.withLock { guarded in
            (guarded.wake(guarded.machine.received(&pieces)), guarded.machine.readCompleted())
        }
        resume?()
        return readsOn
    }

    /// Publishes the last pieces and the ending.
    func finish(_ pieces: inout PieceQueue, _ ending: BodyMachine.Ending, failure: RepriseError? = nil) {
        let (first, second) = guarded.withLock { guarded in
            guarded.failure = failure
            let first = guarded.wake(guarded.machine.received(&pieces))
            return (first, guarded.wake(guarded.machine.finished(ending)))
        }
        first?()
        second?()
    }

    /// The current pace of the consumer, and its pace at the last call.
    func lookAtPace() -> (speed: BodyPace.Speed, before: BodyPace.Speed) {
        guarded.withLock { guarded in
            let before = guarded.machine.pace.speed
            return (guarded.machine.lookAtPace(), before)
        }
    }

    func checkIdle(timeout: TimeAmount) -> BodyMachine.IdleCheck {
        let now = NIODeadline.now()
        return guarded.withLock { $0.machine.checkIdle(now: now, timeout: timeout) }
    }
}
