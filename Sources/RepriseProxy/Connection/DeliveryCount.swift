import Reprise

/// Responses and bytes answered from memory or region by region, until the kernel has them: then they count as served.
struct DeliveryCount {
    private var reads: Int64 = 0
    private var bytes: Int64 = 0

    mutating func began() { reads += 1 }
    mutating func wrote(_ count: Int64) { bytes += count }

    /// The kernel has everything.
    mutating func delivered(to cache: MediaCache) {
        guard reads > 0 || bytes > 0 else { return }
        cache.noteServed(reads: reads, bytes: bytes)
        self = DeliveryCount()
    }

    /// The connection is gone: bytes that the kernel never got were not delivered.
    mutating func brokenOff(_ cache: MediaCache) {
        bytes = 0
        delivered(to: cache)
    }
}
