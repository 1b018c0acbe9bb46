/// Keeps a listener open that the system may close at any time: when to look, and when to open it again.
///
/// Pure: its owner performs one action at a time, and reports one event for each.
struct ListenerMachine {
    enum Action: Equatable {
        /// Open a listener on the port.
        case open
        /// See whether the descriptor still is the listener; if so, connect to it.
        case examine
        /// Wait for a client, if `accepting`, for a wish, and at most so long.
        case wait(milliseconds: Int, accepting: Bool)
        /// Close the listener for good.
        case end
    }

    enum Event: Equatable {
        case opened
        case openingFailed
        /// The descriptor is the listener, and no connection to it is needed to know that it accepts any.
        case foundListening
        /// A connection to the listener has begun.
        case probeSent
        /// A client was accepted, or the connection of ``probeSent``.
        case accepted
        /// A client was announced that is not there any more.
        case noneAccepted
        /// There is no descriptor for a client.
        case crowded
        /// The listener is closed, or refuses connections.
        case broken
        case timedOut
        /// A wait took much longer than it may: the process was suspended, and its listener may be defunct.
        case resumed
        /// Someone wants to know whether the listener is open.
        case checkWanted
        case endWanted
    }

    private enum State {
        case listening
        /// The listener is open, and a client waits until there is a descriptor for it.
        case crowded
        case examining
        /// A connection to the listener must be accepted, or it is closed.
        case probing
        /// It is closed; so many attempts to open it have failed.
        case closed(failures: Int)
        case ended
    }

    private var state = State.listening

    /// How long a wait for a client may take: so long after a suspension it is noticed at the latest.
    ///
    /// The system tells an app that goes on in the background nothing, such as one whose sound the user starts from the
    /// lock screen, and a defunct listener wakes nothing.
    static let longestWait = 2000
    /// How long a connection to this process's own listener may take.
    static let probeTime = 250
    /// How long a client waits for a descriptor before the next attempt.
    static let pause = 100
    /// Longest time between two attempts to open the listener, whose port another program may have.
    static let longestPause = 1000

    /// Whether the listener is open; `nil` while that is being found out.
    var isOpen: Bool? {
        switch state {
        case .listening, .crowded: true
        case .examining, .probing, .closed(failures: 0): nil
        case .closed, .ended: false
        }
    }

    /// The first action, for a listener that has just been opened.
    static let start = Action.wait(milliseconds: longestWait, accepting: true)

    mutating func handle(_ event: Event) -> Action {
        switch (state, event) {
        case (.ended, _), (_, .endWanted): return enter(.ended, .end)
        case (_, .broken): return enter(.closed(failures: 0), .open)
        case (.examining, .probeSent): return enter(.probing, .wait(milliseconds: Self.probeTime, accepting: true))
        case (.examining, .foundListening): return enter(.listening, Self.start)
        case (.examining, _): return .examine
        case (.probing, .timedOut): return enter(.closed(failures: 0), .open)
        case (.probing, .checkWanted), (.probing, .noneAccepted):
            return .wait(milliseconds: Self.probeTime, accepting: true)
        case (.closed(let failures), .openingFailed): return pauseAfter(failures + 1)
        case (.closed, .opened): return enter(.listening, Self.start)
        case (.closed, _): return .open
        case (_, .resumed): return enter(.examining, .examine)
        case (_, .crowded): return enter(.crowded, .wait(milliseconds: Self.pause, accepting: false))
        case (.crowded, .checkWanted): return .wait(milliseconds: Self.pause, accepting: false)
        case (.listening, .checkWanted): return enter(.examining, .examine)
        case (.listening, _), (.crowded, _), (.probing, _): return enter(.listening, Self.start)
        }
    }

    private mutating func pauseAfter(_ failures: Int) -> Action {
        let pause = min(10 << min(failures, 10), Self.longestPause)
        return enter(.closed(failures: failures), .wait(milliseconds: pause, accepting: false))
    }

    private mutating func enter(_ state: State, _ action: Action) -> Action {
        self.state = state
        return action
    }
}
