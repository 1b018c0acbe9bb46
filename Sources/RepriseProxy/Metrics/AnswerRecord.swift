import Reprise

/// One answer, as it is counted once it is over.
///
/// A class because it is handed on at each step of every hit, on one event loop.
final class AnswerRecord {
    /// When the request was complete and its turn had come, by the clock that measures delays.
    let start: Duration
    let method: AnswerTally.Method
    /// `nil` if the client left before there was a head.
    var status: Int?
    /// How long after ``start`` the first bytes were passed on to the system.
    var firstByte: Duration?
    /// Where the first byte of the body came from; `nil` for the proxy's own texts and what is only passed on.
    var source: PieceSource?
    /// Bytes of media for this answer, by their source.
    var served = SourceBytes()
    /// Bytes of the body that were passed on, without the framing of chunks.
    var bodyBytes: Int64 = 0
    /// Those whose token the request has.
    var holder: TokenHolder?
    /// Its place among the files that are sent to them, if those are limited.
    var place: AnswerPlace?
    /// What an access log says of the request, if there is one.
    var request: LoggedRequest?
    /// What the client was told of the cache, for the access log.
    var cacheStatus: String?

    init(start: Duration, method: AnswerTally.Method) { (self.start, self.method) = (start, method) }
}
