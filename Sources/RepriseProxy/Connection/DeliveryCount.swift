import Reprise

/// Responses and bytes sent as hits until the kernel has accepted them; only then do they count as served.
struct DeliveryCount {
    /// Hits one after the other of files of the same host.
    private struct Sent {
        let host: String
        var reads: Int64 = 0
        var bytes: Int64 = 0
    }

    private var sent: [Sent] = []

    mutating func began(of host: String) { change(host) { $0.reads += 1 } }
    mutating func wrote(_ count: Int64, of host: String) { change(host) { $0.bytes += count } }

    private mutating func change(_ host: String, _ change: (inout Sent) -> Void) {
        if sent.last?.host != host { sent.append(Sent(host: host)) }
        change(&sent[sent.count - 1])
    }

    /// Notes that the kernel has accepted everything.
    mutating func delivered(to cache: MediaCache) {
        for part in sent { cache.noteServed(reads: part.reads, bytes: part.bytes, of: part.host) }
        sent.removeAll(keepingCapacity: true)
    }

    /// Notes that the connection is closed; bytes that the kernel never accepted were not delivered.
    mutating func brokenOff(_ cache: MediaCache) {
        for index in sent.indices { sent[index].bytes = 0 }
        delivered(to: cache)
    }
}
