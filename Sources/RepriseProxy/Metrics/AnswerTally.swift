import Reprise

/// The answers of a server, or of one of its event loops.
struct AnswerTally: Sendable, Equatable {
    /// Methods that are counted apart; clients may send any others.
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
