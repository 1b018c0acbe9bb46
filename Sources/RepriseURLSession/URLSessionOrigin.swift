import Foundation
import HTTPTypes
import Primitives
public import Reprise

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// An origin client on URLSession, made for apps on Apple's systems: their proxies, App Transport Security and network
/// policy apply.
///
/// - Suspends a transfer above 1 MiB of buffered body and resumes it below 256 KiB. URLSession treats a suspension as
///   advice: once 8 MiB more have arrived, or after 10 s, the transfer is canceled. The consumer gets the buffered
///   bytes and then `originBodyTruncated`, and the engine requests the rest with a range when it is wanted. A response
///   that bypasses the store cannot be continued this way: its reader gets the error.
/// - Passes the system's buffers on as they came; only one in several pieces is copied. Every chunk is a ``DataChunk``.
/// - Follows redirects, never from https to http, and takes only harmless fields to another host or port.
/// - Leaves the verification of TLS to the system; it cannot be switched off.
///
/// It does not cache, send cookies or stored credentials, or retry; the system itself may resend a request. URLSession
/// decodes gzip, deflate and br unasked: such a body has a different length than its fields declare, so it is rejected
/// with `originMisbehaved` (requests ask for `identity`).
///
/// On Linux use `NIOOrigin`: there URLSession buffers without bound when its consumer stalls, and a suspended transfer
/// would ask again from byte 0, so this client never suspends there.
public final class URLSessionOrigin: Origin {
    let configuration: Configuration
    private let session: URLSession
    let delegate: SessionDelegate
    private let cuts = Mutex(0)
    /// Number of transfers canceled because the system kept receiving while they were suspended, or they were suspended
    /// for too long.
    ///
    /// Each of them costs another request if its rest is wanted.
    public var cutTransfers: Int { cuts.withLock { $0 } }
    /// What transfers downloads in the background; `nil` for nothing.
    let desk: TransferDesk?

    /// Creates a client and its session; opens no connection yet.
    ///
    /// With ``Configuration/backgroundIdentifier``, the media of downloads are transferred in the background.
    public convenience init(configuration: Configuration = .init()) {
        let desk = configuration.backgroundIdentifier.flatMap { BackgroundDesks.shared?.desk($0) }
        self.init(configuration: configuration, desk: desk)
    }

    /// Creates a client with the defaults, whose downloads go on while the app does not run.
    ///
    /// The same as ``Configuration/backgroundIdentifier`` in a configuration.
    public convenience init(backgroundDownloads identifier: String) {
        var configuration = Configuration()
        configuration.backgroundIdentifier = identifier
        self.init(configuration: configuration)
    }

    init(configuration: Configuration, desk: TransferDesk?) {
        self.desk = desk
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
        // A session retains itself and its delegate until it is invalidated. Bodies in transfer continue.
        if delegate.close() { session.finishTasksAndInvalidate() }
    }

    /// Ends all transfers, invalidates the session, and waits until it is gone.
    ///
    /// Bodies in transfer and later requests fail with `closed`.
    public func shutdown() async {
        if delegate.close() {
            delegate.failAll(RepriseError(.closed, "The URL session was shut down; create a new one."))
            session.finishTasksAndInvalidate()
        }
        await delegate.waitForInvalidation()
    }

    /// Sends `request`, follows redirects, and returns when the head of the final response has arrived.
    ///
    /// The given fields are sent without hop-by-hop ones, and with `Accept-Encoding: identity` if that is missing; the
    /// URL is sent as spelled. The system adds fields of its own. Canceling the task ends the transfer.
    ///
    /// The body's `next()` returns buffered pieces without a thread hop. Canceling its task ends the transfer as
    /// `cancel()` does: buffered pieces are still returned, then `CancellationError` instead of `nil`, so that a cut
    /// body is never taken for a complete one. Releasing the body ends its transfer.
    ///
    /// Throws ``RepriseError`` with code `invalidArgument` (method), `invalidURL` (characters that the system would
    /// re-encode), `originNotFound`, `originUnreachable`, `originNotTrusted`, `originTimedOut`, `originMisbehaved`,
    /// `originRedirectRefused`, `originForbidden` (App Transport Security) or `closed`; or `CancellationError`.
    public func send(_ request: OriginRequest) async throws -> OriginResponse {
        if let response = try await transferred(request) { return response }
        var follower = RedirectFollower(
            request, limit: configuration.redirectLimit, now: Date().timeIntervalSince1970)
        while true {
            let sent = follower.request
            let transfer = try await begin(sent.authenticated())
            let head = try await transfer.start()
            let body = TransferBody(transfer)
            guard try follower.follows(head) else {
                var response = OriginResponse(head: follower.completed(head), url: sent.url, body: body)
                response.hasLeftHost = follower.hasLeftHost
                return response
            }
            await body.discard(upTo: Int64(Redirect.discardLimit))
            try Task.checkCancellation()
        }
    }

    /// The response of a transfer in the background; `nil` if the request is not for one.
    private func transferred(_ request: OriginRequest) async throws -> OriginResponse? {
        let configuration = configuration
        let networks = configuration.networks(of: request.networkPolicy)
        return try await desk?.answer(request, over: networks) { request throws(RepriseError) in
            var made = try URLRequest.make(request, userAgent: configuration.userAgent)
            made.timeoutInterval = configuration.longestSilence(of: request)
            // The system's session may have been made before this client.
            networks.restrict(&made)
            return made
        }
    }

    private func begin(_ request: OriginRequest) throws(RepriseError) -> Transfer {
        let urlRequest = try URLRequest.make(request, userAgent: configuration.userAgent)
        let patience = OriginPatience(response: configuration.responseTimeout, idle: configuration.idleTimeout)
        return try delegate.register {
            let task = session.dataTask(with: urlRequest)
            task.priority = request.demand.taskPriority
            return Transfer(
                task, for: request, queue: delegate.queue, patience: patience
            ) { [weak self] in self?.cuts.withLock { $0 += 1 } }
        }
    }
}
