import Reprise

/// The answers of a server, or of one of its event loops.
struct AnswerTally: Sendable, Equatable {
    /// Methods that are counted separately; all others count as ``other``.
    enum Method: Int, Sendable, CaseIterable {
        case get, head, options, other

        init(_ method: ClientHead.Method) {
            switch method {
            case .get: self = .get
            case .head: self = .head
            case .options: self = .options
            case .other: self = .other
            }
        }

        /// Its label.
        var name: String {
            switch self {
            case .get: "GET"
            case .head: "HEAD"
            case .options: "OPTIONS"
            case .other: "other"
            }
        }
    }

    /// The classes of status codes (RFC 9110 §15).
    enum Code: Int, Sendable, CaseIterable {
        case successful, redirection, clientError, serverError
        /// The client left before there was a head.
        case none

        init(_ status: Int?) {
            guard let status else {
                self = .none
                return
            }
            switch status {
            case ..<300: self = .successful
            case ..<400: self = .redirection
            case ..<500: self = .clientError
            default: self = .serverError
            }
        }

        /// Its label.
        var name: String {
            switch self {
            case .successful: "2xx"
            case .redirection: "3xx"
            case .clientError: "4xx"
            case .serverError: "5xx"
            case .none: "none"
            }
        }
    }

    private var responses = [Int64](repeating: 0, count: Method.allCases.count * Code.allCases.count)
    private var fromStore = LatencyHistogram()
    private var fromJoined = LatencyHistogram()
    private var fromOrigin = LatencyHistogram()
    /// What was answered to the holders of each token that has a name.
    private(set) var tokens: [String: TokenTally] = [:]
    /// Media bytes sent to clients, by source.
    private(set) var served = SourceBytes()
    /// Hits that are being sent.
    var hitsUnderWay: Int64 = 0

    /// Counts an answer that is over.
    mutating func note(_ record: AnswerRecord) {
        if let name = record.holder?.name {
            tokens[name, default: TokenTally()] += TokenTally(responses: 1, bodyBytes: record.bodyBytes)
        }
        responses[Self.place(record.method, Code(record.status))] += 1
        served += record.served
        guard let source = record.source, let firstByte = record.firstByte else { return }
        switch source {
        case .store: fromStore.note(firstByte)
        case .joined: fromJoined.note(firstByte)
        case .origin: fromOrigin.note(firstByte)
        }
    }

    /// Number of answers of that kind.
    func count(_ method: Method, _ code: Code) -> Int64 { responses[Self.place(method, code)] }

    /// The times until the first bytes of answers whose first byte came from `source`.
    func firstByte(from source: PieceSource) -> LatencyHistogram {
        switch source {
        case .store: fromStore
        case .joined: fromJoined
        case .origin: fromOrigin
        }
    }

    private static func place(_ method: Method, _ code: Code) -> Int {
        method.rawValue * Code.allCases.count + code.rawValue
    }

    /// Adds the answers of `right` to `left`.
    static func += (left: inout AnswerTally, right: AnswerTally) {
        for place in left.responses.indices { left.responses[place] += right.responses[place] }
        left.fromStore += right.fromStore
        left.fromJoined += right.fromJoined
        left.fromOrigin += right.fromOrigin
        left.served += right.served
        left.hitsUnderWay += right.hitsUnderWay
        left.tokens.merge(right.tokens) { $0 + $1 }
    }
}

/// Answers to the holders of one token.
struct TokenTally: Sendable, Equatable {
    var responses: Int64 = 0
    /// Bytes of bodies that were passed on.
    var bodyBytes: Int64 = 0

    static func + (left: TokenTally, right: TokenTally) -> TokenTally {
        TokenTally(responses: left.responses + right.responses, bodyBytes: left.bodyBytes + right.bodyBytes)
    }

    static func += (left: inout TokenTally, right: TokenTally) { left = left + right }
}

/// The answers of the connections of one event loop, counted there without a lock.
///
/// Everything here runs on that loop.
final class AnswerCounts {
    var tally = AnswerTally()
    /// The clock that measures delays, held here because every answer reads it.
    let elapsed: @Sendable () -> Duration

    init(clock: CacheClock) { elapsed = clock.elapsed }
}

/// The figures of one answer, counted when it ends.
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
    /// The holder of the request's token.
    var holder: TokenHolder?
    /// Its slot among the files sent to the holder, if those are limited.
    var place: AnswerPlace?
    /// The request's part of the access log, if there is one.
    var request: LoggedRequest?
    /// The Cache-Status that was sent, for the access log.
    var cacheStatus: String?

    init(start: Duration, method: AnswerTally.Method) { (self.start, self.method) = (start, method) }
}
