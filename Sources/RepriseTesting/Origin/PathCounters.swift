public import ByteRanges

extension TestOrigin {
    /// What happened at one path since the origin started or its counters were reset.
    ///
    /// A byte counts once the write that holds it succeeded, that is, once the kernel has it. Writes hold at most 64 KiB;
    /// of one that fails half way nothing counts.
    public struct PathCounters: Sendable {
        /// The requests, in order of arrival.
        public internal(set) var requests: [HTTPRequestSummary] = []
        /// The bytes of all bodies, error pages included, without the framing of chunks.
        public internal(set) var bodyBytesSent: Int64 = 0
        /// The offsets sent of the representation that is there now.
        ///
        /// Setting a resource with other content or another entity tag begins a new representation.
        public internal(set) var distinctBytesSent = ByteRangeSet()
        /// How many bytes of representations were sent that had been sent before; the sum over all representations.
        public internal(set) var bytesSentMoreThanOnce: Int64 = 0

        /// How many requests came.
        public var requestCount: Int { requests.count }
    }
}
