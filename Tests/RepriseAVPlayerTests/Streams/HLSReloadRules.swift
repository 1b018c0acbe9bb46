/// When AVPlayer loads the list of a live stream again, and which lists end the item.
///
/// Pure. A list that has changed is good for its target duration, another one for half of it (rfc8216bis §6.3.4). One
/// that stays the same for more than 1.5 target durations is error −12888, and an answer to a blocking request without
/// the part that was asked for is −15410, as programs have found that watched it.
struct HLSReloadRules: Sendable {
    enum Reaction: Sendable, Equatable {
        /// The list is loaded again at this time.
        case reload(at: Duration)
        /// The item has failed with this error of CoreMedia's.
        case fail(code: Int)
    }

    private var newest: LiveList?
    private var changed = Duration.zero

    /// Takes a list that was loaded at `now`, in answer to a request that waited for `asked`.
    mutating func take(_ list: LiveList, asked: LiveList.Part?, at now: Duration) -> Reaction {
        if let asked, list.next <= asked { return .fail(code: -15410) }
        let target = Duration.seconds(list.targetDuration)
        guard list == newest else {
            (newest, changed) = (list, now)
            return .reload(at: list.canBlockReload ? now : now + target)
        }
        return now - changed > target * 3 / 2 ? .fail(code: -12888) : .reload(at: now + target / 2)
    }

    /// The app was suspended until `now`: what passed in between is not the server's fault.
    mutating func resume(at now: Duration) { changed = now }
}
