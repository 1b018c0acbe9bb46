internal import ByteRanges

extension TestOrigin {
    /// All counters of an origin at one moment.
    public struct Snapshot: Sendable {
        /// The requests to all paths, in order of arrival.
        public internal(set) var requests: [HTTPRequestSummary] = []
        /// How many connections were accepted.
        public internal(set) var connectionsAccepted = 0
        /// How many connections are open now; resetting the counters does not change it.
        public internal(set) var openConnections = 0

        var paths: [String: PathTally] = [:]

        /// How many requests came, to all paths.
        public var requestCount: Int { requests.count }
        /// How many responses are not complete yet.
        public var responsesUnderWay: Int { requests.count { $0.outcome == .underWay } }
        /// The bytes of all bodies to all paths, without the framing of chunks.
        public var bodyBytesSent: Int64 { paths.values.reduce(0) { $0 + $1.bodyBytesSent } }
        /// How many bytes of representations were sent that had been sent before, at all paths.
        public var bytesSentMoreThanOnce: Int64 { paths.values.reduce(0) { $0 + $1.bytesSentMoreThanOnce } }

        /// The counters of one path; all zero for a path that nobody asked for.
        public subscript(path: String) -> PathCounters {
            let tally = paths[path] ?? PathTally()
            return PathCounters(
                requests: requests.filter { $0.path == path },
                bodyBytesSent: tally.bodyBytesSent,
                distinctBytesSent: tally.distinct[tally.representation] ?? ByteRangeSet(),
                bytesSentMoreThanOnce: tally.bytesSentMoreThanOnce)
        }
    }
}
