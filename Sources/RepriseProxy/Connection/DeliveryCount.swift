import Reprise

/// Responses and bytes sent as hits until the kernel has accepted them; only then do they count as served.
struct DeliveryCount {
    private var reads: Int64 = 0
    private var bytes: Int64 = 0

    mutating func began() { reads += 1 }
    mutating func wrote(_ count: Int64) { bytes += count }

    /// Notes that the kernel has accepted everything.
    mutating func delivered(to cache: MediaCache) {
        guard reads > 0 || bytes > 0 else { return }
        cache.noteServed(reads: reads, bytes: bytes)
        self = DeliveryCount()
    }

    /// Notes that the connection is closed; bytes that the kernel never accepted were not delivered.
    mutating func brokenOff(_ cache: MediaCache) {
        bytes = 0
        delivered(to: cache)
    }
}
