import HTTPSemantics
package import HTTPTypes
import Primitives

/// The cost of a new request, by origin: time to first byte and rate, as moving averages.
///
/// Waiting for a running fetch is better than a new request while fewer bytes lie in between than rate × time to first
/// byte. The lock is a leaf.
final class OriginTimings: Sendable {
    private struct Timing {
        var firstByte: Double?
        var bytesPerSecond: Double?
    }

    /// Bounds of the distance worth waiting for, in bytes.
    ///
    /// The bytes in between may be wanted by no reader: players that skip from one fragment header to the next, half a
    /// megabyte apart, would otherwise fetch a whole film for a few kilobytes.
    static let bounds: ClosedRange<Double> = 65_536...262_144
    /// The distance before the first measurement.
    static let unmeasured: Int64 = 64 << 10
    /// The rate before the first measurement, in bytes per second.
    private static let unmeasuredRate = 1_048_576.0
    /// Weight of the newest measurement.
    private static let weight = 0.3
    /// Number of origins remembered; beyond it the table is cleared.
    private static let capacity = 1024

    private let timings = Mutex<[String: Timing]>([:])

    /// How many bytes before the wanted one a running fetch may be for a reader to wait for it.
    func joinDistance(for host: String) -> Int64 {
        timings.withLock { timings in
            guard let timing = timings[host], let delay = timing.firstByte, let rate = timing.bytesPerSecond else {
                return Self.unmeasured
            }
            return Int64(min(max(rate * delay, Self.bounds.lowerBound), Self.bounds.upperBound))
        }
    }

    /// How many bytes arrive from there in `duration`.
    func bytes(in duration: Duration, from host: String) -> Int64 {
        let rate = timings.withLock { $0[host]?.bytesPerSecond } ?? Self.unmeasuredRate
        return Int64(min(rate * (duration / .seconds(1)), Double(Int64.largestPosition)))
    }

    func noteFirstByte(_ delay: Duration, from host: String) {
        update(host) { $0.firstByte = Self.average($0.firstByte, with: delay / .seconds(1)) }
    }

    /// Notes that `bytes` arrived in `duration`, during which the socket was being read.
    func noteRate(bytes: Int64, in duration: Duration, from host: String) {
        guard bytes >= 64 << 10, duration > .zero else { return }
        update(host) {
            $0.bytesPerSecond = Self.average($0.bytesPerSecond, with: Double(bytes) / (duration / .seconds(1)))
        }
    }

    private func update(_ host: String, _ change: (inout Timing) -> Void) {
        timings.withLock { timings in
            if timings.count >= Self.capacity, timings[host] == nil { timings = [:] }
            change(&timings[host, default: Timing()])
        }
    }

    private static func average(_ old: Double?, with new: Double) -> Double {
        old.map { $0 + weight * (new - $0) } ?? new
    }
}

/// How long a client waits for bytes from an origin.
///
/// Players wait a minute or longer for a transcode to start or a torrent to download. If there is no alternative, this
/// client waits at least as long as any player. It gives up earlier if stored bytes or a range request can replace a
/// silent response.
package struct OriginPatience: Sendable {
    /// Configured time limits from a request to the response head, and between bytes of a body; `nil` for the defaults.
    private let response, idle: Duration?
    /// Added to the default limits.
    private let margin: Duration

    /// The default limit if there is no alternative, longer than the timeout of any player.
    static let longest = Duration.seconds(300)
    /// The default limit if a range request can fetch the rest.
    static let shortest = Duration.seconds(30)
    /// The default limit if a stored response can be served stale.
    static let validation = Duration.seconds(10)

    package init(response: Duration?, idle: Duration?, margin: Duration = .zero) {
        (self.response, self.idle, self.margin) = (response, idle, margin)
    }

    /// The time limit from `request` to the head of its response.
    ///
    /// The default limit of a conditional request is short, and shorter if the stored response can be served stale.
    package func untilHead(of request: OriginRequest) -> Duration {
        let isValidation = request.fields[.ifNoneMatch] != nil || request.fields[.ifModifiedSince] != nil
        let usual =
            request.context.canServeStale ? Self.validation : isValidation ? Self.shortest : Self.longest
        return max(response ?? usual + margin, request.longestSilence ?? .zero)
    }

    /// The time limit between two pieces of the body of `head`, while its consumer waits.
    package func withinBody(of request: OriginRequest, _ head: HTTPResponse) -> Duration {
        let usual = Self.canResume(head, for: request) ? Self.shortest : Self.longest
        return max(idle ?? usual + margin, request.longestSilence ?? .zero)
    }

    /// Whether a range request can fetch the rest of the body.
    ///
    /// This requires a strong validator (RFC 9110 §13.1.5) and an origin that supports ranges. The rest of a response
    /// that is not stored is not requested.
    package static func canResume(_ head: HTTPResponse, for request: OriginRequest) -> Bool {
        guard request.method == .get, !CacheControl(head.headerFields, isShared: false).noStore,
            Validators(head.headerFields).ifRangeValue != nil
        else { return false }
        return head.status == .partialContent
            || head.headerFields[.acceptRanges].flatMap { AcceptRanges($0)?.supportsBytes } == true
    }
}
