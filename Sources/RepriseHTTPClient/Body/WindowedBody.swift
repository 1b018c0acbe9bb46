import NIOCore
import Reprise

/// A body, and the window up to which the loop reads ahead of its consumer.
///
/// A pure value: ``BodyMachine`` hands pieces to the consumer, and this decides when the loop reads. ``ResponseStream``
/// guards it and performs the actions.
struct WindowedBody {
    typealias Machine = BodyMachine<ByteBuffer>

    private(set) var machine = Machine()
    /// Whether the loop is reading, or was told to start.
    private(set) var isReading = true
    /// How fast the consumer pulls.
    private(set) var pace = BodyPace()

    /// The loop keeps reading while fewer bytes than this are buffered, once enough has arrived.
    private let largestWindow: Int
    /// Number of bytes that have arrived so far.
    private var total = 0
    /// The value of ``total`` at the last look.
    private var totalAtLook = 0

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
    mutating func take() -> (delivery: Machine.Delivery, wakesLoop: Bool)? {
        guard let delivery = machine.take() else { return nil }
        guard case .piece = delivery else { return (delivery, false) }
        pace.pulled()
        return (delivery, reopenWindow())
    }

    /// Notes that the consumer waits from `now` on.
    ///
    /// Returns whether the loop must be woken, to read or to watch the time.
    mutating func wait(now: Duration) -> Bool {
        let startsTimer = machine.wait(now: now)
        return reopenWindow() || startsTimer
    }

    /// Notes that the consumer canceled.
    ///
    /// Returns whether the loop must drain and close the connection.
    mutating func cancel(byTask: Bool) -> Bool { machine.cancel(byTask: byTask) }

    // MARK: The event loop

    /// Notes pieces that arrived.
    ///
    /// Returns the delivery for a waiting consumer.
    mutating func received(_ pieces: inout BodyQueue<ByteBuffer>) -> Machine.Delivery? {
        total += pieces.byteCount
        let delivery = machine.received(&pieces)
        if delivery != nil { pace.pulled() }
        return delivery
    }

    /// Notes that the loop has delivered everything from one read.
    ///
    /// Returns whether the loop should read again.
    mutating func readCompleted() -> Bool {
        isReading = machine.state == .open && machine.queue.byteCount < window
        return isReading
    }

    /// Notes that nothing more arrives.
    ///
    /// Returns the delivery for a waiting consumer.
    mutating func finished(_ ending: BodyEnding) -> Machine.Delivery? { machine.finished(ending) }

    /// Handles the timer of the consumer's wait.
    mutating func checkIdle(now: Duration, timeout: Duration) -> Machine.IdleCheck {
        machine.checkIdle(now: now, timeout: timeout)
    }

    /// Notes a look at the pace of the consumer, ``BodyPace/looks`` times in the parking time.
    @discardableResult
    mutating func lookAtPace() -> BodyPace.Speed {
        defer { totalAtLook = total }
        return pace.look(
            isHalted: machine.state == .open && machine.waitingSince == nil && !isReading,
            hasReceived: total > totalAtLook)
    }

    private mutating func reopenWindow() -> Bool {
        guard machine.state == .open, !isReading, machine.queue.byteCount < window else { return false }
        isReading = true
        return true
    }
}
