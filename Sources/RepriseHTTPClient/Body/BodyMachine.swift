import NIOCore
import Reprise

/// The state of one response body between the event loop, which delivers pieces, and the consumer, which takes them.
///
/// A pure value: events go in, actions come out. ``ResponseStream`` guards it and performs the actions.
///
///     open ──finished(…)──────────────────► ended
///       └──cancel()──► draining ──finished(…)──► ended
///
/// Pieces that have arrived are delivered in every state; the ending comes after the last of them.
struct BodyMachine {
    enum State: Equatable {
        /// The origin is still sending.
        case open
        /// The transfer was canceled; bytes that the system has already received are being collected.
        case draining(byTask: Bool)
        /// Nothing more arrives.
        case ended(Ending)
    }

    /// Why nothing more arrives.
    enum Ending: Equatable {
        /// The body is complete.
        case complete
        /// The consumer canceled; `byTask` if its task was canceled.
        case cancelled(byTask: Bool)
        /// The connection, or the origin, failed.
        case failed(RepriseError.Code)
    }

    /// The consumer's result.
    enum Delivery: Equatable {
        case piece(ByteBuffer)
        case ending(Ending)
        /// Nothing: another call of the consumer is already waiting.
        case busy
    }

    /// What the loop has to do about a wait that may have become too long.
    enum IdleCheck: Equatable {
        /// The consumer is not waiting; no timer until it does.
        case disarm
        /// The consumer is waiting, but not long enough yet.
        case checkAgain(at: NIODeadline)
        /// Nothing arrived for the whole time.
        case timedOut
    }

    private(set) var state = State.open
    private(set) var queue = PieceQueue()
    /// Whether the loop is reading, or was told to start.
    private(set) var isReading = true
    /// Whether the loop watches the idle time of this body.
    private(set) var isTimed = false
    /// How fast the consumer pulls.
    private(set) var pace = BodyPace()
    /// When the consumer began to wait.
    private(set) var waitingSince: NIODeadline?

    /// The loop keeps reading while fewer bytes than this are buffered, once enough has arrived.
    private let largestWindow: Int
    /// Number of bytes that have arrived so far.
    private var total = 0

    init(window: Int) {
        largestWindow = window
    }

    /// The loop keeps reading while fewer bytes than this are buffered: 1/128 of what has arrived, so that a consumer
    /// that leaves early has not cost the origin much.
    var window: Int { min(largestWindow, max(1, total / 128)) }

    // MARK: The consumer

    /// Takes a piece for the consumer.
    ///
    /// `nil` means that the consumer must wait: ``wait(now:)`` comes next.
    ///
    /// `wakesLoop`: the window has opened again, and the loop does not know yet.
    mutating func take() -> (delivery: Delivery, wakesLoop: Bool)? {
        if waitingSince != nil { return (.busy, false) }
        if let piece = queue.popFirst() {
            pace.pulled()
            return (.piece(piece), reopenWindow())
        }
        guard case .ended(let ending) = state else { return nil }
        return (.ending(ending), false)
    }

    /// Notes that the consumer waits from `now` on.
    ///
    /// Returns whether the loop must be woken, to read or to watch the time.
    mutating func wait(now: NIODeadline) -> Bool {
        waitingSince = now
        guard state == .open else { return false }
        let startsTimer = !isTimed
        isTimed = true
        return reopenWindow() || startsTimer
    }

    /// Notes that the consumer canceled.
    ///
    /// Returns whether the loop must drain and close the connection.
    mutating func cancel(byTask: Bool) -> Bool {
        guard state == .open else { return false }
        state = .draining(byTask: byTask)
        return true
    }

    // MARK: The event loop

    /// Notes pieces that arrived.
    ///
    /// Returns the delivery for a waiting consumer.
    mutating func received(_ pieces: inout PieceQueue) -> Delivery? {
        total += pieces.byteCount
        if case .ended = state {
            pieces.removeAll()
            return nil
        }
        if queue.isEmpty { swap(&queue, &pieces) } else { queue.append(contentsOf: &pieces) }
        guard waitingSince != nil, let piece = queue.popFirst() else { return nil }
        waitingSince = nil
        pace.pulled()
        return .piece(piece)
    }

    /// Notes that the loop has delivered everything from one read.
    ///
    /// Returns whether the loop should read again.
    mutating func readCompleted() -> Bool {
        isReading = state == .open && queue.byteCount < window
        return isReading
    }

    /// Notes that nothing more arrives.
    ///
    /// Returns the delivery for a waiting consumer.
    mutating func finished(_ ending: Ending) -> Delivery? {
        if case .ended = state { return nil }
        // A consumer that canceled gets the buffered pieces, not the reason why there are no more.
        if case .draining(let byTask) = state, ending != .complete {
            state = .ended(.cancelled(byTask: byTask))
        } else {
            state = .ended(ending)
        }
        guard waitingSince != nil, case .ended(let ending) = state else { return nil }
        waitingSince = nil
        return .ending(ending)
    }

    /// Handles the timer.
    mutating func checkIdle(now: NIODeadline, timeout: TimeAmount) -> IdleCheck {
        guard state == .open, let waitingSince else {
            isTimed = false
            return .disarm
        }
        let deadline = waitingSince + timeout
        return now >= deadline ? .timedOut : .checkAgain(at: deadline)
    }

    /// Notes a look at the pace of the consumer, ``BodyPace/looks`` times in the parking time.
    mutating func lookAtPace() -> BodyPace.Speed {
        pace.look(isHalted: state == .open && waitingSince == nil && !isReading)
    }

    private mutating func reopenWindow() -> Bool {
        guard state == .open, !isReading, queue.byteCount < window else { return false }
        isReading = true
        return true
    }
}
