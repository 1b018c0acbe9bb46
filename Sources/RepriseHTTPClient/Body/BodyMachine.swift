import NIOCore
import Reprise

/// The life of one response body between the event loop, which brings pieces, and the consumer, which takes them.
///
/// A pure value: events go in, actions come out. ``ResponseStream`` guards it and carries the actions out.
///
///     open ──finished(…)──────────────────► ended
///       └──cancel()──► draining ──finished(…)──► ended
///
/// Pieces that are here are handed out in every state; the ending comes after the last of them.
struct BodyMachine {
    enum State: Equatable {
        /// The origin is still sending.
        case open
        /// The transfer was given up; what the system has already received is being collected.
        case draining(byTask: Bool)
        /// Nothing more comes.
        case ended(Ending)
    }

    /// Why nothing more comes.
    enum Ending: Equatable {
        /// The body is complete.
        case complete
        /// The consumer gave up; `byTask` when its task was cancelled.
        case cancelled(byTask: Bool)
        /// The connection, or the origin, failed.
        case failed(RepriseError.Code)
    }

    /// What the consumer gets.
    enum Delivery: Equatable {
        case piece(ByteBuffer)
        case ending(Ending)
        /// Nothing: another call of the consumer waits already.
        case busy
    }

    /// What the loop has to do about a wait that may have become too long.
    enum IdleCheck: Equatable {
        /// Nobody waits: no timer until somebody does.
        case disarm
        /// Somebody waits, but not long enough yet.
        case checkAgain(at: NIODeadline)
        /// Nothing came for the whole time.
        case timedOut
    }

    private(set) var state = State.open
    private(set) var queue = PieceQueue()
    /// Whether the loop has a read under way, or was told to start one.
    private(set) var isReading = true
    /// Whether the loop watches the idle time of this body.
    private(set) var isTimed = false
    /// How fast the consumer pulls.
    private(set) var pace = BodyPace()
    /// Since when the consumer waits.
    private(set) var waitingSince: NIODeadline?

    /// Below this many buffered bytes the loop goes on reading, once enough has come.
    private let largestWindow: Int
    /// Bytes that have come so far.
    private var total = 0

    init(window: Int) {
        largestWindow = window
    }

    /// Below this many buffered bytes the loop goes on reading: 1/128 of what has come, so that a consumer who leaves early
    /// has not cost the origin much.
    var window: Int { min(largestWindow, max(1, total / 128)) }

    // MARK: The consumer

    /// The consumer wants a piece.
    ///
    /// `nil` says that it must wait: ``wait(now:)`` comes next.
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

    /// The consumer waits from `now` on.
    ///
    /// Returns whether the loop must be woken, to read or to watch the time.
    mutating func wait(now: NIODeadline) -> Bool {
        waitingSince = now
        guard state == .open else { return false }
        let startsTimer = !isTimed
        isTimed = true
        return reopenWindow() || startsTimer
    }

    /// The consumer gives up.
    ///
    /// Returns whether the loop must drain and close the connection.
    mutating func cancel(byTask: Bool) -> Bool {
        guard state == .open else { return false }
        state = .draining(byTask: byTask)
        return true
    }

    // MARK: The event loop

    /// Pieces arrived.
    ///
    /// Returns the one that a waiting consumer gets at once.
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

    /// The loop has handed over all that one read brought.
    ///
    /// Returns whether it shall read again.
    mutating func readCompleted() -> Bool {
        isReading = state == .open && queue.byteCount < window
        return isReading
    }

    /// Nothing more comes.
    ///
    /// Returns what a waiting consumer gets.
    mutating func finished(_ ending: Ending) -> Delivery? {
        if case .ended = state { return nil }
        // Somebody who gave up asked for what is there, not for the reason why there is no more.
        if case .draining(let byTask) = state, ending != .complete {
            state = .ended(.cancelled(byTask: byTask))
        } else {
            state = .ended(ending)
        }
        guard waitingSince != nil, case .ended(let ending) = state else { return nil }
        waitingSince = nil
        return .ending(ending)
    }

    /// The timer fired.
    mutating func checkIdle(now: NIODeadline, timeout: TimeAmount) -> IdleCheck {
        guard state == .open, let waitingSince else {
            isTimed = false
            return .disarm
        }
        let deadline = waitingSince + timeout
        return now >= deadline ? .timedOut : .checkAgain(at: deadline)
    }

    /// The loop looks at the pace of the consumer, ``BodyPace/looks`` times in the parking time.
    mutating func lookAtPace() -> BodyPace.Speed {
        pace.look(isHalted: state == .open && waitingSince == nil && !isReading)
    }

    private mutating func reopenWindow() -> Bool {
        guard state == .open, !isReading, queue.byteCount < window else { return false }
        isReading = true
        return true
    }
}
