/// Requests to an origin, and their results.
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

/// How often something took how long, in the buckets of Prometheus's clients, from 1 ms to 10 s.
package struct LatencyHistogram: Sendable, Equatable {
    /// The upper bounds of the buckets, in seconds and inclusive; one more bucket has no bound.
    package static let bounds: [Double] = [
        0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]

    /// Number of measurements in each bucket, not cumulated; the last bucket has no bound.
    package private(set) var counts = [Int64](repeating: 0, count: bounds.count + 1)
    /// Sum of all measurements, in seconds.
    package private(set) var sum = 0.0

    package init() {}

    /// Number of measurements.
    package var count: Int64 { counts.reduce(0, +) }

    /// Adds a measurement; one below zero counts as zero.
    package mutating func note(_ duration: Duration) {
        let seconds = max(0, duration / .seconds(1))
        var bucket = 0
        while bucket < Self.bounds.count, seconds > Self.bounds[bucket] { bucket += 1 }
        counts[bucket] += 1
        sum += seconds
    }

    /// Adds all measurements of `right` to `left`.
    package static func += (left: inout LatencyHistogram, right: LatencyHistogram) {
        for bucket in left.counts.indices { left.counts[bucket] += right.counts[bucket] }
        left.sum += right.sum
    }
}

/// What servers were asked for that stand in place of origins, and what came of it.
package struct ParentTally: Sendable, Equatable {
    /// How a request to a parent ended.
    package enum Outcome: String, CaseIterable, Sendable {
        /// With the response of the origin.
        case answered
        /// With a response that is not the origin's: the parent ends, has too much to do, or is no server of Reprise.
        case declined
        /// Without a response.
        case failed
    }

    /// Where a request went on for which a parent did not answer.
    package enum Resort: String, CaseIterable, Sendable {
        /// To another parent.
        case parent
        /// To the origin.
        case origin
        /// It failed.
        case nowhere
    }

    /// The counts of one parent.
    package struct Counts: Sendable, Equatable {
        package var requests: [Outcome: Int64] = [:]
        /// Of bodies.
        package var bytes: Int64 = 0
        /// Bodies that broke off.
        package var brokenBodies: Int64 = 0

        package init() {}
    }

    /// By host and port.
    package var parents: [String: Counts] = [:]
    package var resorts: [Resort: Int64] = [:]

    package init() {}
}
