/// When a player's item is exchanged for one that a receiver can load, and when it is exchanged back.
///
/// Pure. The receiver loads by itself, so it needs an address of this device in the network; on this device the item
/// plays as before.
struct ExternalPlayback: Sendable {
    /// Whether the player can play an item.
    enum Readiness: Sendable, Equatable {
        /// It has yet to find out.
        case opening
        case ready
        case failed
    }

    /// What the player plays now.
    enum Current: Sendable, Equatable {
        /// The item made for the receiver.
        case cast(Readiness)
        /// Another item that a cache has made.
        case cached(Readiness)
        /// None, or one that is left alone: no cache has made it, or it took the place of one that failed at the
        /// receiver.
        case other
    }

    enum Action: Sendable, Equatable {
        case none
        /// Put an item for the receiver in place of the current one.
        case send
        /// Put an item for this device in place of the receiver's.
        case bringBack
        /// The same, because the receiver's has failed: the new one is left alone from then on. Whether the old one was
        /// ready before.
        case giveUp(wasReady: Bool)
        /// The receiver's item is not played any more: its address ends.
        case end
    }

    private enum State: Sendable {
        /// No item was sent. Ends when one is ready while the receiver is chosen.
        case here
        /// The player opens the item that was sent. Ends when that is ready, fails, or is not the current one any more.
        case opening
        /// It was ready. Ends when it fails, is not the current one any more, or when the receiver goes.
        case ready
    }

    private var state = State.here

    /// What to do when either has changed.
    ///
    /// An item that is being opened is not sent yet: until then the player does not say whether it is live, and keeps
    /// to itself where the app wants it to start. While the item for the receiver is opened, the player may play
    /// nowhere for a moment: that is no wish to come back.
    ///
    /// During external playback some systems never report items of a queue as ready. After
    /// ``patience(for:isExternal:)`` it `takesTooLong`: the item is sent anyway, or brought back.
    mutating func update(isExternal: Bool, current: Current, takesTooLong: Bool = false) -> Action {
        switch (state, current) {
        case (.here, .cached(.ready)) where isExternal, (.here, .cached(.failed)) where isExternal,
            (.here, .cached(.opening)) where isExternal && takesTooLong:
            state = .opening
            return .send
        case (.opening, .cast(.opening)) where takesTooLong:
            state = .here
            return .giveUp(wasReady: false)
        case (.here, _), (_, .cast(.opening)): return .none
        // External playback may become active a moment after the item is ready.
        case (.opening, .cast(.ready)) where !isExternal && !takesTooLong: return .none
        case (_, .cast(.ready)):
            state = isExternal ? .ready : .here
            return isExternal ? .none : .bringBack
        case (_, .cast(.failed)):
            guard !isExternal else { return .none }
            defer { state = .here }
            return .giveUp(wasReady: state == .ready)
        case (_, .cached), (_, .other):
            state = .here
            return .end
        }
    }

    /// Maximum time until the player changes the current item's state; `nil` for no limit.
    func patience(for current: Current, isExternal: Bool) -> Duration? {
        switch (state, current) {
        case (_, .cached(.opening)): isExternal ? .seconds(10) : nil
        case (_, .cast(.opening)): .seconds(20)
        case (.opening, .cast(.ready)): isExternal ? nil : .seconds(3)
        case (_, .cached), (_, .cast), (_, .other): nil
        }
    }

    /// No item could be made for the receiver: the one that plays is left to it.
    mutating func failed() { state = .here }
}
