import HTTPSemantics
import HTTPTypes
import Reprise

/// For how long a response of a stream's live edge is kept in memory, and whom it may answer: pure decisions.
struct KeepingRules: Sendable {
    /// What a response is.
    enum Subject: Sendable {
        /// A playlist for which the origin may have held the request, or a delta update.
        case playlist
        /// A part, or what a preload hint names.
        case part
    }

    let subject: Subject
    /// Whether the cache serves several users.
    let isShared: Bool
    /// Target duration of the stream; `nil` while it is unknown.
    var targetDuration: Duration?

    /// Whether a complete response may stay in memory for later requests.
    func mayKeep(_ head: SharedExchange.Head) -> Bool {
        let policy = StoragePolicy(isShared: isShared)
        let fields = head.response.headerFields
        guard policy.objection(to: CacheControl(fields, isShared: isShared)) == nil else { return false }
        switch head.response.status.code {
        case 200, 206: return true
        // What a hint names may exist a moment later.
        case 400..<600: return subject == .playlist
        default: return false
        }
    }

    /// How long a complete response is kept.
    ///
    /// As the origin says; without a word from it, for six target durations, and failures for half of one (rfc8216bis
    /// §B.1 allows up to four).
    func lifetime(of head: SharedExchange.Head) -> Duration {
        guard mayKeep(head) else { return .zero }
        let freshness = self.freshness(of: head)
        if freshness.requiresValidation { return .zero }
        if freshness.hasExplicitLifetime { return .seconds(max(0, freshness.lifetime - freshness.initialAge)) }
        guard let targetDuration else { return .zero }
        return head.response.status.kind == .successful ? targetDuration * 6 : targetDuration / 2
    }

    /// The freshness of a response; never guessed from its modification date.
    func freshness(of head: SharedExchange.Head) -> Freshness {
        var fields = head.response.headerFields
        fields[.lastModified] = nil
        return Freshness(
            fields, requestTime: HTTPDate(secondsSince1970: Int64(head.requestTime)),
            responseTime: HTTPDate(secondsSince1970: Int64(head.responseTime)), isShared: isShared)
    }

    /// Whether a response to a request with the fields `sent` may answer a request with `fields` (RFC 9111 §4.1, §3).
    ///
    /// Both have the same credentials.
    func mayShare(_ head: SharedExchange.Head, askedWith sent: HTTPFields, by fields: HTTPFields) -> Bool {
        let response = head.response.headerFields
        // Share only bodies that are kept whole: otherwise, readers that fall behind the fastest one are cut off.
        guard response[.contentLength].flatMap({ Int64($0) }) ?? 0 <= SharedExchange.longestBody else { return false }
        guard let vary = Vary(response),
            vary.names.allSatisfy({ Self.values(sent, of: $0) == Self.values(fields, of: $0) })
        else { return false }
        guard isShared else { return true }
        var policy = StoragePolicy(isShared: true, hasAuthorization: sent[.authorization] != nil)
        policy.unkeyedFields = sent.unkeyed.union(fields.unkeyed)
        return response[.setCookie] == nil
            && policy.objection(to: CacheControl(response, isShared: true), vary: vary) == nil
    }

    /// Whether a response to a request with the fields `sent` is the same for all requests.
    func mayServeEveryone(_ head: SharedExchange.Head, askedWith sent: HTTPFields) -> Bool {
        mayShare(head, askedWith: sent, by: sent) && Vary(head.response.headerFields)?.isEmpty == true
    }

    private static func values(_ fields: HTTPFields, of name: String) -> [String] {
        guard let name = HTTPField.Name(name) else { return [] }
        return fields[values: name]
    }
}

/// Delivery directives in the query of a playlist's URL: what the server waits for, or may leave out (rfc8216bis
/// §6.2.5).
extension ResourceURL {
    /// Whether the origin may hold the request until the playlist has grown, or may answer with a delta update.
    var hasDeliveryDirectives: Bool {
        queryNames.contains { Self.directives.contains($0) }
    }

    /// The URL without parameters that clients of HLS add, by which a playlist is known.
    ///
    /// The other parameters keep their order and spelling.
    var withoutDirectives: ResourceURL {
        guard let question = target.firstIndex(of: "?"), target[question...].contains("_HLS_") else { return self }
        let kept = target[question...].dropFirst().split(separator: "&", omittingEmptySubsequences: false)
            .filter { !$0.hasPrefix("_HLS_") }
        let query = kept.isEmpty ? "" : "?" + kept.joined(separator: "&")
        return (try? ResourceURL("\(scheme.rawValue)://\(authority)\(target[..<question])\(query)")) ?? self
    }

    private var queryNames: [Substring] {
        guard let question = target.firstIndex(of: "?"), target[question...].contains("_HLS_") else { return [] }
        return target[question...].dropFirst().split(separator: "&").map { $0.prefix { $0 != "=" } }
    }

    private static let directives: Set<Substring> = ["_HLS_msn", "_HLS_part", "_HLS_skip"]
}
