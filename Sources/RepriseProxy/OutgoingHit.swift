import Reprise

/// A stored response on its way to a client, in regions of a few megabytes.
///
/// Each region is looked up, leased and counted by itself: eviction takes what was sent, a file that was cut off shows, and
/// a client that leaves early has not been counted as served.
struct OutgoingHit: Sendable {
    let head: RequestHead
    let resource: MediaResource
    /// What the head promised.
    let generation: String
    /// Where the response ends, exclusive.
    let end: Int64

    /// Bytes of the first region: few, because many clients leave early.
    static let firstRegion: Int64 = 512 << 10
    private static let largestRegion: Int64 = 4 << 20

    /// Bytes of the region that follows `region`: twice as many, up to 4 MiB.
    static func size(after region: StoredRegion) -> Int64 { min(2 * Int64(region.count), largestRegion) }
}
