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
