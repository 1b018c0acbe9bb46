import HTTPSemantics
import HTTPTypes

/// The URL that a redirect led to, where further requests of the same play go.
///
/// Hosts that splice advertisements give each request to the first URL another file, and keep each file at the URL that
/// they redirect to. Pure: what happened comes in, decisions go out.
struct KeptTarget: Sendable {
    /// Where a response came from.
    struct Target: Sendable {
        let url: ResourceURL
        /// The request that was redirected there.
        private let source: OriginRequest
        /// Whether the way there leads over another host or port, where only harmless fields go.
        let hasLeftHost: Bool

        /// `nil` if the response came from the URL that was asked.
        init?(_ response: OriginResponse) {
            guard let asked = response.asked, asked.method == .get, response.isTarget, response.url != asked.url else {
                return nil
            }
            url = response.url
            source = asked
            // A client that does not say may have crossed another host.
            hasLeftHost = response.hasLeftHost ?? true
        }

        /// The request to send there in place of `request`; `nil` if that has another URL, other credentials, or other
        /// fields that may be a service's own credentials than the request that was redirected: its target must not
        /// serve them.
        func request(for request: OriginRequest) -> OriginRequest? {
            guard request.method == .get, request.context.source == nil, request.url == source.url,
                request.networkPolicy == source.networkPolicy, request.hasCredentials(of: source),
                request.fields.unkeyed.union(source.fields.unkeyed).allSatisfy({ name in
                    HTTPField.Name(name).map { request.fields[values: $0] == source.fields[values: $0] } ?? true
                })
            else { return nil }
            var sent = Redirect.sending(request, to: url, hasLeftHost: hasLeftHost)
            // Authorization is for the first URL: a refusal here leads back to that.
            sent.context.key = nil
            return sent
        }
    }

    /// What follows a request to the target.
    enum Verdict: Sendable, Equatable {
        /// The response, or the error, stands.
        case stands
        /// The first URL is asked once.
        case askFirst
    }

    private var target: Target?
    /// Responses in a row that may be only a moment's failure.
    private var failures = 0

    /// A response brought bytes that are played: further requests go where it came from.
    mutating func found(_ response: OriginResponse) {
        target = Target(response)
        failures = 0
    }

    /// The play is over.
    mutating func forget() {
        target = nil
        failures = 0
    }

    /// Where requests go at `date`, in seconds since 1970; `nil` for the first URL.
    func usable(at date: Int64) -> Target? {
        guard let target else { return nil }
        if let end = URLExpiry.end(of: target.url), end <= date { return nil }
        return target
    }

    /// `used` answered; `continues` says that its response belongs to the bytes that are played.
    ///
    /// One response of an overloaded server leaves the target as it is, and is repeated as usual.
    mutating func answered(_ used: Target, status: Int, continues: Bool) -> Verdict {
        if continues {
            if used.url == target?.url { failures = 0 }
            return .stands
        }
        guard used.url == target?.url else { return .askFirst }
        if status == 429 || 500..<600 ~= status {
            failures += 1
            if failures == 1 { return .stands }
        }
        forget()
        return .askFirst
    }

    /// `used` could not be asked.
    ///
    /// It is kept until the first URL has answered, because the network may be away for both.
    func failed(_ error: RepriseError) -> Verdict {
        switch error.code {
        case .networkUnavailable, .closed: .stands
        case .originTimedOut where error.cause is ConnectionQueueTimeout: .stands
        default: .askFirst
        }
    }
}

/// When a signed URL says that it ends.
///
/// Understands the query items of Amazon S3 and CloudFront, Google Cloud Storage, Azure, and `exp` inside Akamai's
/// tokens. Anything else counts as a URL without an end: a wrong guess costs one refused request.
enum URLExpiry {
    /// Times from here on are milliseconds: in seconds they would lie beyond the year 5000.
    private static let firstMilliseconds: Int64 = 100_000_000_000
    /// Longest lifetime that is added to a date, in seconds; beyond it the item is ignored.
    private static let longestLifetime: Int64 = 10 * 366 * 86_400

    /// The earliest end that `url` names, in seconds since 1970; `nil` if it names none.
    static func end(of url: ResourceURL) -> Int64? {
        let items = items(of: url)
        var ends: [Int64] = []
        if let text = items["expires"] ?? items["exp"], let end = seconds(text) { ends.append(end) }
        for vendor in ["x-amz-", "x-goog-"] {
            guard let date = items[vendor + "date"].flatMap({ HTTPDate(iso8601: $0) }),
                let lifetime = items[vendor + "expires"].flatMap({ Int64($0) }),
                (0...longestLifetime).contains(lifetime)
            else { continue }
            ends.append(date.secondsSince1970 + lifetime)
        }
        if let end = items["se"].flatMap({ HTTPDate(iso8601: $0) }) { ends.append(end.secondsSince1970) }
        for name in ["hdnea", "hdnts", "hdntl", "__token__"] {
            let parts = items[name]?.split(separator: "~") ?? []
            for part in parts where part.hasPrefix("exp=") {
                if let end = seconds(String(part.dropFirst("exp=".count))) { ends.append(end) }
            }
        }
        return ends.min()
    }

    private static func seconds(_ text: String) -> Int64? {
        guard let value = Int64(text), value > 0 else { return nil }
        return value >= firstMilliseconds ? value / 1000 : value
    }

    /// The first item of each name, in lower case.
    ///
    /// Colons, equal signs and tildes are decoded, which is all that times need.
    private static func items(of url: ResourceURL) -> [String: String] {
        guard let question = url.target.firstIndex(of: "?") else { return [:] }
        var items: [String: String] = [:]
        for item in url.target[url.target.index(after: question)...].split(separator: "&") {
            guard let equals = item.firstIndex(of: "=") else { continue }
            let name = item[..<equals].lowercased()
            if items[name] == nil { items[name] = decoded(item[item.index(after: equals)...]) }
        }
        return items
    }

    private static func decoded(_ text: Substring) -> String {
        var result = ""
        var rest = text
        while let percent = rest.firstIndex(of: "%") {
            result += rest[..<percent]
            let code = rest[percent...].prefix(3)
            switch code.uppercased() {
            case "%3A": result += ":"
            case "%3D": result += "="
            case "%7E": result += "~"
            default: result += code
            }
            rest = rest[percent...].dropFirst(3)
        }
        return result + rest
    }
}
