import Foundation
import Reprise

/// The life of one request and its body between the session, which brings events, and the consumer, which takes pieces.
///
/// A pure value: events go in, actions come out. ``Transfer`` guards it and carries the actions out.
///
///     waiting ──head──► open ──finished(…)──────────────────────────► ended
///        │                └──cancel()──► draining ──finished(…)────────► ended
///        └──finished(…), cancel()─────────────────────────────────────► ended
///
/// Pieces that are here are handed out in every state; the ending comes after the last of them.
struct TransferMachine {
    enum State: Equatable {
        /// The head is not here.
        case waiting
        /// The origin is still sending.
        case open
        /// The transfer was given up; what the system has already received is still coming.
        case draining(byTask: Bool)
        /// Nothing more comes.
        case ended(Ending)
    }

    /// Why nothing more comes.
    enum Ending {
        /// The body is complete.
        case complete
        /// The consumer gave up; `byTask` when its task was cancelled.
        case cancelled(byTask: Bool)
        /// The connection, the origin, or the session failed.
        case failed(RepriseError)
    }

    /// What the consumer gets.
    enum Delivery: Equatable {
        case piece(Data)
        case ending(Ending)
        /// Nothing: another call of the consumer waits already.
        case busy
    }

    /// What a head means.
    enum HeadAction: Equatable {
        /// It is the one that was waited for.
        case accept
        /// Nobody is interested any more.
        case ignore
        /// The body has begun already: the system asked again from the beginning, and its bytes must not be mixed.
        case abort
    }

    /// What the task must be told so that the buffer keeps its bounds.
    enum Flow: Equatable {
        case suspend, resume
        /// It must be cancelled, and the body ends as truncated: it went on although it was suspended.
        case cut
    }

    /// What to do about a suspension that may have become too long.
    enum SuspensionCheck: Equatable {
        /// The task runs: no timer until it is suspended again.
        case disarm
        /// It is suspended, but not for long enough.
        case checkAgain(after: Duration)
        /// It was suspended for the whole time: it must be cancelled, and the body ends as truncated.
        case cut
    }

    /// What to do about a wait that may have become too long.
    enum IdleCheck: Equatable {
        /// Nobody waits: no timer until somebody does.
        case disarm
        /// Somebody waits, but not long enough yet.
        case checkAgain(at: SuspendingClock.Instant)
        /// Nothing came for the whole time.
        case timedOut
    }

    private(set) var state = State.waiting
    private(set) var queue = PieceQueue()
    /// Since when the task is suspended.
    private(set) var suspendedSince: Duration?
    /// Whether a timer watches the suspension.
    private var isSuspensionTimed = false
    private var bytesAfterSuspension = 0
    /// Whether a timer watches the consumer's wait.
    private(set) var isTimed = false
    /// Since when the consumer waits.
    private(set) var waitingSince: SuspendingClock.Instant?
    /// Bytes that the body must have, if known.
    private(set) var declaredLength: Int64?
    /// Whether another request can bring the rest of the body.
    private var canBeResumed = false
    private var receivedBytes: Int64 = 0
    private let bounds: BufferBounds

    init(bounds: BufferBounds) {
        self.bounds = bounds
    }

    /// Whether bytes are missing that the head has promised.
    var isShort: Bool { receivedBytes < declaredLength ?? 0 }

    var isSuspended: Bool { suspendedSince != nil }

    // MARK: The consumer

    /// The consumer wants a piece.
    ///
    /// `nil` says that it must wait: ``wait(now:)`` comes next.
    mutating func take() -> Delivery? {
        if waitingSince != nil { return .busy }
        if let piece = queue.popFirst() { return .piece(piece) }
        guard case .ended(let ending) = state else { return nil }
        return .ending(ending)
    }

    /// The consumer waits from `now` on.
    ///
    /// Returns whether a timer must be started.
    mutating func wait(now: SuspendingClock.Instant) -> Bool {
        waitingSince = now
        guard state == .open, !isTimed else { return false }
        isTimed = true
        return true
    }

    /// The consumer gives up.
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

    /// Bytes arrived.
    ///
    /// Returns the piece that a waiting consumer gets at once.
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

    /// Nothing more comes.
    ///
    /// Returns what a waiting consumer gets.
    mutating func finished(_ ending: Ending) -> Delivery? {
        switch state {
        case .ended: return nil
        // Somebody who gave up asked for what is there, not for the reason why there is no more.
        case .draining(let byTask) where ending != .complete: state = .ended(.cancelled(byTask: byTask))
        case .waiting, .open, .draining: state = .ended(ending)
        }
        guard waitingSince != nil, case .ended(let ending) = state else { return nil }
        waitingSince = nil
        return .ending(ending)
    }

    /// Whether ``adjustFlow(now:)`` has something to say.
    var wantsFlow: Flow? {
        guard state == .open else { return nil }
        guard isSuspended else { return queue.byteCount > bounds.suspendsAbove ? .suspend : nil }
        if queue.byteCount < bounds.resumesBelow { return .resume }
        return bytesAfterSuspension > bounds.mostAfterSuspension ? .cut : nil
    }

    /// The caller tells the task what is returned, before it asks again.
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

    /// The time until the timer of a suspension is to fire; `nil` if one runs, or none is needed.
    mutating func startSuspensionTimer() -> Duration? {
        // A body whose rest cannot be asked for is kept for as long as its consumer wants: a player that pauses.
        guard canBeResumed, isSuspended, !isSuspensionTimed else { return nil }
        isSuspensionTimed = true
        return bounds.longestSuspension
    }

    /// The timer of the suspension fired; one timer watches many short ones.
    mutating func checkSuspension(now: Duration) -> SuspensionCheck {
        guard state == .open, let suspendedSince else {
            isSuspensionTimed = false
            return .disarm
        }
        let rest = bounds.longestSuspension - (now - suspendedSince)
        return rest > .zero ? .checkAgain(after: rest) : .cut
    }

    /// The timer fired.
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
