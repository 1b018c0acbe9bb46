import Foundation
import HTTPTypes
public import Reprise

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// An origin client on URLSession, made for apps on Apple's systems: their proxies, App Transport Security and network
/// policy apply.
///
/// - Suspends a transfer above 1 MiB of buffered body and resumes it below 256 KiB. URLSession takes a suspension as
///   advice: once 8 MiB more have arrived, or after 10 s, the transfer is cancelled. The consumer gets the buffered bytes and
///   then `originBodyTruncated`, upon which the engine asks for the rest with a range when it is wanted. A response that
///   bypasses the store cannot be continued so: its reader gets the error.
/// - Hands the system's buffers on and copies none itself; every chunk is a ``DataChunk``.
/// - Follows redirects, never from https to http, and takes only harmless fields to another host or port.
/// - Leaves the verification of TLS to the system; it cannot be switched off.
///
/// It does not cache, send cookies or stored credentials, or retry; what the system itself sends again, it sends again.
/// URLSession decodes gzip, deflate and br unasked: such a body has another length than its fields say, so it is refused
/// with `originMisbehaved` (requests ask for `identity`).
///
/// On Linux use `NIOOrigin`: there URLSession buffers without bound when its consumer stalls, and a transfer that was
/// suspended would ask again from byte 0, so this client never suspends there.
public final class URLSessionOrigin: Origin {
    private let configuration: Configuration
    private let session: URLSession
    let delegate: SessionDelegate

    /// Creates a client and its session; opens no connection yet.
    public init(configuration: Configuration = .init()) {
        let delegate = SessionDelegate()
        let queue = OperationQueue()
        queue.underlyingQueue = delegate.queue
        queue.maxConcurrentOperationCount = 1
        self.configuration = configuration
        self.delegate = delegate
        self.session = URLSession(
            configuration: .make(configuration), delegate: delegate, delegateQueue: queue)
    }

    deinit {
        // A session keeps itself and its delegate until told otherwise. Bodies under way go on.
        if delegate.close() { session.finishTasksAndInvalidate() }
    }

    /// Ends all transfers, invalidates the session, and waits until it is gone.
    ///
    /// Bodies under way and later requests fail with `closed`.
    public func shutdown() async {
        if delegate.close() {
            delegate.failAll(RepriseError(.closed, "The URL session was shut down; create a new one."))
            session.finishTasksAndInvalidate()
        }
        await delegate.waitForInvalidation()
    }

    /// Sends `request`, follows redirects, and returns when the head of the final response is here.
    ///
    /// The given fields go out without hop-by-hop ones, then `Accept-Encoding: identity` where it is missing; the URL goes
    /// out as it is spelled. The system adds fields of its own. Cancelling the task ends the transfer.
    ///
    /// The body's `next()` returns buffered pieces without a thread hop. When its task is cancelled, the transfer ends as by
    /// `cancel()`: pieces that are here still come, then `CancellationError` instead of `nil`, so that a cut body is never
    /// taken for a complete one. A body that nobody holds any more ends its transfer.
    ///
    /// Throws ``RepriseError`` with code `invalidArgument` (method), `invalidURL` (characters that the system would
    /// re-encode), `originNotFound`, `originUnreachable`, `originNotTrusted`, `originTimedOut`, `originMisbehaved`,
    /// `originRedirectRefused`, `originForbidden` (App Transport Security) or `closed`; or `CancellationError`.
    public func send(_ request: OriginRequest) async throws -> OriginResponse {
        var hop = request
        var redirects = 0
        while true {
            let transfer = try begin(hop)
            let head = try await transfer.start()
            let body = TransferBody(transfer)
            let isRead = request.method == .get || request.method == .head
            guard isRead, let location = Redirect.location(of: head) else {
                return OriginResponse(head: head, url: hop.url, body: body)
            }
            redirects += 1
            guard redirects <= configuration.redirectLimit else {
                throw RepriseError(
                    .originRedirectRefused,
                    "\(request.url.authority) redirects more than \(configuration.redirectLimit) times; it may go in a circle."
                )
            }
            hop = try Redirect.following(location, from: hop)
            await body.discard(upTo: Int64(Redirect.discardLimit))
            try Task.checkCancellation()
        }
    }

    private func begin(_ request: OriginRequest) throws(RepriseError) -> Transfer {
        let urlRequest = try URLRequest.make(request, userAgent: configuration.userAgent)
        return try delegate.register {
            let task = session.dataTask(with: urlRequest)
            task.priority = request.demand.taskPriority
            return Transfer(
                task, for: request, queue: delegate.queue,
                timeouts: .init(response: configuration.responseTimeout, idle: configuration.idleTimeout))
        }
    }
}
