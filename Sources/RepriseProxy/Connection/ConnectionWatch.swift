import NIOCore
import Reprise

/// Checks the connections of one event loop regularly, with one timer for all of them.
///
/// Everything here runs on that loop.
final class ConnectionWatch {
    private let loop: any EventLoop
    private let interval: TimeAmount
    private let clock: CacheClock
    private var handlers: [ObjectIdentifier: ConnectionHandler] = [:]
    private var timer: Scheduled<Void>?
    /// Whether and how connections end although their clients would go on.
    private(set) var drain = ProxyService.Drain.none
    /// Whether answers are logged.
    var isLoggingRequests = false
    /// What these connections have answered.
    let counts: AnswerCounts

    /// The longest and the shortest time between two checks, in milliseconds.
    private static let intervals: ClosedRange<Int64> = 10...1000

    /// A deadline is noticed late by at most a quarter of the shortest one, and at most a second.
    init(on loop: any EventLoop, limits: ConnectionDeadline.Limits, clock: CacheClock) {
        self.loop = loop
        self.clock = clock
        counts = AnswerCounts(clock: clock)
        let quarter = Int64(limits.shortest / .milliseconds(4))
        interval = .milliseconds(min(max(quarter, Self.intervals.lowerBound), Self.intervals.upperBound))
    }

    func add(_ handler: ConnectionHandler) {
        handlers[ObjectIdentifier(handler)] = handler
        if timer == nil { arm() }
    }

    func remove(_ handler: ConnectionHandler) {
        handlers[ObjectIdentifier(handler)] = nil
        guard handlers.isEmpty else { return }
        timer?.cancel()
        timer = nil
    }

    /// Ends the connections of this loop, as far as `drain` says.
    func drain(_ drain: ProxyService.Drain) {
        self.drain = drain
        guard drain == .ending else { return }
        for handler in Array(handlers.values) { handler.endIfIdle() }
    }

    private func arm() {
        timer = loop.assumeIsolated().scheduleTask(in: interval) { [weak self] in self?.look() }
    }

    private func look() {
        timer = nil
        let now = clock.awake.elapsed()
        for handler in Array(handlers.values) { handler.look(at: now) }
        if !handlers.isEmpty { arm() }
    }
}
