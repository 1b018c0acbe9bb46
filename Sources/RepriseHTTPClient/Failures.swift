import NIOCore
import NIOPosix
import NIOSSL
import Primitives
import Reprise

/// Converts the network's errors for the engine.
///
/// Messages name host and port, never a query.
enum Failures {
    /// A failed connection attempt.
    static func connect(_ error: any Error, to endpoint: Endpoint, timeout: TimeAmount) -> any Error {
        if error is RepriseError || error is CancellationError { return error }
        if let error = error as? ChannelError, case .connectTimeout = error {
            return timedOut("could not be connected to", at: endpoint, after: timeout)
        }
        if isLackOfDescriptors(error) { return noDescriptor(for: endpoint) }
        guard let attempt = error as? NIOConnectionError else { return unreachable(endpoint, cause: error) }
        if attempt.connectionErrors.contains(where: { isLackOfDescriptors($0.error) }) {
            return noDescriptor(for: endpoint)
        }
        if attempt.connectionErrors.isEmpty {
            if let refusal = (attempt.dnsAAAAError ?? attempt.dnsAError) as? RepriseError { return refusal }
            return RepriseError.originNotFound(endpoint.host, cause: error)
        }
        let timeouts = attempt.connectionErrors.filter {
            if let error = $0.error as? ChannelError, case .connectTimeout = error { true } else { false }
        }
        if timeouts.count == attempt.connectionErrors.count {
            return timedOut("could not be connected to", at: endpoint, after: timeout)
        }
        return unreachable(endpoint, cause: attempt.connectionErrors.first?.error ?? error)
    }

    /// A failed TLS negotiation.
    static func handshake(_ error: (any Error)?, with endpoint: Endpoint) -> any Error {
        if let error, error is RepriseError || error is CancellationError { return error }
        if error == nil || error is IOError || error is SocketGate.ConnectionReset {
            return RepriseError(
                .originUnreachable, "\(endpoint.name) closed the connection while TLS was negotiated; try again later.",
                cause: error)
        }
        return RepriseError.originNotTrusted(endpoint.name, cause: error)
    }

    /// An exchange that has no response yet.
    static func head(_ error: (any Error)?, from endpoint: Endpoint, hasSeenBytes: Bool) -> any Error {
        if let error, error is RepriseError || error is CancellationError { return error }
        guard isDisconnection(error) else { return misbehaved(endpoint, cause: error) }
        let what = hasSeenBytes ? "in the middle of the response's head" : "before it answered"
        return RepriseError(
            .originUnreachable, "\(endpoint.name) closed the connection \(what); try again later.", cause: error)
    }

    /// A body in transfer.
    static func body(_ error: (any Error)?, from endpoint: Endpoint) -> RepriseError {
        if let error = error as? RepriseError { return error }
        guard isDisconnection(error) else { return misbehaved(endpoint, cause: error) }
        return .originBodyTruncated(endpoint.name, cause: error)
    }

    static func timedOut(_ what: String, at endpoint: Endpoint, after time: TimeAmount) -> RepriseError {
        .originTimedOut(endpoint.name, what: what, within: .nanoseconds(time.nanoseconds))
    }

    /// Whether the connection was merely lost, as opposed to wrong bytes.
    static func isDisconnection(_ error: (any Error)?) -> Bool {
        switch error {
        case nil, is IOError, is SocketGate.ConnectionReset, is ChannelError, is CancellationError: true
        case let error as NIOSSLError: error == .uncleanShutdown
        default: false
        }
    }

    /// Whether a connection failed because this process, or the system, has no file descriptor left.
    static func isLackOfDescriptors(_ error: any Error) -> Bool {
        switch error {
        case let error as IOError: Descriptors.areMissing(error.errnoCode)
        case let error as RepriseError: (error.cause as? ConnectionQueueTimeout)?.isLackOfDescriptors == true
        default: false
        }
    }

    private static func noDescriptor(for endpoint: Endpoint) -> RepriseError {
        RepriseError(
            .originTimedOut,
            "No file descriptor is left for a connection to \(endpoint.name). Raise the limit of open files (ulimit -n).",
            cause: ConnectionQueueTimeout(isLackOfDescriptors: true))
    }

    private static func unreachable(_ endpoint: Endpoint, cause: any Error) -> RepriseError {
        .originUnreachable(endpoint.name, cause: cause)
    }

    private static func misbehaved(_ endpoint: Endpoint, cause: (any Error)?) -> RepriseError {
        RepriseError(
            .originMisbehaved,
            "The response of \(endpoint.name) is not valid HTTP/1.1 and cannot be used."
                + ((cause as? MalformedResponse).map { " \($0)" } ?? ""),
            cause: cause)
    }
}

/// The pool's own errors.
extension Failures {
    static var poolClosed: RepriseError { RepriseError(.closed, "The origin client was shut down.") }

    static func queueTimedOut(_ endpoint: Endpoint, _ limits: ConnectionPool.Limits) -> RepriseError {
        let seconds = Double(limits.queueTimeout.nanoseconds) / 1e9
        return RepriseError(
            .originTimedOut,
            "None of the \(limits.connections(to: endpoint)) connections to \(endpoint.name) became free within \(seconds) s; end what is not wanted, or allow more.",
            cause: ConnectionQueueTimeout())
    }

    static func budgetTimedOut(_ endpoint: Endpoint, limit: Int) -> RepriseError {
        RepriseError(
            .originTimedOut,
            "None of the connections to origins became free for \(endpoint.name): this process may have \(limit). Raise the limit of open files (ulimit -n).",
            cause: ConnectionQueueTimeout(isLackOfDescriptors: true))
    }

    static func givenUp(_ endpoint: Endpoint) -> RepriseError {
        RepriseError(
            .originBodyTruncated,
            "The connection to \(endpoint.name) was closed: its reader is slow or paused, and others need connections.")
    }
}
