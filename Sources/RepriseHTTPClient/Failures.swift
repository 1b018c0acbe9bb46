import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Reprise

/// Converts the network's errors for the engine.
///
/// Messages name host and port, never a query.
enum Failures {
    /// A failed connection attempt.
    static func connect(_ error: any Error, _ endpoint: Endpoint, timeout: TimeAmount) -> any Error {
        if error is RepriseError || error is CancellationError { return error }
        if let error = error as? ChannelError, case .connectTimeout = error {
            return timedOut("could not be connected to", endpoint, timeout)
        }
        guard let attempt = error as? NIOConnectionError else { return unreachable(endpoint, error) }
        if attempt.connectionErrors.isEmpty {
            if let refusal = (attempt.dnsAAAAError ?? attempt.dnsAError) as? RepriseError { return refusal }
            return RepriseError(
                .originNotFound, "The name \(endpoint.host) cannot be resolved; check its spelling and the network.",
                cause: error)
        }
        let timeouts = attempt.connectionErrors.filter {
            if let error = $0.error as? ChannelError, case .connectTimeout = error { true } else { false }
        }
        if timeouts.count == attempt.connectionErrors.count {
            return timedOut("could not be connected to", endpoint, timeout)
        }
        return unreachable(endpoint, attempt.connectionErrors.first?.error ?? error)
    }

    /// A failed TLS negotiation.
    static func handshake(_ error: (any Error)?, _ endpoint: Endpoint) -> any Error {
        if let error, error is RepriseError || error is CancellationError { return error }
        if error == nil || error is IOError || error is SocketGate.ConnectionReset {
            return RepriseError(
                .originUnreachable, "\(endpoint.name) closed the connection while TLS was negotiated; try again later.",
                cause: error)
        }
        return RepriseError(
            .originNotTrusted,
            "TLS with \(endpoint.name) failed: its certificate is not trusted for that name, or it speaks no TLS 1.2. Check the name, the clock and the trusted roots.",
            cause: error)
    }

    /// An exchange that has no response yet.
    static func head(_ error: (any Error)?, _ endpoint: Endpoint, hasSeenBytes: Bool) -> any Error {
        if let error, error is RepriseError || error is CancellationError { return error }
        guard isDisconnection(error) else { return misbehaved(endpoint, error) }
        let what = hasSeenBytes ? "in the middle of the response's head" : "before it answered"
        return RepriseError(
            .originUnreachable, "\(endpoint.name) closed the connection \(what); try again later.", cause: error)
    }

    /// A body in transfer.
    static func body(_ error: (any Error)?, _ endpoint: Endpoint) -> RepriseError {
        if let error = error as? RepriseError { return error }
        guard isDisconnection(error) else { return misbehaved(endpoint, error) }
        return RepriseError(
            .originBodyTruncated,
            "\(endpoint.name) ended the connection before the end of the body; ask for the rest with a range.",
            cause: error)
    }

    static func timedOut(_ what: String, _ endpoint: Endpoint, _ time: TimeAmount) -> RepriseError {
        let seconds = Double(time.nanoseconds) / 1e9
        return RepriseError(.originTimedOut, "\(endpoint.name) \(what) within \(seconds) s; try again later.")
    }

    /// Whether the connection was merely lost, as opposed to wrong bytes.
    static func isDisconnection(_ error: (any Error)?) -> Bool {
        switch error {
        case nil, is IOError, is SocketGate.ConnectionReset, is ChannelError, is CancellationError: true
        case let error as HTTPParserError: error == .invalidEOFState
        case let error as NIOSSLError: error == .uncleanShutdown
        default: false
        }
    }

    private static func unreachable(_ endpoint: Endpoint, _ cause: any Error) -> RepriseError {
        RepriseError(
            .originUnreachable,
            "\(endpoint.name) cannot be reached; check that it is up and that nothing blocks the way.",
            cause: cause)
    }

    private static func misbehaved(_ endpoint: Endpoint, _ cause: (any Error)?) -> RepriseError {
        RepriseError(
            .originMisbehaved, "The response of \(endpoint.name) is not valid HTTP/1.1 and cannot be used.",
            cause: cause)
    }
}
