import HTTPTypes
public import NIOCore
import NIOPosix
import Primitives
public import Reprise

/// An HTTP/1.1 client on SwiftNIO, made for filling a media cache.
///
/// - Reads from a socket only while the body is being pulled or fewer than ``Configuration/readAhead`` bytes are
///   buffered: a stalled consumer stalls the origin, and a body never holds more than 1 MiB.
/// - Passes the network's buffers on without copying; every chunk is a ``ByteBufferChunk``.
/// - Keeps connections and reuses them after a body was read to its end.
/// - Follows redirects, by default never from https to http, and takes only harmless fields to another host or port.
/// - Verifies TLS with the system's roots; this cannot be switched off.
///
/// It uses a proxy if ``Configuration/proxies`` names one: HTTP with CONNECT, or SOCKS5.
///
/// Accepts the same malformed HTTP/1.1 responses as players do, and closes the connection after such a response.
///
/// It does not cache, decompress or speak HTTP/2. Cookies from a redirect are sent with the requests that follow it,
/// and then discarded. A GET or HEAD that fails on a reused connection before any byte of the response arrives is sent
/// once more on a new connection. Nothing else is retried.
public final class NIOOrigin: Origin {
    private let configuration: Configuration
    private let pool: ConnectionPool
    private let connector: Connector
    /// `nil` if no host has a rate.
    private let paces: HostPaces?
    /// `nil` if there are several users.
    private let logins: RedirectLogins?

    /// Creates a client; opens no connection yet.
    ///
    /// `group` runs the connections and is not shut down by the client; by default NIO's process-wide one.
    public init(configuration: Configuration = .init(), group: (any EventLoopGroup)? = nil) {
        self.configuration = configuration
        let group = group ?? MultiThreadedEventLoopGroup.singleton
        self.pool = ConnectionPool(
            limits: .init(
                connections: max(1, configuration.maximumConnectionsPerHost),
                connectionsToHost: configuration.connectionsToHost,
                lent: configuration.maximumThrottledPerHost, idle: configuration.maximumIdlePerHost,
                queueTimeout: TimeAmount(configuration.queueTimeout)),
            budget: configuration.connections
                ?? ConnectionBudget(descriptors: Descriptors.limit ?? Configuration.usualDescriptors),
            group: group)
        self.connector = Connector(configuration: configuration, group: group)
        self.logins = configuration.remembersLogins ? RedirectLogins() : nil
        self.paces = configuration.rateOfHost.map { HostPaces(rate: $0, clock: configuration.clock) }
    }

    /// Number of requests that wait for a connection.
    var queuedRequests: Int { pool.queued }

    /// Closes all connections and waits until they are closed.
    ///
    /// Bodies in transfer and later requests fail with `closed`.
    public func shutdown() async {
        await pool.close()
    }

    /// Sends `request`, follows redirects (of GET and HEAD), and returns when the head of the final response has
    /// arrived.
    ///
    /// `Host` is sent first, then the given fields without hop-by-hop ones, then `User-Agent` and `Accept-Encoding:
    /// identity` if they are missing; the target is sent as spelled. Interim responses (1xx) go to `onInterim`.
    /// Canceling the task closes the connection.
    ///
    /// The body's `next()` returns buffered pieces without a thread hop. Canceling its task ends the transfer as
    /// `cancel()` does: buffered pieces are still returned, then `CancellationError` instead of `nil`, so that a cut
    /// body is never taken for a complete one. Releasing the body closes its connection.
    ///
    /// Throws ``RepriseError`` with code `invalidArgument` (method, field), `originNotFound`, `originUnreachable`,
    /// `originNotTrusted`, `originTimedOut`, `originMisbehaved`, `originRedirectRefused`, `originForbidden` or
    /// `closed`; or `CancellationError`.
    public func send(_ request: OriginRequest) async throws -> OriginResponse {
        var follower = RedirectFollower(
            request, limit: configuration.redirectLimit,
            mayLeaveTLS: configuration.mayLeaveTLS?(request.url.host) ?? false, now: configuration.clock.now())
        while true {
            let sent = follower.request
            var response = try await exchange(sent)
            if response.head.status == .unauthorized, Self.isRead(sent), let next = logins?.adding(to: sent) {
                await response.body.discard(upTo: Redirect.discardLimit)
                response = try await exchange(next)
            }
            guard try follower.follows(response.head) else {
                if let login = follower.login, Self.isAccepted(response.head.status) {
                    logins?.note(login, at: sent.url)
                }
                let body = paces?.pacing(response.body, from: sent.url.host) ?? response.body
                var final = OriginResponse(head: follower.completed(response.head), url: sent.url, body: body)
                final.hasLeftHost = follower.hasLeftHost
                return final
            }
            await response.body.discard(upTo: Redirect.discardLimit)
            try Task.checkCancellation()
        }
    }

    /// Whether `status` means that the server accepted the log-in.
    private static func isAccepted(_ status: HTTPResponse.Status) -> Bool {
        status.kind == .successful || status == .notModified
    }

    /// Sends one request, on an idle connection if there is a live one.
    private func exchange(_ request: OriginRequest) async throws -> Exchange.Response {
        try configuration.checkName(of: request.url.host)
        let head = try await RequestHead(withCredentials(request).authenticated(), configuration: configuration)
        let slot = try await pool.lease(Endpoint(request.url), for: request)
        // A separate task, because the pool may end it when nothing wants it any more and others need its place.
        let task = Task { try await exchange(request, head: head, on: slot) }
        slot.begin { task.cancel() }
        let response = try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
        // In absolute form the proxy answers in place of the origin, which has no such status.
        if response.head.status.code == 407, let proxy = configuration.forwardingProxy(for: request.url) {
            await response.body.discard(upTo: Redirect.discardLimit)
            throw ProxyFailures(proxy: proxy, endpoint: Endpoint(request.url)).login(response.head.headerFields)
        }
        return response
    }

    /// `request` with the fields that log in at its host.
    private func withCredentials(_ request: OriginRequest) -> OriginRequest {
        guard let credentials = configuration.credentials, Self.isRead(request) else { return request }
        let fields = credentials(request.url)
        guard !fields.isEmpty else { return request }
        var request = request
        for name in Set(fields.map(\.name)) { request.fields[values: name] = fields[values: name] }
        return request
    }

    private func exchange(_ request: OriginRequest, head: RequestHead, on slot: PoolSlot) async throws
        -> Exchange.Response
    {
        do {
            let body = ByteBuffer(bytes: request.body)
            let patience = Exchange.Patience(request, configuration.patience(with: request.url.host))
            if let idle = slot.idle {
                if Self.isRead(request) {
                    let exchange = Exchange(
                        request: head, body: body, connection: idle, slot: slot, isReused: true,
                        asked: request, patience: patience)
                    do { return try await perform(exchange) } catch is StaleConnection {}
                } else {
                    // It may be dead, and the request must not be sent twice (RFC 9110 §9.2.2).
                    idle.close()
                }
            }
            try Task.checkCancellation()
            let connection = try await pool.open(slot.endpoint, with: connector)
            return try await perform(
                Exchange(
                    request: head, body: body, connection: connection, slot: slot, isReused: false,
                    asked: request, patience: patience))
        } catch {
            slot.release(nil)
            throw error
        }
    }

    private static func isRead(_ request: OriginRequest) -> Bool { request.method == .get || request.method == .head }

    /// Throws only before the response's head has arrived; the slot then still belongs to the caller.
    private func perform(_ exchange: Exchange) async throws -> Exchange.Response {
        try await withTaskCancellationHandler {
            exchange.connection.start(exchange)
            return try await exchange.response.futureResult.get()
        } onCancel: {
            exchange.cancel()
        }
    }
}
