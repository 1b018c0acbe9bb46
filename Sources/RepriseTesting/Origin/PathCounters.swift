public import ByteRanges

extension TestOrigin {
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
