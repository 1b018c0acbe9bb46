internal import ByteRanges

extension TestOrigin {
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
}
