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
    private let upkeep: HeapUpkeep
    /// What these connections have answered.
    let counts: AnswerCounts
    /// What these connections play.
    private var played = PlayedTitles()
    /// The time of the last check or new connection.
    private var now = Duration.zero
    /// Most bytes of requests that these connections hold.
    private let mostHeld: Int
    /// Bytes of requests that these connections hold, each at its last change.
    private(set) var heldBytes = 0

    /// The longest and the shortest time between two checks, in milliseconds.
    private static let intervals: ClosedRange<Int64> = 10...1000

    /// A deadline is noticed late by at most a quarter of the shortest one, and at most a second.
    init(
        on loop: any EventLoop, limits: ConnectionDeadline.Limits, clock: CacheClock, mostHeld: Int, upkeep: HeapUpkeep
    ) {
        self.loop = loop
        self.upkeep = upkeep
        self.mostHeld = mostHeld
        self.clock = clock
        counts = AnswerCounts(clock: clock)
        let quarter = Int64(limits.shortest / .milliseconds(4))
        interval = .milliseconds(min(max(quarter, Self.intervals.lowerBound), Self.intervals.upperBound))
    }

    func add(_ handler: ConnectionHandler) {
        handlers[ObjectIdentifier(handler)] = handler
        now = clock.awake.elapsed()
        if handlers.count == 1 { arm() }
    }

    func remove(_ handler: ConnectionHandler) {
        handlers[ObjectIdentifier(handler)] = nil
        guard handlers.isEmpty else { return }
        timer?.cancel()
        timer = loop.assumeIsolated().scheduleTask(in: TimeAmount(HeapUpkeep.patience)) { [weak self] in
            self?.look()
        }
    }

    /// Notes that `player` gets bytes of `known`.
    func note(_ known: KnownResource, by player: Int) { played.note(known, by: player, at: now) }

    /// What these connections play now.
    var playedTitles: [CacheKey: PlayedTitles.Play] { played.current(at: clock.awake.elapsed()) }

    /// Notes that a connection holds `count` bytes of requests now, in place of `former`.
    func noteHeld(_ count: Int, insteadOf former: Int) { heldBytes += count - former }

    /// Has connections give up their requests if all hold too much, those that hold most first, until a quarter of the
    /// room is free.
    func relieve() {
        guard heldBytes > mostHeld else { return }
        for handler in handlers.values.sorted(by: { $0.heldBytes > $1.heldBytes }) {
            guard heldBytes > mostHeld / 4 * 3 else { return }
            handler.giveUpRequests()
        }
    }

    /// Ends the connections of this loop, as far as `drain` says.
    func drain(_ drain: ProxyService.Drain) {
        self.drain = drain
        guard drain == .ending else { return }
        for handler in Array(handlers.values) { handler.endIfIdle() }
    }

    private func arm() {
        timer?.cancel()
        timer = loop.assumeIsolated().scheduleTask(in: interval) { [weak self] in self?.look() }
    }

    private func look() {
        timer = nil
        now = clock.awake.elapsed()
        for handler in Array(handlers.values) { handler.look(at: now) }
        if !handlers.isEmpty { arm() }
        upkeep.look()
    }
}
