import Foundation
import Reprise

/// The state of one request and its body between the session, which sends events, and the consumer, which takes pieces.
///
/// A pure value: ``BodyMachine`` hands pieces to the consumer; this adds the head, and when to suspend the task.
/// ``Transfer`` guards it and performs the actions.
struct TransferMachine {
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

    /// The body; it has no pieces until the head has arrived.
    private(set) var body = BodyMachine<Data>()
    private var hasHead = false
    /// When the task was suspended.
    private(set) var suspendedSince: Duration?
    /// Whether a timer watches the suspension.
    private var isSuspensionTimed = false
    private var bytesAfterSuspension = 0
    /// Length of the body in bytes, if known.
    private(set) var declaredLength: Int64?
    /// Whether another request can fetch the rest of the body.
    private var canBeResumed = false
    private var receivedBytes: Int64 = 0
    private let bounds: BufferBounds

    init(bounds: BufferBounds) {
        self.bounds = bounds
    }

    /// Whether the head has not arrived, and is still wanted.
    var awaitsHead: Bool { !hasHead && body.state == .open }

    /// Whether bytes declared by the head are missing.
    var isShort: Bool { receivedBytes < declaredLength ?? 0 }

    var isSuspended: Bool { suspendedSince != nil }

    // MARK: The consumer

    /// Takes a piece for the consumer.
    ///
    /// `nil` means that the consumer must wait: ``wait(now:)`` comes next.
    mutating func take() -> BodyMachine<Data>.Delivery? { body.take() }

    /// Notes that the consumer waits from `now` on.
    ///
    /// Returns whether a timer must be started.
    mutating func wait(now: Duration) -> Bool { body.wait(now: now) }

    /// Notes that the consumer canceled; before the head has arrived, that is the end.
    ///
    /// Returns whether the task must be canceled.
    mutating func cancel(byTask: Bool) -> Bool {
        guard awaitsHead else { return body.cancel(byTask: byTask) }
        _ = body.finished(.canceled(byTask: byTask))
        return true
    }

    // MARK: The session

    mutating func headArrived(declaredLength: Int64?, canBeResumed: Bool) -> HeadAction {
        guard body.state == .open else { return .ignore }
        guard !hasHead else { return .abort }
        hasHead = true
        self.declaredLength = declaredLength
        self.canBeResumed = canBeResumed
        return .accept
    }

    /// Notes bytes that arrived.
    ///
    /// Returns the delivery for a waiting consumer.
    mutating func received(_ data: Data) -> BodyMachine<Data>.Delivery? {
        if case .ended = body.state { return nil }
        guard hasHead else { return nil }
        receivedBytes += Int64(data.count)
        if isSuspended { bytesAfterSuspension += data.count }
        return body.received(data)
    }

    /// Notes that nothing more arrives.
    ///
    /// Returns the delivery for a waiting consumer.
    mutating func finished(_ ending: BodyEnding) -> BodyMachine<Data>.Delivery? { body.finished(ending) }

    /// Handles the timer of the consumer's wait.
    mutating func checkIdle(now: Duration, timeout: Duration) -> BodyMachine<Data>.IdleCheck {
        body.checkIdle(now: now, timeout: timeout)
    }

    // MARK: Suspensions

    /// The result that ``adjustFlow(now:)`` would give.
    var wantsFlow: Flow? {
        guard body.state == .open else { return nil }
        guard isSuspended else { return body.queue.byteCount > bounds.suspendsAbove ? .suspend : nil }
        if body.queue.byteCount < bounds.resumesBelow { return .resume }
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
        guard body.state == .open, let suspendedSince else {
            isSuspensionTimed = false
            return .disarm
        }
        let rest = bounds.longestSuspension - (now - suspendedSince)
        return rest > .zero ? .checkAgain(after: rest) : .cut
    }
}

/// The amounts of buffered bytes at which a task is suspended and resumed, and when a suspended one is cut off.
struct BufferBounds: Sendable {
    let suspendsAbove: Int
    let resumesBelow: Int
    /// Maximum number of bytes that may arrive after a suspension, 8 MiB: URLSession guarantees no bound, and has been
    /// seen to deliver 900 MB over HTTPS.
    var mostAfterSuspension = 8 << 20
    /// Longest suspension of a body that can be resumed with a range, 10 s: tasks that stay suspended keep other
    /// requests of the process waiting.
    var longestSuspension = Duration.seconds(10)

    #if canImport(FoundationNetworking)
        /// Never suspends: on Linux a suspended task would ask again from byte 0.
        static let platform = BufferBounds(suspendsAbove: .max, resumesBelow: 0)
    #else
        /// 1 MiB and 256 KiB: far apart, because each change costs a hop to the session's queue and to its connection.
        static let platform = BufferBounds(suspendsAbove: 1 << 20, resumesBelow: 1 << 18)
    #endif
}
