/// Which entries go first when room is needed: an order of the index.
///
/// Eviction asks for the next few entries in this order. Pinned entries and downloads are never among them, because
/// ``EntryStore/candidates(by:limit:offset:before:onlyLive:)`` leaves them out; of an entry in use, extents go after
/// all others.
package struct EvictionPolicy: Sendable {
    /// Columns of `entry` and `generation`, as SQL orders by them.
    let order: String

    /// Evicts in the order of these columns of `entry` and `generation` (docs/disk-format.md).
    package init(order: String) { self.order = order }

    /// Entries of live streams first, then all others, the least recently used first in both.
    ///
    /// The index `entryByUse` has this order: no entry is looked at that stays.
    package static let liveFirst = EvictionPolicy(order: "entry.live DESC, entry.lastUsed")

    /// The least recently used first.
    package static let leastRecentlyUsed = EvictionPolicy(order: "entry.lastUsed")
}
