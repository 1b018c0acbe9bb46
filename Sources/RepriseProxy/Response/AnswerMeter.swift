import NIOCore
import Primitives
import Reprise

/// Measures one answer that a task makes, by what is passed on.
///
/// The status is read off the head as it is sent, whatever made it.
final class AnswerMeter: Sendable {
    /// What was measured.
    struct Reading: Sendable {
        /// The status of the head; `nil` while there is none.
        fileprivate(set) var status: Int?
        /// What the head says of the cache, if that was to be kept.
        fileprivate(set) var cacheStatus: String?
        /// When the first bytes were passed on, by the clock that measures delays.
        fileprivate(set) var begun: Duration?
        /// Bytes of the body, without the framing of chunks.
        fileprivate(set) var bodyBytes: Int64 = 0
        /// What reads gave for the answer, whether or not it was passed on as it came.
        fileprivate(set) var served = SourceBytes()
        /// Where the first byte came from that a read gave.
        fileprivate(set) var source: PieceSource?
        fileprivate var isInBody: Bool
    }

    private let state: Mutex<Reading>
    private let elapsed: @Sendable () -> Duration

    private let keepsCacheStatus: Bool

    /// Creates the meter of an answer; the head was sent already if only the rest of a body follows.
    init(clock: CacheClock, isInBody: Bool = false, keepsCacheStatus: Bool = false) {
        elapsed = clock.elapsed
        self.keepsCacheStatus = keepsCacheStatus
        state = Mutex(Reading(isInBody: isInBody))
    }

    /// What was measured until now.
    var reading: Reading { state.withLock { $0 } }

    /// Notes that `buffer` is about to be passed on; returns how many bytes of it belong to the body.
    func begin(_ buffer: ByteBuffer) -> Int {
        guard buffer.readableBytes > 0 else { return 0 }
        let isInBody = state.withLock { state in
            if state.begun == nil { state.begun = elapsed() }
            defer { state.isInBody = true }
            return state.isInBody
        }
        guard !isInBody else { return buffer.readableBytes }
        let (status, length) = SentHead.measure(buffer)
        let cacheStatus = keepsCacheStatus ? SentHead.cacheStatus(buffer) : nil
        state.withLock { ($0.status, $0.cacheStatus) = (status, cacheStatus) }
        return buffer.readableBytes - length
    }

    /// Notes that so many bytes of the body were passed on.
    func passed(_ count: Int) { if count > 0 { state.withLock { $0.bodyBytes += Int64(count) } } }

    /// Notes what a read gave.
    func note(_ served: SourceBytes, first: PieceSource?) {
        state.withLock { state in
            state.served += served
            state.source = state.source ?? first
        }
    }
}
