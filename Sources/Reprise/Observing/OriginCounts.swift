/// What was asked of an origin, and what came.
package struct OriginCounts: Sendable, Equatable {
    /// How a request to an origin ended.
    package enum Outcome: String, Sendable, CaseIterable {
        /// By the status of the response.
        case successful = "2xx", redirection = "3xx", clientError = "4xx", serverError = "5xx"
        /// There was no response.
        case failed
        /// Its reader left before the response came.
        case canceled

        /// The outcome of a response with that status.
        init(status: Int) {
            switch status {
            case ..<300: self = .successful
            case ..<400: self = .redirection
            case ..<500: self = .clientError
            default: self = .serverError
            }
        }
    }

    /// Bytes of bodies.
    ///
    /// Never falls, as a counter of a monitor must not: bytes that are taken back are not counted again when they come
    /// a second time.
    package private(set) var bytes: Int64 = 0
    private var received: Int64 = 0
    /// Bytes of its media that readers got, from whatever source; never falls either.
    package private(set) var servedBytes: Int64 = 0
    private var given: Int64 = 0
    /// Requests by outcome; those without an outcome yet are not counted.
    package private(set) var requests: [Outcome: Int64] = [:]
    private var requestCount: Int64 = 0
    /// Times from request to response head.
    package private(set) var firstByte = LatencyHistogram()

    package init() {}

    /// How busy the origin is: bytes that it sent and that readers got of it, and one for each request.
    package var weight: Int64 { bytes + servedBytes + requestCount }

    /// Counts `count` bytes of a body; below zero for bytes that will be counted again.
    package mutating func noteBytes(_ count: Int64) {
        received += count
        bytes = max(bytes, received)
    }

    /// Counts bytes that readers got; below zero for bytes that they will get again.
    package mutating func noteServed(_ count: Int64) {
        given += count
        servedBytes = max(servedBytes, given)
    }

    /// Counts a request that ended so; `delay` is the time until the head came.
    package mutating func noteRequest(_ outcome: Outcome, after delay: Duration? = nil) {
        requests[outcome, default: 0] += 1
        requestCount += 1
        if let delay { firstByte.note(delay) }
    }

    /// Adds the counts of `right` to `left`.
    package static func += (left: inout OriginCounts, right: OriginCounts) {
        left.bytes += right.bytes
        left.received += right.received
        left.servedBytes += right.servedBytes
        left.given += right.given
        left.requests.merge(right.requests, uniquingKeysWith: +)
        left.requestCount += right.requestCount
        left.firstByte += right.firstByte
    }
}
