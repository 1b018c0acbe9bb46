/// Which entries go first when room is needed: an order of the index.
///
/// Eviction asks for the next few entries in this order. Pinned entries and downloads are never among them; of an entry
/// in use, extents go after all others.
package struct EvictionPolicy: Sendable {
    /// Columns of `entry` and `generation`, as SQL orders by them.
    let order: String

    /// Evicts in the order of these columns of `entry` and `generation` (docs/disk-format.md).
    package init(order: String) { self.order = order }

    /// The least recently used first.
    ///
    /// The index `entryByUse` has this order: no entry is looked at that stays.
    package static let leastRecentlyUsed = EvictionPolicy(order: "entry.lastUsed")
}
