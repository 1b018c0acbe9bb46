import Foundation
import Reprise

/// The state of one request and its body between the session, which sends events, and the consumer, which takes pieces.
///
/// A pure value: events go in, actions come out. ``Transfer`` guards it and performs the actions.
///
///     waiting ──head──► open ──finished(…)──────────────────────────► ended
///        │                └──cancel()──► draining ──finished(…)────────► ended
///        └──finished(…), cancel()─────────────────────────────────────► ended
///
/// Pieces that have arrived are delivered in every state; the ending comes after the last of them.
struct TransferMachine {
    enum State: Equatable {
        /// The head has not arrived.
        case waiting
        /// The origin is still sending.
        case open
        /// The transfer was canceled; bytes that the system has already received are still arriving.
        case draining(byTask: Bool)
        /// Nothing more arrives.
        case ended(Ending)
    }

    /// Why nothing more arrives.
    enum Ending {
        /// The body is complete.
        case complete
        /// The consumer canceled; `byTask` if its task was canceled.
        case cancelled(byTask: Bool)
        /// The connection, the origin, or the session failed.
        case failed(RepriseError)
    }

    /// The consumer's result.
    enum Delivery: Equatable {
        case piece(Data)
        case ending(Ending)
        /// Nothing: another call of the consumer is already waiting.
        case busy
    }

    /// How to handle a head.
    enum HeadAction: Equatable {
        /// It is the expected one.
        case accept
        /// The transfer has ended for its consumer.
        case ignore
        /// The body has already begun: the system restarted the transfer, and its bytes must not be mixed.
        case abort
    }

    /// What to do with the task so that the buffer stays within its bounds.
    enum Flow: Equatable {
        case suspend, resume
        /// Cancel it, and end the body as truncated: it kept delivering although it was suspended.
        case cut
    }

    /// How to handle a suspension that may have become too long.
    enum SuspensionCheck: Equatable {
        /// The task is running; no timer until it is suspended again.
        case disarm
        /// It is suspended, but not for long enough.
        case checkAgain(after: Duration)
        /// It was suspended for the whole time: cancel it, and end the body as truncated.
        case cut
    }

    /// How to handle a wait that may have become too long.
    enum IdleCheck: Equatable {
        /// The consumer is not waiting; no timer until it does.
        case disarm
        /// The consumer is waiting, but not long enough yet.
        case checkAgain(at: SuspendingClock.Instant)
        /// Nothing arrived for the whole time.
        case timedOut
    }

    private(set) var state = State.waiting
    private(set) var queue = PieceQueue()
    /// When the task was suspended.
    private(set) var suspendedSince: Duration?
    /// Whether a timer watches the suspension.
    private var isSuspensionTimed = false
    private var bytesAfterSuspension = 0
    /// Whether a timer watches the consumer's wait.
    private(set) var isTimed = false
    /// When the consumer began to wait.
    private(set) var waitingSince: SuspendingClock.Instant?
    /// Length of the body in bytes, if known.
    private(set) var declaredLength: Int64?
    /// Whether another request can fetch the rest of the body.
    private var canBeResumed = false
    private var receivedBytes: Int64 = 0
    private let bounds: BufferBounds

    init(bounds: BufferBounds) {
        self.bounds = bounds
    }

    /// Whether bytes declared by the head are missing.
    var isShort: Bool { receivedBytes < declaredLength ?? 0 }

    var isSuspended: Bool { suspendedSince != nil }

    // MARK: The consumer

    /// Takes a piece for the consumer.
    ///
    /// `nil` means that the consumer must wait: ``wait(now:)`` comes next.
    mutating func take() -> Delivery? {
        if waitingSince != nil { return .busy }
        if let piece = queue.popFirst() { return .piece(piece) }
        guard case .ended(let ending) = state else { return nil }
        return .ending(ending)
    }

    /// Notes that the consumer waits from `now` on.
    ///
    /// Returns whether a timer must be started.
    mutating func wait(now: SuspendingClock.Instant) -> Bool {
        waitingSince = now
        guard state == .open, !isTimed else { return false }
        isTimed = true
        return true
    }

    /// Notes that the consumer canceled.
    ///
    /// Returns whether the task must be cancelled.
    mutating func cancel(byTask: Bool) -> Bool {
        switch state {
        case .waiting: state = .ended(.cancelled(byTask: byTask))
        case .open: state = .draining(byTask: byTask)
        case .draining, .ended: return false
        }
        return true
    }

    // MARK: The session

    mutating func headArrived(declaredLength: Int64?, canBeResumed: Bool) -> HeadAction {
        switch state {
        case .waiting:
            self.declaredLength = declaredLength
            self.canBeResumed = canBeResumed
            state = .open
            return .accept
        case .open: return .abort
        case .draining, .ended: return .ignore
        }
    }

    /// Notes bytes that arrived.
    ///
    /// Returns the delivery for a waiting consumer.
    mutating func received(_ data: Data) -> Delivery? {
        switch state {
        case .open, .draining: break
        case .waiting, .ended: return nil
        }
        receivedBytes += Int64(data.count)
        if isSuspended { bytesAfterSuspension += data.count }
        queue.append(data)
        guard waitingSince != nil, let piece = queue.popFirst() else { return nil }
        waitingSince = nil
        return .piece(piece)
    }

    /// Notes that nothing more arrives.
    ///
    /// Returns the delivery for a waiting consumer.
    mutating func finished(_ ending: Ending) -> Delivery? {
        switch state {
        case .ended: return nil
        // A consumer that canceled gets the buffered pieces, not the reason why there are no more.
        case .draining(let byTask) where ending != .complete: state = .ended(.cancelled(byTask: byTask))
        case .waiting, .open, .draining: state = .ended(ending)
        }
        guard waitingSince != nil, case .ended(let ending) = state else { return nil }
        waitingSince = nil
        return .ending(ending)
    }

    /// The result that ``adjustFlow(now:)`` would give.
    var wantsFlow: Flow? {
        guard state == .open else { return nil }
        guard isSuspended else { return queue.byteCount > bounds.suspendsAbove ? .suspend : nil }
        if queue.byteCount < bounds.resumesBelow { return .resume }
        return bytesAfterSuspension > bounds.mostAfterSuspension ? .cut : nil
    }

    /// Decides what to do with the task; the caller does it before it calls again.
    mutating func adjustFlow(now: Duration) -> Flow? {
        let flow = wantsFlow
        switch flow {
        case .suspend:
            suspendedSince = now
            bytesAfterSuspension = 0
        case .resume: suspendedSince = nil
        case .cut, nil: break
        }
        return flow
    }

    /// The time until a suspension's timer must fire; `nil` if one is running, or none is needed.
    mutating func startSuspensionTimer() -> Duration? {
        // A body whose rest cannot be requested is kept for as long as its consumer wants, for example while a player
        // is paused.
        guard canBeResumed, isSuspended, !isSuspensionTimed else { return nil }
        isSuspensionTimed = true
        return bounds.longestSuspension
    }

    /// Handles the timer of the suspension; one timer watches many short suspensions.
    mutating func checkSuspension(now: Duration) -> SuspensionCheck {
        guard state == .open, let suspendedSince else {
            isSuspensionTimed = false
            return .disarm
        }
        let rest = bounds.longestSuspension - (now - suspendedSince)
        return rest > .zero ? .checkAgain(after: rest) : .cut
    }

    /// Handles the timer of the consumer's wait.
    mutating func checkIdle(now: SuspendingClock.Instant, timeout: Duration) -> IdleCheck {
        guard state == .open, let waitingSince else {
            isTimed = false
            return .disarm
        }
        let deadline = waitingSince.advanced(by: timeout)
        return now >= deadline ? .timedOut : .checkAgain(at: deadline)
    }
}

extension TransferMachine.Ending: Equatable {
    /// Failures are equal if their codes are.
    static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.complete, .complete): true
        case (.cancelled(let left), .cancelled(let right)): left == right
        case (.failed(let left), .failed(let right)): left.code == right.code
        default: false
        }
    }
}
