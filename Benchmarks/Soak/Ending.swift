import Dispatch
import Primitives

/// The end of a stage, which wakes every waiting thread.
final class Ending: Sendable {
    private let group = DispatchGroup()
    private let isAhead = Mutex(true)

    init() { group.enter() }

    deinit { announce() }

    /// Whether the stage is over.
    var hasCome: Bool { group.wait(timeout: .now()) == .success }

    /// Ends the stage; may be called again.
    func announce() {
        let isFirst = isAhead.withLock { isAhead in
            defer { isAhead = false }
            return isAhead
        }
        if isFirst { group.leave() }
    }

    /// Runs `body` at the end.
    func whenItComes(_ body: @escaping @Sendable () -> Void) { group.notify(queue: .global()) { body() } }

    /// Waits for this many seconds, or until the stage is over; returns whether it goes on.
    @discardableResult
    func wait(_ seconds: Double) -> Bool { group.wait(timeout: .now() + max(0, seconds)) == .timedOut }
}

/// A monotonic clock, in seconds.
enum Uptime {
    static var seconds: Double { Double(DispatchTime.now().uptimeNanoseconds) / 1e9 }
}
