/// When a player's item is exchanged for one that a receiver can load, and when it is exchanged back.
///
/// Pure. The receiver loads by itself, so it needs an address of this device in the network; on this device the item
/// plays as before.
struct ExternalPlayback: Sendable {
    /// What the player plays now.
    enum Current: Sendable, Equatable {
        /// The item made for the receiver; whether the player has yet to find out if it can be played.
        case cast(isOpening: Bool)
        /// Another item that a cache has made; whether the player has yet to find out if it can be played.
        case cached(isOpening: Bool)
        /// None, or one that no cache has made.
        case other
    }

    enum Action: Sendable, Equatable {
        case none
        /// Put an item for the receiver in place of the current one.
        case send
        /// Put an item for this device in place of the receiver's.
        case bringBack
        /// The receiver's item is not played any more: its address ends.
        case end
    }

    private var hasCast = false

    /// What to do when either has changed.
    ///
    /// An item that is being opened is not sent yet: until then the player does not say whether it is live, and keeps
    /// to itself where the app wants it to start.
    /// While the item for the receiver is opened, the player may play nowhere for a moment: that is no wish to come
    /// back. One that has failed is brought back, too.
    mutating func update(isExternal: Bool, current: Current) -> Action {
        switch (hasCast, current) {
        case (true, .cast(let isOpening)):
            guard !isExternal, !isOpening else { return .none }
            hasCast = false
            return .bringBack
        case (true, .cached), (true, .other):
            hasCast = false
            return .end
        case (false, .cached(isOpening: false)) where isExternal:
            hasCast = true
            return .send
        case (false, _): return .none
        }
    }

    /// No item could be made for the receiver: the one that plays is left to it.
    mutating func failed() { hasCast = false }
}
