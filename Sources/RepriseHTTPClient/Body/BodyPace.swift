/// How fast the consumer of a body pulls, from looks at regular intervals.
///
/// A pure value. A body whose connection is halted at most looks, because the consumer has to catch up, moves at the consumer's
/// pace and costs the origin little: a film that is watched as it comes, or one that is paused.
struct BodyPace {
    enum Speed {
        /// The consumer takes what comes.
        case full
        /// The consumer pulls, but the connection is halted most of the time.
        case reduced
        /// The consumer has pulled nothing for ``looks`` looks.
        case stopped
    }

    /// The number of looks that a speed is judged by.
    static let looks = 5

    private(set) var speed = Speed.full
    /// The last looks, newest first: whether the connection was halted.
    private var halts: [Bool] = []
    private var hasPulled = true
    private var looksWithoutPull = 0

    /// The consumer took a piece.
    mutating func pulled() { hasPulled = true }

    /// The connection is looked at; `isHalted` says that it waits for the consumer.
    mutating func look(isHalted: Bool) -> Speed {
        halts.insert(isHalted, at: 0)
        if halts.count > Self.looks { halts.removeLast() }
        looksWithoutPull = hasPulled || !isHalted ? 0 : looksWithoutPull + 1
        hasPulled = false
        let halted = halts.count { $0 }
        if looksWithoutPull >= Self.looks {
            speed = .stopped
        } else if halted >= Self.looks - 1 {
            speed = .reduced
        } else if halted <= Self.looks / 2 || speed == .stopped {
            speed = .full
        }
        return speed
    }
}
