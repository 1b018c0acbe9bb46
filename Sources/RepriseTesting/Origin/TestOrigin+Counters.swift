public import ByteRanges
import NIOCore
import NIOPosix

extension TestOrigin {
    /// The counters at this moment.
    ///
    /// A client may receive a byte an instant before it is counted, and the origin notices an abort only after the
    /// client has closed. Use ``settledSnapshot()`` or ``waitUntil(_:)`` to compare counters with a client's
    /// observations.
    public var snapshot: Snapshot { state.read { $0.snapshot } }

    /// The counters after every byte that a client can have received by now was counted.
    public func settledSnapshot() async -> Snapshot {
        // Bytes are counted in the same turn of the event loop that hands them to the kernel.
        for eventLoop in group.makeIterator() where isRunning {
            try? await eventLoop.submit {}.get()
        }
        return snapshot
    }

    /// Waits until `condition` is true of the counters, and returns those counters.
    ///
    ///     await origin.waitUntil { $0["/song.mp3"].requestCount == 3 }
    ///
    /// The condition is checked now and after each change; changes in quick succession may be seen as one. There is no
    /// time limit. If the task is canceled, the function returns at once, whatever the condition.
    @discardableResult
    public func waitUntil(_ condition: @Sendable (Snapshot) -> Bool) async -> Snapshot {
        while true {
            let version = state.changes.version
            let snapshot = snapshot
            if condition(snapshot) || Task.isCancelled { return snapshot }
            await state.changes.wait(past: version)
        }
    }

    /// Sets all counters but ``Snapshot/openConnections`` to zero and empties the request log.
    ///
    /// Bytes of responses that are under way still count at their path. Requests keep their numbering, and so does each
    /// resource: what its personality does to the first requests does not start again.
    public func resetCounters() {
        state.update { $0.resetCounters() }
    }

    /// All counters of an origin at one moment.
    public struct Snapshot: Sendable {
        /// The requests to all paths, in order of arrival.
        public internal(set) var requests: [HTTPRequestSummary] = []
        /// Number of accepted connections.
        public internal(set) var connectionsAccepted = 0
        /// Number of connections that are open now; resetting the counters does not change it.
        public internal(set) var openConnections = 0

        var paths: [String: PathTally] = [:]

        /// Number of requests, to all paths.
        public var requestCount: Int { requests.count }
        /// Number of responses that are not complete yet.
        public var responsesUnderWay: Int { requests.count { $0.outcome == .underWay } }
        /// The bytes of all bodies to all paths, without the framing of chunks.
        public var bodyBytesSent: Int64 { paths.values.reduce(0) { $0 + $1.bodyBytesSent } }
        /// Number of bytes sent that had been sent before, at all paths.
        public var bytesSentMoreThanOnce: Int64 { paths.values.reduce(0) { $0 + $1.bytesSentMoreThanOnce } }

        /// The counters of one path; all zero for a path that was never requested.
        public subscript(path: String) -> PathCounters {
            let tally = paths[path] ?? PathTally()
            return PathCounters(
                requests: requests.filter { $0.path == path },
                bodyBytesSent: tally.bodyBytesSent,
                distinctBytesSent: tally.distinct[tally.representation] ?? ByteRangeSet(),
                bytesSentMoreThanOnce: tally.bytesSentMoreThanOnce)
        }
    }

    /// The events at one path since the origin started or its counters were reset.
    ///
    /// A byte counts once the write that contains it succeeded, that is, once the kernel has it. Writes contain at most
    /// 64 KiB; a write that fails half way does not count.
    public struct PathCounters: Sendable {
        /// The requests, in order of arrival.
        public internal(set) var requests: [HTTPRequestSummary] = []
        /// The bytes of all bodies, error pages included, without the framing of chunks.
        public internal(set) var bodyBytesSent: Int64 = 0
        /// The offsets sent of the current representation.
        ///
        /// Setting a resource with other content or another entity tag begins a new representation.
        public internal(set) var distinctBytesSent = ByteRangeSet()
        /// Number of bytes sent that had been sent before, summed over all representations.
        public internal(set) var bytesSentMoreThanOnce: Int64 = 0

        /// Number of requests.
        public var requestCount: Int { requests.count }
    }
}

/// The running counts of one path.
struct PathTally: Sendable {
    /// The current representation at the path.
    var representation = 0
    var bodyBytesSent: Int64 = 0
    var bytesSentMoreThanOnce: Int64 = 0
    /// By representation: responses that began before a resource was replaced still send the old one.
    var distinct: [Int: ByteRangeSet] = [:]

    mutating func count(_ part: BodyPart, of representation: Int) {
        bodyBytesSent += part.length
        guard case .content(let range) = part else { return }
        var set = distinct[representation] ?? ByteRangeSet()
        let before = set.byteCount
        set.insert(range)
        bytesSentMoreThanOnce += part.length - (set.byteCount - before)
        distinct[representation] = set
    }
}
