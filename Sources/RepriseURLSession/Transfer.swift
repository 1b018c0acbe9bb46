import Dispatch
import Foundation
import HTTPTypes
import Primitives
import Reprise

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The parts of a session's task that a ``Transfer`` uses.
protocol TransferTask: AnyObject, Sendable {
    var taskIdentifier: Int { get }
    var response: URLResponse? { get }

    func resume()
    func suspend()
    func cancel()
}

extension URLSessionDataTask: TransferTask {}

/// One task of the session: the machine behind its lock, and the continuations of its waiters.
///
/// Continuations are resumed outside the lock. The task is used on `queue` only, so that suspend, resume and cancel
/// reach it in the order of their decisions.
final class Transfer: Sendable {
    private typealias HeadWaiter = CheckedContinuation<HTTPResponse, any Error>
    private typealias BodyWaiter = CheckedContinuation<Data?, any Error>

    private struct Guarded {
        var machine: TransferMachine
        var headWaiter: HeadWaiter?
        var bodyWaiter: BodyWaiter?
        /// Maximum time without a byte of the body while the consumer waits.
        var idleTimeout = Duration.zero

        /// Takes the body's waiter for a delivery, if there is one.
        mutating func wake(_ delivery: BodyMachine<Data>.Delivery?) -> (() -> Void)? {
            guard let delivery, let waiter = bodyWaiter else { return nil }
            bodyWaiter = nil
            return { waiter.resume(with: delivery.result) }
        }

        /// Ends the machine and takes the waiter, if there is one.
        mutating func end(_ ending: BodyEnding) -> (() -> Void)? {
            let wakesBody = wake(machine.finished(ending))
            return wakeHead() ?? wakesBody
        }

        /// Takes the waiter for the head if the machine has ended.
        mutating func wakeHead() -> (() -> Void)? {
            guard let waiter = headWaiter, case .ended(let ending) = machine.body.state else { return nil }
            headWaiter = nil
            return { waiter.resume(throwing: ending.error) }
        }
    }

    let identifier: Int
    private let request: OriginRequest
    private let task: any TransferTask
    private let queue: DispatchQueue
    private let patience: OriginPatience
    private let clock: CacheClock
    /// Called when the transfer is cut off.
    private let onCut: @Sendable () -> Void
    /// The beginning of the consumer's waits.
    private let start = SuspendingClock.now
    private let guarded: Mutex<Guarded>

    init(
        _ task: any TransferTask, for request: OriginRequest, queue: DispatchQueue, patience: OriginPatience,
        bounds: BufferBounds = .platform, clock: CacheClock = .system,
        onCut: @escaping @Sendable () -> Void = {}
    ) {
        self.identifier = task.taskIdentifier
        self.request = request
        self.task = task
        self.queue = queue
        self.patience = patience
        self.clock = clock
        self.onCut = onCut
        guarded = Mutex(Guarded(machine: TransferMachine(bounds: bounds)))
    }

    /// Number of bytes that have arrived and were not taken yet.
    var bufferedBytes: Int { guarded.withLock { $0.machine.body.queue.byteCount } }
    /// Length of the body in bytes, if the head declares it.
    var declaredLength: Int64? { guarded.withLock { $0.machine.declaredLength } }

    // MARK: The consumer

    /// Sends the request and returns the head.
    ///
    /// Must be called only once.
    func start() async throws -> HTTPResponse {
        let head = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (waiter: HeadWaiter) in
                let wake = guarded.withLock { guarded in
                    guarded.headWaiter = waiter
                    return guarded.wakeHead()
                }
                if let wake { return wake() }
                queue.async { self.task.resume() }
                queue.asyncAfter(deadline: .now() + patience.untilHead(of: request).inSeconds) { [weak self] in
                    self?.headIsDue()
                }
            }
        } onCancel: {
            cancel(byTask: true)
        }
        // The thread sanitizer sees this lock, which the session's queue has released, but not the hand-over in the
        // runtime.
        return guarded.withLock { _ in head }
    }

    func next() async throws -> Data? {
        if Task.isCancelled { cancel(byTask: true) }
        if let delivery = take() { return try delivery.result.get() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                if let delivery = wait(waiter) { waiter.resume(with: delivery.result) }
            }
        } onCancel: {
            cancel(byTask: true)
        }
    }

    /// Cancels the transfer; pieces already on their way from the system are still delivered.
    func cancel(byTask: Bool) {
        let (mustCancel, wake) = guarded.withLock { ($0.machine.cancel(byTask: byTask), $0.wakeHead()) }
        wake?()
        if mustCancel { queue.async { self.task.cancel() } }
    }

    private func take() -> BodyMachine<Data>.Delivery? {
        let (delivery, flow) = guarded.withLock { ($0.machine.take(), $0.machine.wantsFlow) }
        if flow != nil { queue.async { self.adjustFlow() } }
        return delivery
    }

    private func wait(_ waiter: BodyWaiter) -> BodyMachine<Data>.Delivery? {
        let now = start.duration(to: .now)
        let (delivery, startsTimer) = guarded.withLock { guarded -> (BodyMachine<Data>.Delivery?, Bool) in
            // Something may have arrived since take() looked.
            if let delivery = guarded.machine.take() { return (delivery, false) }
            guarded.bodyWaiter = waiter
            return (nil, guarded.machine.wait(now: now))
        }
        if startsTimer { checkIdle(after: guarded.withLock { $0.idleTimeout }) }
        return delivery
    }

    // MARK: The session, on `queue`

    func receive(_ response: URLResponse, losesBody: Bool = false) {
        do {
            let head = try ResponseHead(response, to: request)
            let idleTimeout = patience.withinBody(of: request, head.response)
            let (action, waiter) = guarded.withLock { guarded in
                guarded.idleTimeout = idleTimeout
                let action = guarded.machine.headArrived(
                    declaredLength: losesBody ? nil : head.declaredLength, canBeResumed: head.canBeResumed)
                guard action == .accept else { return (action, HeadWaiter?.none) }
                defer { guarded.headWaiter = nil }
                return (action, guarded.headWaiter)
            }
            waiter?.resume(returning: head.response)
            if action == .abort { fail(Failures.restarted(request.url)) }
        } catch {
            fail(error)
        }
    }

    func receive(_ data: Data) {
        let wake = guarded.withLock { $0.wake($0.machine.received(data)) }
        wake?()
        adjustFlow()
    }

    /// Handles the end of the task.
    func complete(_ error: (any Error)?) {
        #if canImport(FoundationNetworking)
            // There, a redirect without a usable Location ends without a head and loses its body.
            if error == nil, guarded.withLock({ $0.machine.awaitsHead }), let response = task.response {
                receive(response, losesBody: true)
            }
        #endif
        let wake = guarded.withLock { guarded in
            if guarded.machine.awaitsHead {
                return guarded.end(.failed(Failures.head(error ?? URLError(.badServerResponse), from: request.url)))
            }
            return guarded.end(
                error != nil || guarded.machine.isShort ? .failed(Failures.body(error, from: request.url)) : .complete)
        }
        wake?()
    }

    /// Ends the transfer with an error of this client.
    func fail(_ error: RepriseError) {
        guarded.withLock { $0.end(.failed(error)) }?()
        queue.async { self.task.cancel() }
    }

    private func cutOff() {
        onCut()
        fail(Failures.cut(request.url))
    }

    private func adjustFlow() {
        let now = clock.awake.elapsed()
        let (flow, time) = guarded.withLock { ($0.machine.adjustFlow(now: now), $0.machine.startSuspensionTimer()) }
        switch flow {
        case .suspend: task.suspend()
        case .resume: task.resume()
        case .cut: cutOff()
        case nil: break
        }
        if let time { checkSuspension(after: time) }
    }

    // MARK: Time

    private func headIsDue() {
        guard guarded.withLock({ $0.machine.awaitsHead }) else { return }
        fail(Failures.timedOut("did not answer", at: request.url, after: patience.untilHead(of: request)))
    }

    private func checkIdle(after time: Duration) {
        queue.asyncAfter(deadline: .now() + time.inSeconds) { [weak self] in self?.checkIdle() }
    }

    private func checkIdle() {
        let now = start.duration(to: .now)
        let (check, time) = guarded.withLock { guarded in
            (guarded.machine.checkIdle(now: now, timeout: guarded.idleTimeout), guarded.idleTimeout)
        }
        switch check {
        case .disarm: break
        case .checkAgain(let rest): checkIdle(after: rest)
        case .timedOut: fail(Failures.timedOut("sent nothing more", at: request.url, after: time))
        }
    }

    private func checkSuspension(after time: Duration) {
        Task { [weak self, clock] in
            var rest: Duration? = time
            while let time = rest, (try? await clock.awake.sleep(time)) != nil { rest = self?.checkSuspension() }
        }
    }

    /// The time until the next check; `nil` if there is nothing to check.
    private func checkSuspension() -> Duration? {
        let now = clock.awake.elapsed()
        switch guarded.withLock({ $0.machine.checkSuspension(now: now) }) {
        case .disarm: return nil
        case .checkAgain(let rest): return rest
        case .cut:
            cutOff()
            return nil
        }
    }
}

/// The consumer's end of a ``Transfer``; when it is released, the transfer ends.
final class TransferBody: OriginBody {
    private let transfer: Transfer

    init(_ transfer: Transfer) {
        self.transfer = transfer
    }

    deinit {
        transfer.cancel(byTask: false)
    }

    /// Number of bytes that have arrived and were not taken yet.
    var bufferedBytes: Int { transfer.bufferedBytes }

    func next() async throws -> (any ByteChunk)? {
        try await transfer.next().map(DataChunk.init)
    }

    func cancel() {
        transfer.cancel(byTask: false)
    }

    /// Reads and discards the body, so that its connection can be reused, if its head declares a short one.
    func discard(upTo limit: Int64) async {
        if let length = transfer.declaredLength, length <= limit {
            while (try? await transfer.next()) != nil {}
        }
        cancel()
    }
}
