/// How fast a body moves, judged by looks at regular intervals.
///
/// A pure value. If the connection is halted at most looks, because the consumer has to catch up, the body moves at the
/// consumer's pace and costs the origin little: a film watched as it arrives, or a paused one. A body also
/// costs little while the origin sends nothing.
struct BodyPace {
    enum Speed {
        /// The consumer takes everything as it arrives.
        case full
        /// The consumer pulls, but the connection is halted most of the time, or nothing has arrived for
        /// ``silentLooks`` looks.
        case reduced
        /// The consumer has pulled nothing for ``looks`` looks.
        case stopped
    }

    /// The number of looks by which the speed is judged.
    static let looks = 5
    /// The number of looks without a byte after which a body counts as stalled.
    static let silentLooks = 2

    private(set) var speed = Speed.full
    /// Whether the consumer pulled nothing between the last two looks although bytes were available.
    var isResting: Bool { looksWithoutPull > 0 }
    /// The last looks, newest first; true if the connection was halted.
    private var halts: [Bool] = []
    private var hasPulled = true
    private var looksWithoutPull = 0
    private var looksWithoutBytes = 0

    /// Notes that the consumer took a piece.
    mutating func pulled() { hasPulled = true }

    /// Notes a look at the connection; `isHalted` says that it waits for the consumer, `hasReceived` that bytes have
    /// arrived since the last look.
    @discardableResult
    mutating func look(isHalted: Bool, hasReceived: Bool) -> Speed {
        halts.insert(isHalted, at: 0)
        if halts.count > Self.looks { halts.removeLast() }
        looksWithoutPull = hasPulled || !isHalted ? 0 : looksWithoutPull + 1
        hasPulled = false
        looksWithoutBytes = isHalted || hasReceived ? 0 : looksWithoutBytes + 1
        let halted = halts.count { $0 }
        if looksWithoutPull >= Self.looks {
            speed = .stopped
        } else if halted >= Self.looks - 1 || looksWithoutBytes >= Self.silentLooks {
            speed = .reduced
        } else if halted <= Self.looks / 2 || speed == .stopped {
            speed = .full
        }
        return speed
    }
}
