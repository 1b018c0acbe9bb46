import HTTPTypes
import NIOCore
import NIOPosix
import Reprise

/// What a proxy answered instead of opening the way; the cause of a ``RepriseError``.
struct ProxyRefusal: Error, Equatable, CustomStringConvertible {
    /// Such as `CONNECT: 503`.
    let description: String
}

/// The errors of the way to `endpoint` through `proxy`; messages name both without a log-in.
struct ProxyFailures: Sendable {
    let proxy: OutgoingProxy
    let endpoint: Endpoint

    // MARK: - The proxy cannot be used

    /// A failed connection to the proxy.
    func connect(_ error: any Error, timeout: TimeAmount) -> any Error {
        if error is RepriseError || error is CancellationError { return error }
        if let attempt = error as? NIOConnectionError {
            if attempt.connectionErrors.isEmpty {
                return RepriseError(
                    .originUnreachable,
                    "The name of the proxy \(proxy) cannot be resolved, through which \(endpoint.name) is asked; check "
                        + "its spelling and the network.", cause: attempt)
            }
            let errors = attempt.connectionErrors.map(\.error)
            if errors.allSatisfy(Self.isTimeout) { return connectTimedOut(after: timeout) }
            return unreachable(cause: errors.first ?? attempt)
        }
        return Self.isTimeout(error) ? connectTimedOut(after: timeout) : unreachable(cause: error)
    }

    private static func isTimeout(_ error: any Error) -> Bool {
        if let error = error as? ChannelError, case .connectTimeout = error { true } else { false }
    }

    private func unreachable(cause: any Error) -> RepriseError {
        RepriseError(
            .originUnreachable,
            "The proxy \(proxy) cannot be reached, through which \(endpoint.name) is asked; check its address, and that "
                + "it is up.", cause: cause)
    }

    func connectTimedOut(after time: TimeAmount) -> RepriseError {
        .originTimedOut(
            "The proxy \(proxy)", what: "could not be connected to", within: .nanoseconds(time.nanoseconds))
    }

    /// The proxy was connected to, but the origin was not.
    func tunnelTimedOut(after time: TimeAmount) -> RepriseError {
        .originTimedOut(
            endpoint.name, what: "could not be connected to through the proxy \(proxy)",
            within: .nanoseconds(time.nanoseconds))
    }

    /// The proxy's connection ended before the way was open.
    func ended(_ error: (any Error)?, isInTLS: Bool) -> any Error {
        if let error, error is RepriseError || error is CancellationError { return error }
        if isInTLS, let error, !Failures.isDisconnection(error) {
            return RepriseError.originNotTrusted("the proxy \(proxy)", cause: error)
        }
        return RepriseError(
            .originUnreachable,
            "The proxy \(proxy) closed the connection before the way to \(endpoint.name) was open; check how it is spoken "
                + "to (http, https, socks5), and its log.", cause: error)
    }

    /// What the proxy says is not the protocol.
    func misbehaved(_ protocolName: String) -> RepriseError {
        RepriseError(
            .originMisbehaved,
            "The proxy \(proxy) does not answer as \(protocolName) proxies do; check its address, and how it is spoken "
                + "to (http, https, socks5).")
    }

    // MARK: - The proxy refuses

    /// The proxy wants another log-in; `schemes` are those that it names.
    func login(schemes: [String] = [], cause: ProxyRefusal) -> RepriseError {
        let message: String
        if !schemes.isEmpty, !schemes.contains("basic") {
            message =
                "wants a log-in by \(schemes.joined(separator: ", ").printable), of which Reprise has none: it logs in by "
                + "user name and password (Basic)."
        } else if proxy.login == nil {
            message = "wants a log-in: write it before its host, such as http://user:password@proxy.example:3128."
        } else {
            message =
                "refuses the user name or the password; check both, and that special characters are in "
                + "percent-encoding."
        }
        return RepriseError(.originForbidden, "The proxy \(proxy) \(message)", cause: cause)
    }

    /// The same, of a proxy that answered a request with `fields` and 407.
    func login(_ fields: HTTPFields) -> RepriseError {
        let challenges = fields[values: .proxyAuthenticate]
        return login(
            schemes: challenges.compactMap { $0.split(separator: " ").first.map { $0.lowercased() } },
            cause: ProxyRefusal(description: "407"))
    }

    /// The proxy may not be asked for this origin.
    func forbidden(cause: ProxyRefusal) -> RepriseError {
        RepriseError(
            .originForbidden,
            "The proxy \(proxy) does not connect to \(endpoint.name): one of its rules forbids that. Ask who runs it, or ask "
                + "this host directly (NO_PROXY).", cause: cause)
    }

    /// The proxy could not connect to the origin.
    func notReached(cause: ProxyRefusal) -> RepriseError {
        RepriseError(
            .originUnreachable,
            "The proxy \(proxy) could not connect to \(endpoint.name); check that it is up, and that the proxy may reach "
                + "it.", cause: cause)
    }

    /// The origin is at an address that the cache does not fetch from.
    var forbiddenAddress: RepriseError {
        RepriseError(
            .originForbidden,
            "\(endpoint.name) is at an address outside the public internet, which this cache does not fetch from, not "
                + "through the proxy \(proxy) either. Who runs it can allow that: reprise serve --allow-private.")
    }
}

extension String {
    /// Without anything that moves the cursor of a terminal; a proxy sent it.
    fileprivate var printable: String {
        String(String.UnicodeScalarView(unicodeScalars.filter { (0x20..<0x7F).contains($0.value) }))
    }
}
